//! From files to chunks.

mod chunk;
mod error;
mod format;
mod load;
mod prepare;
mod read;
mod source;
mod walk;
mod warning;

pub use chunk::{Chunk, ChunkSize, ChunkUnit, Chunker};
pub use error::{Error, ErrorKind, Result};
pub use format::Format;
pub use load::{Block, BlockKind, FrontMatter, FrontValue, LoadedDocument, load, load_text};
pub use prepare::{PreparedDocument, Preparer, StatedValidity};
pub use read::{DEFAULT_MAX_BYTES, read_limited};
pub use source::Source;
pub use walk::{Found, FoundFile, SkipReason, WalkOptions, walk};
pub use warning::Warning;
