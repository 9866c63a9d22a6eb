//! How large chunks are and in which unit that is counted.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};

/// What a chunk's size is counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChunkUnit {
    /// Unicode code points, white space included.
    #[default]
    Characters,
    /// Words by Unicode's rules (UAX #29), and runs of other characters that are not white space.
    /// About what a model's tokeniser counts for plain English prose, and fewer than it counts for
    /// most other text.
    Tokens,
}

impl ChunkUnit {
    /// The name, as settings write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Characters => "characters",
            Self::Tokens => "tokens",
        }
    }
}

impl fmt::Display for ChunkUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ChunkUnit {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "characters" => Ok(Self::Characters),
            "tokens" => Ok(Self::Tokens),
            _ => Err(Error::new(
                ErrorKind::InvalidInput,
                "use the chunk unit",
                "it is neither characters nor tokens",
            )
            .next("choose one of these two")),
        }
    }
}

/// The largest size of a chunk, and how much of it repeats the end of the chunk before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChunkSize {
    size: usize,
    overlap: usize,
    unit: ChunkUnit,
}

impl ChunkSize {
    /// Chunks of at most `size` units, of which about `overlap` repeat the chunk before.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when `size` is 0 or `overlap` is not smaller than `size`.
    pub fn new(size: usize, overlap: usize, unit: ChunkUnit) -> Result<Self> {
        let wrong = if size == 0 {
            "the size is 0".to_owned()
        } else if overlap >= size {
            format!("the overlap of {overlap} is not smaller than the size of {size}")
        } else {
            return Ok(Self { size, overlap, unit });
        };
        Err(Error::new(ErrorKind::InvalidInput, "use the chunk size", wrong)
            .next("choose a size of at least 1 and an overlap below it, such as 500 and 80"))
    }

    /// At most `size` characters, of which about `overlap` repeat the chunk before.
    ///
    /// # Errors
    /// Those of [`ChunkSize::new`].
    pub fn characters(size: usize, overlap: usize) -> Result<Self> {
        Self::new(size, overlap, ChunkUnit::Characters)
    }

    /// At most `size` tokens, of which about `overlap` repeat the chunk before.
    ///
    /// # Errors
    /// Those of [`ChunkSize::new`].
    pub fn tokens(size: usize, overlap: usize) -> Result<Self> {
        Self::new(size, overlap, ChunkUnit::Tokens)
    }

    /// The largest size, overlap included.
    pub fn size(self) -> usize {
        self.size
    }

    /// How much repeats the chunk before.
    pub fn overlap(self) -> usize {
        self.overlap
    }

    /// What both are counted in.
    pub fn unit(self) -> ChunkUnit {
        self.unit
    }
}

impl Default for ChunkSize {
    /// 500 characters with 80 of overlap.
    fn default() -> Self {
        Self { size: 500, overlap: 80, unit: ChunkUnit::Characters }
    }
}
