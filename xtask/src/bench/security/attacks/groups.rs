//! Which texts must stay together, and where they go.

use std::collections::HashMap;

/// Letters and digits in a shingle.
const SHINGLE: usize = 16;

/// Shingles that a text needs before it is compared by them.
const ENOUGH: usize = 8;

/// FNV-1a of the seed and the key, finished as MurmurHash3 is, so that similar keys lie apart.
pub(crate) fn order(seed: u64, key: &str) -> u64 {
    let hash = format!("{seed}:{key}").bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

/// A text by its letters and digits alone: what is left when it is copied into another file.
pub(crate) fn folded(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Texts that are the same, or share at least two thirds of the shorter one, are one group. A group is named
/// after its smallest text, so that its name does not depend on the order of reading.
pub(super) fn groups(texts: &[String]) -> Vec<String> {
    let mut parents: Vec<usize> = (0..texts.len()).collect();
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (at, text) in texts.iter().enumerate() {
        let same = *first.entry(text).or_insert(at);
        join(&mut parents, at, same);
    }
    for (a, b) in alike(texts) {
        join(&mut parents, a, b);
    }
    let roots: Vec<usize> = (0..texts.len()).map(|at| root(&mut parents, at)).collect();
    let mut names: HashMap<usize, &String> = HashMap::new();
    for (text, root) in texts.iter().zip(&roots) {
        let name = names.entry(*root).or_insert(text);
        *name = text.min(name);
    }
    roots
        .iter()
        .map(|root| names.get(root).map_or_else(String::new, |name| (*name).clone()))
        .collect()
}

/// Pairs of texts that share at least two thirds of the shingles of the shorter one.
fn alike(texts: &[String]) -> Vec<(usize, usize)> {
    let shingles: Vec<Vec<u64>> = texts.iter().map(|text| shingles(text)).collect();
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, of_text) in shingles.iter().enumerate() {
        for shingle in of_text {
            holders.entry(*shingle).or_default().push(at);
        }
    }
    let mut shared: HashMap<(usize, usize), usize> = HashMap::new();
    for texts in holders.values() {
        for (n, a) in texts.iter().enumerate() {
            for b in texts.iter().skip(n + 1) {
                *shared.entry((*a, *b)).or_default() += 1;
            }
        }
    }
    let size = |at: usize| shingles.get(at).map_or(0, Vec::len);
    let enough = |((a, b), count): &((usize, usize), usize)| {
        let shorter = size(*a).min(size(*b));
        shorter >= ENOUGH && count * 3 >= shorter * 2
    };
    shared.into_iter().filter(enough).map(|(pair, _)| pair).collect()
}

/// The distinct shingles of a text.
fn shingles(text: &str) -> Vec<u64> {
    let letters: Vec<char> = text.chars().collect();
    let hash = |window: &[char]| order(0, &window.iter().collect::<String>());
    let mut hashes: Vec<u64> = letters.windows(SHINGLE).map(hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

fn root(parents: &mut [usize], mut at: usize) -> usize {
    while let Some(parent) = parents.get(at).copied().filter(|parent| *parent != at) {
        let above = parents.get(parent).copied().unwrap_or(parent);
        if let Some(slot) = parents.get_mut(at) {
            *slot = above;
        }
        at = parent;
    }
    at
}

fn join(parents: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parents, a), root(parents, b));
    if let Some(slot) = parents.get_mut(a.max(b)) {
        *slot = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_variants_are_one_group_whatever_the_order() {
        let long = "first we walk along the river and then we cross the bridge to the old town";
        let texts = ["Good day.", long, "good DAY", &format!("{long}, twice"), "something else"];
        let texts: Vec<String> = texts.iter().map(|text| folded(text)).collect();
        let named = groups(&texts);
        assert_eq!(named[0], named[2]);
        assert_eq!(named[1], named[3]);
        assert_ne!(named[0], named[4]);
        let reversed: Vec<String> = texts.iter().rev().cloned().collect();
        let mut again = groups(&reversed);
        again.reverse();
        assert_eq!(again, named);
    }
}
