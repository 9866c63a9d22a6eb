//! The `[S1]` tags by which an answer says where it comes from.

use std::collections::BTreeSet;

/// What the tags of a text say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Citations {
    /// The numbers of sources that exist, ascending.
    pub(crate) valid: BTreeSet<usize>,
    /// The numbers that no source has, ascending.
    pub(crate) invalid: BTreeSet<usize>,
}

/// The largest number that is read as one; longer digit runs are all taken for it.
const LARGEST: usize = 1_000_000;

/// Reads `[S1]`, `[S1, S2]` and `[S1; S2]`, in either case, against `sources` sources.
pub(crate) fn citations(text: &str, sources: usize) -> Citations {
    let mut found = Citations::default();
    for group in groups(text) {
        for number in group {
            let known = (1..=sources).contains(&number);
            if known {
                found.valid.insert(number)
            } else {
                found.invalid.insert(number)
            };
        }
    }
    found
}

/// The numbers of each bracket that holds nothing but tags.
fn groups(text: &str) -> impl Iterator<Item = Vec<usize>> {
    text.split('[').skip(1).filter_map(|rest| {
        let (inside, _) = rest.split_once(']')?;
        inside.split([',', ';']).map(number).collect()
    })
}

fn number(tag: &str) -> Option<usize> {
    let digits = tag.trim().strip_prefix(['S', 's'])?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().map_or(LARGEST, |number: usize| number.min(LARGEST)))
}

/// The tag of a source, from 1.
pub(crate) fn tag(number: usize) -> String {
    format!("[S{number}]")
}

/// A text without its tags: for quoting outside text in an answer, where a tag must be the answer's
/// own.
pub(crate) fn without_tags(text: &str) -> String {
    let mut clean = remove_tags(text);
    // Removing a tag may join the halves of another one; each round shortens the text.
    while groups(&clean).next().is_some() {
        clean = remove_tags(&clean);
    }
    clean
}

fn remove_tags(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.split_once('[') {
        clean.push_str(before);
        match from.split_once(']') {
            Some((inside, after)) if is_tags(inside) => rest = after,
            _ => {
                clean.push('[');
                rest = from;
            }
        }
    }
    clean.push_str(rest);
    clean
}

fn is_tags(inside: &str) -> bool {
    inside.split([',', ';']).all(|tag| number(tag).is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str, sources: usize) -> (Vec<usize>, Vec<usize>) {
        let Citations { valid, invalid } = citations(text, sources);
        (valid.into_iter().collect(), invalid.into_iter().collect())
    }

    /// ANS-02
    #[test]
    fn tags_are_verified_against_the_sources() {
        assert_eq!(found("see [S1] and [S9] [S12]", 1), (vec![1], vec![9, 12]));
        assert_eq!(found("b [S2] a [S1] [S2]", 2), (vec![1, 2], vec![]));
        assert_eq!(found("[S1, S2]", 2), (vec![1, 2], vec![]));
        assert_eq!(found("[S01; s2]", 2), (vec![1, 2], vec![]));
        assert_eq!(found("[S0] [S] [S1x] [1] [see S1] S1 [S1", 1), (vec![], vec![0]));
        assert_eq!(found("[S99999999999999999999999]", 1), (vec![], vec![LARGEST]));
    }

    #[test]
    fn quoted_text_cannot_cite() {
        assert_eq!(without_tags("a [S2] b [S1, S3] [x] [[S1]] ["), "a  b  [x] [] [");
        assert_eq!(without_tags("[S[S1]1]"), "");
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "[\\[\\]sS0-9,; a]{0,60}") {
            let clean = without_tags(&text);
            prop_assert_eq!(citations(&clean, 3), Citations::default());
        }
    }
}
