//! The `[S1]` tags by which an answer says where it comes from.

use std::collections::BTreeSet;
use std::ops::Range;

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
    brackets(text).filter_map(|range| numbers(text.get(range)?))
}

/// The insides of the brackets of a text; of nested ones, the innermost. Together not longer than
/// the text.
fn brackets(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut open = None;
    text.char_indices().filter_map(move |(at, c)| match c {
        '[' | '［' => {
            open = Some(at + c.len_utf8());
            None
        }
        ']' | '］' => open.take().map(|start| start..at),
        _ => None,
    })
}

pub(crate) fn numbers(inside: &str) -> Option<Vec<usize>> {
    inside.split([',', ';']).map(number).collect()
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

/// A text whose tags are none any more, `(S1)` for `[S1]`: for outside text in answers and prompts,
/// where a tag must be the program's own.
pub(crate) fn disarm(text: &str) -> String {
    rewrite(text, |inside| format!("({inside})"))
}

/// A text without its tags, for comparing.
pub(crate) fn without_tags(text: &str) -> String {
    rewrite(text, |_| String::new())
}

/// Puts something in the place of each bracket that holds nothing but tags.
fn rewrite(text: &str, instead: impl Fn(&str) -> String) -> String {
    let mut written = String::with_capacity(text.len());
    let mut done = 0;
    for range in brackets(text) {
        let Some(inside) = text.get(range.clone()).filter(|it| numbers(it).is_some()) else {
            continue;
        };
        // The bracket before is one character, of one byte or of three.
        let before = text.get(..range.start).and_then(|text| text.chars().next_back());
        let open = range.start - before.map_or(0, char::len_utf8);
        let after = text.get(range.end..).and_then(|text| text.chars().next());
        written.push_str(text.get(done..open).unwrap_or_default());
        written.push_str(&instead(inside));
        done = range.end + after.map_or(0, char::len_utf8);
    }
    written.push_str(text.get(done..).unwrap_or_default());
    written
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
        let quoted = "a [S2] b [S1, S3] [x] [[S1]] ［S4］ [";
        assert_eq!(disarm(quoted), "a (S2) b (S1, S3) [x] [(S1)] (S4) [");
        assert_eq!(disarm("[S[S1]1]"), "[S(S1)1]");
        assert_eq!(without_tags("No. [S1]"), "No. ");
    }

    /// R12: the time is linear in the text; a cubic reader would not end here.
    #[test]
    fn nested_brackets_take_no_time() {
        let n = 200_000;
        let hostile = format!("{}{}", "[S".repeat(n), "1]".repeat(n));
        assert_eq!(disarm(&hostile).len(), hostile.len());
        assert_eq!(citations(&hostile, 3).valid.len(), 1);
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "[\\[\\]［］sS0-9,; a]{0,60}") {
            prop_assert_eq!(citations(&disarm(&text), 3), Citations::default());
        }
    }
}
