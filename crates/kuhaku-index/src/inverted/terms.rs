//! Dictionaries: one that grows while a segment is drafted, and the sorted one of a segment (D12).

use std::collections::HashMap;

/// Numbers terms in the order in which they come.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    numbers: HashMap<Box<str>, u32>,
    names: Terms,
}

impl Numbering {
    /// The number of a term, a new one when it was not seen before.
    pub(crate) fn number(&mut self, term: &str) -> u32 {
        if let Some(number) = self.numbers.get(term) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(term);
        self.numbers.insert(term.into(), number);
        number
    }

    /// The term of a number; empty for a number that was never given.
    pub(crate) fn name(&self, number: u32) -> &str {
        self.names.get(number).unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// A number that orders terms as their spellings do, but for those that begin alike: comparing these
/// is left to who compares.
pub(super) fn order_key(term: &str) -> u64 {
    let mut key = [0; 8];
    for (to, from) in key.iter_mut().zip(term.as_bytes()) {
        *to = *from;
    }
    u64::from_be_bytes(key)
}

/// Terms in one string; those of a segment are in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    pub(super) letters: String,
    pub(super) ends: Vec<u32>,
}

impl Terms {
    /// Appends a term.
    pub(crate) fn push(&mut self, term: &str) {
        self.letters.push_str(term);
        self.ends.push(self.letters.len() as u32);
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The term at a place.
    pub(crate) fn get(&self, place: u32) -> Option<&str> {
        let place = place as usize;
        let end = *self.ends.get(place)? as usize;
        let start = match place.checked_sub(1) {
            Some(before) => *self.ends.get(before)? as usize,
            None => 0,
        };
        self.letters.get(start..end)
    }

    /// The place of a term among terms in ascending order.
    pub(crate) fn find(&self, term: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle)?.cmp(term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}
