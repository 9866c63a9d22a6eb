//! Sets of small numbers.

use std::ops::Range;

/// A bit per number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// Room for numbers below this.
    pub(crate) fn with_room(numbers: usize) -> Self {
        Self(vec![0; numbers.div_ceil(64)])
    }

    #[inline]
    pub(crate) fn has(&self, at: u32) -> bool {
        self.0.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// True when the number was not there before.
    pub(crate) fn set(&mut self, at: u32) -> bool {
        let word = at as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let Some(word) = self.0.get_mut(word) else { return false };
        let before = *word;
        *word |= 1 << (at % 64);
        before != *word
    }

    /// Adds all numbers of a range.
    pub(crate) fn set_all(&mut self, numbers: Range<u32>) {
        for at in numbers {
            self.set(at);
        }
    }

    /// Whether some number of a range may be there; looks at whole words, so neighbours count too.
    pub(crate) fn may_have(&self, numbers: Range<u32>) -> bool {
        let (from, to) = (numbers.start as usize / 64, numbers.end.div_ceil(64) as usize);
        let words = self.0.get(from..to.min(self.0.len())).unwrap_or_default();
        words.iter().any(|word| *word != 0)
    }
}
