//! From canonical text to the ranges that are found and cited as one.

mod size;

pub use size::{ChunkSize, ChunkUnit};

/// Cuts a text into chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chunker {
    size: ChunkSize,
}

impl Chunker {
    /// Packs paragraphs.
    pub fn paragraph(size: ChunkSize) -> Self {
        Self { size }
    }

    /// The sizes it keeps to.
    pub fn size(&self) -> ChunkSize {
        self.size
    }

    /// Names the rules and the sizes, such as `paragraph-1:500/80:characters`. Part of an index's
    /// fingerprint (D15).
    pub fn fingerprint(&self) -> String {
        format!("paragraph-1:{}/{}:{}", self.size.size(), self.size.overlap(), self.size.unit())
    }
}
