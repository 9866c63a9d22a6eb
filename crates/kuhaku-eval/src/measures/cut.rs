//! How far down a ranking a measure looks.

use std::fmt;
use std::num::NonZeroUsize;

/// How many of the first results count. A depth of 0 cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cut {
    /// The first this many.
    At(NonZeroUsize),
    /// The whole list.
    Whole,
}

impl Cut {
    /// The first `k`; `None` when `k` is 0.
    pub fn at(k: usize) -> Option<Self> {
        NonZeroUsize::new(k).map(Self::At)
    }

    /// The depth, the largest number for the whole list.
    pub fn depth(self) -> usize {
        match self {
            Self::At(k) => k.get(),
            Self::Whole => usize::MAX,
        }
    }
}

impl fmt::Display for Cut {
    /// `@10`, or nothing for the whole list.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(k) => write!(f, "@{k}"),
            Self::Whole => Ok(()),
        }
    }
}
