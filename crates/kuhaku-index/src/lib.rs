//! A searchable store of chunks, partitioned by who may see them.

mod analysis;
mod contract;
mod document;
mod error;
mod fingerprint;
mod identity;
mod query;
mod write;

pub use analysis::{Analyzer, Token};
pub use contract::{ChunkIndex, ChunkReader, IndexStatistics, Maintenance};
pub use document::{
    ChunkRecord, DocumentListing, DocumentRecord, QuarantinedChunk, StoredChunk, Validity,
};
pub use error::{Error, ErrorKind, Result};
pub use fingerprint::{Fingerprint, Language, Tokenizer};
pub use identity::{ContentHash, IdKey};
pub use query::{
    Bm25, FieldWeights, Filter, SparseHit, SparseQuery, TermStatistic, TermStatistics,
    inverse_document_frequency,
};
pub use write::{ApplyReport, Batch, Change, ChangeOutcome};
