//! A text and the places in it at which a value may stand.
//!
//! One cheap pass finds them: runs of digits, signs that addresses and assignments have, long words.
//! Recognisers look at these places only, which are a small part of most texts.

use std::cell::OnceCell;
use std::ops::Range;

use super::context::Words;
use super::gap;
use super::long_words::long_words;
use super::scan::Span;

/// Bytes that are looked at together: most blocks have nothing of interest.
const BLOCK: usize = 16;

/// What is not worth a look. The tests compare it with one that passes everything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter {
    /// Digits of the shortest number.
    pub(super) fewest: usize,
    /// Whether a number may go on behind these bytes.
    pub(super) joins: fn(&[u8]) -> bool,
    /// The words that are long enough for a token.
    pub(super) long_words: fn(&[u8]) -> Vec<Range<usize>>,
}

/// The filter that is used: telephone numbers have seven digits and more, and no recogniser joins
/// groups over other bytes than these.
pub(super) const PLACES: Filter = Filter {
    fewest: 7,
    joins: |gap| gap.len() <= gap::LONGEST && gap.iter().all(|byte| is_gap(*byte)),
    long_words,
};

impl Filter {
    /// Ranges of runs that are joined and have digits enough.
    fn clusters(&self, text: &str, runs: &[Range<usize>]) -> Vec<Range<usize>> {
        let joined =
            |end: usize, start: usize| text.as_bytes().get(end..start).is_some_and(self.joins);
        let mut clusters = Vec::new();
        let (mut first, mut digits, mut end) = (0, 0, 0);
        for (place, run) in runs.iter().enumerate() {
            if place > 0 && !joined(end, run.start) {
                if digits >= self.fewest {
                    clusters.push(first..place);
                }
                (first, digits) = (place, 0);
            }
            digits += run.len();
            end = run.end;
        }
        if digits >= self.fewest {
            clusters.push(first..runs.len());
        }
        clusters
    }
}

/// A text that is being read.
pub(super) struct Reading<'t> {
    text: &'t str,
    marks: Marks,
    filter: Filter,
    words: Words<'t>,
    clusters: OnceCell<Vec<Range<usize>>>,
    long_words: OnceCell<Vec<Range<usize>>>,
}

impl<'t> Reading<'t> {
    /// A text whose marks are known.
    pub(super) fn new(text: &'t str, marks: Marks, filter: Filter) -> Self {
        let (clusters, long_words) = (OnceCell::new(), OnceCell::new());
        Self { text, marks, filter, words: Words::new(text), clusters, long_words }
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// The same text with disjoint spans of it masked.
    pub(super) fn masked<'m>(&self, text: &'m str, spans: &[Span]) -> Reading<'m> {
        Reading::new(text, self.marks.masked(self.text.len(), spans), self.filter)
    }

    /// The maximal runs of ASCII digits.
    pub(super) fn digits(&self) -> &[Range<usize>] {
        &self.marks.digits
    }

    /// The runs of digits that may be groups of one number, together.
    pub(super) fn clusters(&self) -> impl Iterator<Item = &[Range<usize>]> {
        let clusters =
            self.clusters.get_or_init(|| self.filter.clusters(self.text, &self.marks.digits));
        clusters.iter().filter_map(|runs| self.marks.digits.get(runs.clone()))
    }

    /// Where one of `@`, `%`, `&`, `:` and `=` stands.
    pub(super) fn signs(&self) -> &[usize] {
        &self.marks.signs
    }

    /// The words around a value.
    pub(super) fn words(&self) -> &Words<'t> {
        &self.words
    }

    /// Whether the value is all that the text holds: no word could say what it is.
    pub(super) fn is_alone(&self, value: &Range<usize>) -> bool {
        let around = [self.text.get(..value.start), self.text.get(value.end..)];
        around.into_iter().flatten().all(|part| part.trim().is_empty())
    }

    /// The maximal runs of the characters of tokens, but the short ones.
    pub(super) fn long_words(&self) -> &[Range<usize>] {
        self.long_words.get_or_init(|| (self.filter.long_words)(self.text.as_bytes()))
    }
}

