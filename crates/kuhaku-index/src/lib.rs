//! A searchable store of chunks, partitioned by who may see them.

mod analysis;
mod contract;
mod document;
mod error;
mod fault;
mod fingerprint;
mod identity;
mod inverted;
mod memory;
mod plan;
mod query;
#[cfg(feature = "sqlite")]
mod sqlite;
mod write;

pub use analysis::{Analyzer, QueryTerm, Token};
pub use contract::{ChunkIndex, ChunkReader, IndexStatistics, Maintenance};
pub use document::{
    ChunkRecord, DocumentListing, DocumentRecord, QuarantinedChunk, StoredChunk, Validity,
};
pub use error::{Error, ErrorKind, Result};
#[cfg(feature = "seeded-faults")]
pub use fault::Fault;
pub use fingerprint::{Fingerprint, Language, Tokenizer};
pub use identity::{ContentHash, IdKey};
pub use inverted::View;
pub use memory::MemoryIndex;
pub use query::{
    Bm25, FieldWeights, Filter, SparseHit, SparseQuery, TermStatistic, TermStatistics,
    inverse_document_frequency,
};
#[cfg(feature = "sqlite")]
pub use sqlite::{FingerprintParts, OpenOptions, SqliteIndex};
pub use write::{ApplyReport, Batch, Change, ChangeOutcome};
