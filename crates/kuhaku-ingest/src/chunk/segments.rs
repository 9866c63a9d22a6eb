//! Words and runs of other characters inside a text without white space.

use std::iter::Peekable;

use unicode_segmentation::{GraphemeIndices, UWordBoundIndices, UnicodeSegmentation as _};

/// A word by UAX #29, or a run of characters between words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment<'t> {
    pub(crate) start: usize,
    pub(crate) text: &'t str,
}

impl Segment<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The segments of a text, made one by one. Their borders are also those of grapheme clusters, which
/// the word borders of UAX #29 alone are not (before U+0E33, for one).
#[derive(Clone)]
pub(crate) struct Segments<'t> {
    text: &'t str,
    offset: usize,
    words: Peekable<UWordBoundIndices<'t>>,
    graphemes: GraphemeIndices<'t>,
    /// Where the grapheme cluster ends that was looked at last.
    cluster_end: usize,
}

impl<'t> Segments<'t> {
    /// The segments of a text that begins `offset` bytes into a larger one.
    pub(crate) fn new(text: &'t str, offset: usize) -> Self {
        Self {
            text,
            offset,
            words: text.split_word_bound_indices().peekable(),
            graphemes: text.grapheme_indices(true),
            cluster_end: 0,
        }
    }

    fn is_cluster_border(&mut self, at: usize) -> bool {
        while self.cluster_end < at
            && let Some((start, cluster)) = self.graphemes.next()
        {
            self.cluster_end = start + cluster.len();
        }
        self.cluster_end == at
    }
}

impl<'t> Iterator for Segments<'t> {
    type Item = Segment<'t>;

    fn next(&mut self) -> Option<Segment<'t>> {
        let (start, first) = self.words.next()?;
        let mut end = start + first.len();
        let mut word = has_letters(first);
        loop {
            let inside = !self.is_cluster_border(end);
            let Some((_, next)) = self.words.peek() else { break };
            let next_word = has_letters(next);
            if !inside && (word || next_word) {
                break;
            }
            end += next.len();
            word |= next_word;
            self.words.next();
        }
        Some(Segment { start: self.offset + start, text: self.text.get(start..end)? })
    }
}

fn has_letters(segment: &str) -> bool {
    segment.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_the_runs_between_them_alternate_where_they_can() {
        let segments = |text: &'static str| -> Vec<&str> {
            Segments::new(text, 0).map(|segment| segment.text).collect()
        };
        assert_eq!(segments("can't--stop!!!3.14"), ["can't", "--", "stop", "!!!", "3.14"]);
        assert_eq!(segments("茶道。"), ["茶", "道", "。"]);
        assert_eq!(segments("ก\u{e33}ข"), ["ก\u{e33}", "ข"]);
        assert_eq!(segments(""), [""; 0]);
    }
}