/// Where the marks stand, each list in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// The maximal runs of ASCII digits.
    digits: Vec<Range<usize>>,
    /// `@`, `%`, `&`, `:` and `=`.
    signs: Vec<usize>,
}

impl Marks {
    pub(super) fn of(text: &str) -> Self {
        let mut marks = Self::default();
        let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
        for (place, block) in blocks.iter().enumerate() {
            // A bit for each mark, at eight times its place.
            let mut bits = u128::from_le_bytes(block.map(|byte| u8::from(is_mark(byte))));
            while bits != 0 {
                let offset = bits.trailing_zeros() as usize / 8;
                marks.add(place * BLOCK + offset, block.get(offset).copied().unwrap_or_default());
                bits &= bits - 1;
            }
        }
        let start = text.len() - rest.len();
        for (offset, byte) in rest.iter().enumerate().filter(|(_, byte)| is_mark(**byte)) {
            marks.add(start + offset, *byte);
        }
        marks
    }

    fn add(&mut self, at: usize, byte: u8) {
        if !byte.is_ascii_digit() {
            self.signs.push(at);
            return;
        }
        match self.digits.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            _ => self.digits.push(at..at + 1),
        }
    }

    /// The marks of this text of `length` bytes once the disjoint `spans` are masked. No placeholder
    /// holds a mark.
    fn masked(&self, length: usize, spans: &[Span]) -> Self {
        let mut left = Self::default();
        let (mut runs, mut signs) = (self.digits.iter().peekable(), self.signs.iter().peekable());
        let (mut start, mut to) = (0, 0);
        let ends = spans.iter().map(|(span, kind)| (span.clone(), kind.as_str().len()));
        for (span, placeholder) in ends.chain([(length..length, 0)]) {
            let moved = |at: usize| at - start + to;
            while let Some(run) = runs.peek().filter(|run| run.start < span.start) {
                let (from, until) = (run.start.max(start), run.end.min(span.start));
                if from < until {
                    left.digits.push(moved(from)..moved(until));
                }
                if run.end > span.start {
                    break;
                }
                runs.next();
            }
            while let Some(at) = signs.next_if(|at| **at < span.start) {
                if *at >= start {
                    left.signs.push(moved(*at));
                }
            }
            to += span.start - start + placeholder;
            start = span.end;
        }
        left
    }
}

/// Digits and signs, by comparisons alone, of which the processor makes many at once: `%` and `&` are
/// neighbours, and so are the digits and `:`.
fn is_mark(byte: u8) -> bool {
    (byte.wrapping_sub(b'%') < 2) | (byte.wrapping_sub(b'0') < 11) | (byte == b'=') | (byte == b'@')
}

/// What [`gap::Gap`] and the gaps of telephone numbers and ids consist of.
fn is_gap(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'..=b'\r' | b'>' | b'-' | b'*' | b'_' | b'`' | b'.' | b'/' | b'(' | b')' | b'+'
    )
}

/// A text to be read, for the tests of recognisers.
#[cfg(test)]
pub(super) fn read(text: &str) -> Reading<'_> {
    Reading::new(text, Marks::of(text), PLACES)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::masking::{Masked, Placeholder};

    proptest! {
        #[test]
        fn marks_are_those_of_each_byte(text in "[0-9a-c:=@%&é ]{0,60}") {
            let mut expected = Marks::default();
            for (at, byte) in text.bytes().enumerate().filter(|(_, byte)| is_mark(*byte)) {
                expected.add(at, byte);
            }
            prop_assert_eq!(Marks::of(&text), expected);
        }

        #[test]
        fn marks_move_with_the_text(
            text in "[0-9a:=@]{0,40}",
            lengths in prop::collection::vec((0_usize..6, 1_usize..6), 0..6),
        ) {
            let mut at = 0;
            let mut spans = Vec::new();
            for (gap, length) in lengths {
                let span = at + gap..at + gap + length;
                at = span.end;
                if at <= text.len() {
                    spans.push((span, Placeholder::Card));
                }
            }
            let masked = Masked::replacing(&text, spans.clone());
            prop_assert_eq!(Marks::of(&text).masked(text.len(), &spans), Marks::of(masked.text()));
        }
    }
}
