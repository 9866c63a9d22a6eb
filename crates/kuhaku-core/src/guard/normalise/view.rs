//! A rewritten text with the way back to the bytes that it came from.

use std::ops::Range;

/// One character of a view and the bytes it stands for.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    pub(super) c: char,
    pub(super) source: Range<usize>,
}

/// A rewritten text and where each of its characters came from.
#[derive(Clone, Debug, Default)]
pub(in crate::guard) struct View {
    text: String,
    /// For each character where it ends in `text`, and its source.
    places: Vec<(usize, Range<usize>)>,
}

impl View {
    pub(super) fn new(letters: &[Letter]) -> Self {
        let mut text = String::with_capacity(letters.len());
        let mut places = Vec::with_capacity(letters.len());
        for letter in letters {
            text.push(letter.c);
            places.push((text.len(), letter.source.clone()));
        }
        Self { text, places }
    }

    /// A view of characters and the bytes that each stands for.
    pub(in crate::guard) fn from_parts(parts: Vec<(char, Range<usize>)>) -> Self {
        let letters = parts.into_iter().map(|(c, source)| Letter { c, source });
        Self::new(&letters.collect::<Vec<_>>())
    }

    pub(in crate::guard) fn text(&self) -> &str {
        &self.text
    }

    /// The view with other characters for those that stand for one byte, by characters as long.
    pub(super) fn mapped(&self, with: impl Fn(char) -> char) -> Self {
        let characters = self.text.chars().zip(&self.places);
        let mapped = characters.map(|(c, (_, source))| if source.len() == 1 { with(c) } else { c });
        Self { text: mapped.collect(), places: self.places.clone() }
    }

    /// The same places with other characters, as many.
    pub(super) fn with(&self, characters: Vec<char>) -> Self {
        let mut end = 0;
        let places = self.places.iter().zip(&characters).map(|((_, source), c)| {
            end += c.len_utf8();
            (end, source.clone())
        });
        Self { places: places.collect(), text: characters.into_iter().collect() }
    }

    /// The bytes of the given text that a range of the view stands for.
    pub(in crate::guard) fn to_source(&self, range: Range<usize>) -> Range<usize> {
        let source = |at: usize| {
            let place = self.places.partition_point(|(end, _)| *end <= at);
            self.places.get(place).map_or(0..0, |(_, source)| source.clone())
        };
        source(range.start).start..source(range.end.saturating_sub(1)).end
    }
}
