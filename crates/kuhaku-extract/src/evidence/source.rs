//! A text, folded once.

use std::ops::Range;
use std::sync::OnceLock;

use super::Span;
use super::border::{Words, is_whole, word_places};
use super::date::{DateOrder, Dates};
use super::fold::{Folded, folded};
use super::number::{Numbers, numbers};
use super::yes_no::clauses;

/// Occurrences of one quote or value that are looked at.
const MAX_OCCURRENCES: usize = 256;

/// The caller's text, made ready for searches.
///
/// Made once per text, in time linear in its length; numbers and dates are looked for when the first
/// value needs them.
#[derive(Debug)]
pub struct Source {
    text: String,
    folded: Folded,
    order: DateOrder,
    numbers: OnceLock<Numbers>,
    dates: OnceLock<Dates>,
    clauses: OnceLock<Vec<Range<usize>>>,
    words: OnceLock<Vec<Range<usize>>>,
}

impl Source {
    /// Folds `text`.
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            folded: Folded::new(text),
            order: DateOrder::Unknown,
            numbers: OnceLock::new(),
            dates: OnceLock::new(),
            clauses: OnceLock::new(),
            words: OnceLock::new(),
        }
    }

    /// With the order in which the text writes days and months, for dates such as 03/04/2024.
    #[must_use]
    pub fn with_date_order(self, order: DateOrder) -> Self {
        Self { order, dates: OnceLock::new(), ..self }
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn folded(&self) -> &Folded {
        &self.folded
    }

    pub(super) fn numbers(&self) -> &Numbers {
        self.numbers.get_or_init(|| numbers(&self.text, &self.words()))
    }

    pub(super) fn dates(&self) -> &Dates {
        self.dates.get_or_init(|| Dates::of(&self.words(), self.order))
    }

    fn words(&self) -> Words<'_> {
        let text = self.folded.text();
        Words { text, places: self.words.get_or_init(|| word_places(text)) }
    }

    pub(super) fn clauses(&self) -> &[Range<usize>] {
        self.clauses.get_or_init(|| clauses(&self.folded))
    }

    /// The places of a folded `part` that keep clusters whole, within `range` of the folded text.
    pub(super) fn places<'a>(
        &'a self,
        part: &'a str,
        range: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let start = range.start;
        let haystack = self.folded.text().get(range).unwrap_or_default();
        let found = if part.is_empty() { None } else { Some(haystack.match_indices(part)) };
        found
            .into_iter()
            .flatten()
            .take(MAX_OCCURRENCES)
            .map(move |(at, _)| start + at..start + at + part.len())
            .filter(|place| self.folded.original(place).is_some())
    }

    /// The first place of a folded `part` as whole words, within `range` of the folded text.
    pub(super) fn word(&self, part: &str, range: &Range<usize>) -> Option<Range<usize>> {
        self.places(part, range.clone()).find(|place| is_whole(self.folded.text(), place))
    }

    /// A place of the folded text as a span of the original, verified: what stands there folds to
    /// what was found.
    pub(super) fn span(&self, place: &Range<usize>) -> Option<Span> {
        let bytes = self.folded.original(place)?;
        let slice = self.text.get(bytes.clone())?;
        if folded(slice) != self.folded.text().get(place.clone())?.trim() {
            return None;
        }
        let before = self.text.get(..bytes.start)?.chars().count();
        let chars = before..before + slice.chars().count();
        Some(Span { bytes, chars })
    }
}
