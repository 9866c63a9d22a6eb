//! Texts of made-up words whose frequencies follow Zipf's law, the same for every run and every peer.

/// How many different words there are.
const WORDS: usize = 60_000;
/// Words per chunk.
const LENGTH: usize = 60;
/// Chunks per document.
pub(crate) const PER_DOCUMENT: usize = 5;
/// Different roles, and different sets of tags of two roles each.
const ROLES: usize = 250;
const TAG_SETS: usize = 20_000;

/// A linear congruential generator with an output permutation (PCG XSH RR 64/32, O'Neill 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        let state = self.0;
        self.0 = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        let mixed = (((state >> 18) ^ state) >> 27) as u32;
        mixed.rotate_right((state >> 59) as u32)
    }

    /// From 0 up to, not including, 1.
    fn share(&mut self) -> f64 {
        f64::from(self.next()) / 4_294_967_296.0
    }
}

/// The word of a rank: syllables by its digits, so that no two ranks share a word.
fn word(mut rank: usize) -> String {
    const SYLLABLES: [&str; 40] = [
        "ba", "be", "bo", "da", "de", "du", "fa", "fo", "ga", "go", "ka", "ko", "ku", "la", "lo",
        "ma", "mo", "mu", "na", "no", "nu", "pa", "po", "ra", "ro", "ru", "sa", "so", "su", "ta",
        "to", "tu", "va", "vo", "wa", "wo", "za", "zo", "zu", "ja",
    ];
    let mut word = String::new();
    loop {
        word.push_str(SYLLABLES.get(rank % SYLLABLES.len()).copied().unwrap_or_default());
        rank /= SYLLABLES.len();
        if rank == 0 {
            // An ending that no stemmer takes off.
            word.push('x');
            return word;
        }
    }
}

/// A rank whose probability falls with its inverse: the inverse of the continuous distribution.
fn rank(random: &mut Random) -> usize {
    let top = (WORDS as f64).ln();
    ((random.share() * top).exp() as usize).saturating_sub(1).min(WORDS - 1)
}

/// The texts of all chunks.
pub(crate) fn chunks(count: usize) -> Vec<String> {
    let mut random = Random(7);
    let words: Vec<String> = (0..WORDS).map(word).collect();
    let mut chunk = || {
        let words: Vec<&str> =
            (0..LENGTH).filter_map(|_| words.get(rank(&mut random)).map(String::as_str)).collect();
        words.join(" ")
    };
    (0..count).map(|_| chunk()).collect()
}

/// Queries of three words from a range of ranks.
fn queries(seed: u64, ranks: std::ops::Range<usize>, count: usize) -> Vec<String> {
    let mut random = Random(seed);
    let width = ranks.len();
    let mut pick = || word(ranks.start + (random.share() * width as f64) as usize);
    (0..count).map(|_| [pick(), pick(), pick()].join(" ")).collect()
}

/// Queries whose words stand in a large share of the chunks.
pub(crate) fn common() -> Vec<String> {
    queries(11, 0..100, 200)
}

/// Queries whose words stand in a few chunks each.
pub(crate) fn rare() -> Vec<String> {
    queries(13, 5_000..50_000, 200)
}

/// The two roles of a document, one of 20,000 pairs.
pub(crate) fn roles(document: usize) -> [String; 2] {
    let pair = document % TAG_SETS;
    // Pairs with a distance of up to 80 in a ring of 250 roles: no two of them are equal.
    let (first, distance) = (pair % ROLES, pair / ROLES + 1);
    [role(first), role((first + distance) % ROLES)]
}

/// The roles of a caller who sees about a third of the pairs.
pub(crate) fn caller() -> Vec<String> {
    (0..50).map(|number| role(number * 5)).collect()
}

fn role(number: usize) -> String {
    format!("role-{number}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_as_many_tag_sets_as_stated() {
        let sets: BTreeSet<BTreeSet<String>> =
            (0..TAG_SETS).map(|document| roles(document).into()).collect();
        assert_eq!(sets.len(), TAG_SETS);
        let caller: BTreeSet<String> = caller().into_iter().collect();
        let seen = sets.iter().filter(|set| !set.is_disjoint(&caller)).count();
        assert!((TAG_SETS / 4..TAG_SETS / 2).contains(&seen), "{seen}");
    }

    #[test]
    fn words_differ_and_texts_repeat() {
        let words: BTreeSet<String> = (0..WORDS).map(word).collect();
        assert_eq!(words.len(), WORDS);
        assert_eq!(chunks(10), chunks(10));
        assert!(chunks(10).iter().all(|chunk| chunk.split(' ').count() == LENGTH));
    }
}
