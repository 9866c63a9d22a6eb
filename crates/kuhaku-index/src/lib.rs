//! A searchable store of chunks, partitioned by who may see them.
//!
//! Documents go in with access tags; whoever reads brings a [`Scope`](kuhaku_core::Scope), and gets
//! what an index without the other documents would give: the same hits, in the same order, with the
//! same scores to the last bit.
//!
//! ```
//! use kuhaku_core::{AccessTags, DocumentId, Masked, Roles, Scope};
//! use kuhaku_index::{
//!     Batch, ChunkRecord, DocumentRecord, Fingerprint, IdKey, Language, MemoryIndex, SparseQuery,
//!     Tokenizer,
//! };
//!
//! let fingerprint = Fingerprint::new(Tokenizer::Default, Language::En, "none", "none");
//! let index = MemoryIndex::new(fingerprint, IdKey::from_bytes([7; 32]));
//!
//! let text = "Bonuses are paid in April.";
//! let content = IdKey::from_bytes([7; 32]).content_hash(&[text.as_bytes()]);
//! let canonical = Masked::replacing(text, Vec::new()).canonical();
//! let mut salaries = DocumentRecord::new(DocumentId::new("salaries")?, content, canonical);
//! salaries.tags = AccessTags::new(["people_ops"])?;
//! salaries.chunks = vec![ChunkRecord::new(0..text.len())];
//! index.write(Batch::new().upsert(salaries))?;
//!
//! let query = SparseQuery::new("when is the bonus paid", 4);
//! let insider = Scope::with_roles(Roles::new(["people_ops"]));
//! assert_eq!(index.view(&insider).sparse(&query)?.len(), 1);
//! assert!(index.view(&Scope::anonymous()).sparse(&query)?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Map
//!
//! | for | take |
//! |---|---|
//! | any engine | [`ChunkIndex`], [`ChunkReader`], [`Maintenance`] |
//! | an index in memory | [`MemoryIndex`] |
//! | an index in a folder (feature `sqlite`) | `SqliteIndex`, `OpenOptions` |
//! | looking after such a folder | `SqliteIndex::verify`, `repair`, `backup`, `compact`, `usage` |
//! | searching without waiting | [`View`] |
//! | what goes in | [`Batch`], [`DocumentRecord`], [`ChunkRecord`] |
//! | vectors, and searching by them | [`Vector`], [`DenseQuery`], [`DenseHit`], [`EmbeddedTextHash`], [`Ann`] |
//! | what comes out | [`SparseQuery`], [`SparseHit`], [`StoredChunk`], [`TermStatistics`] |
//! | how text becomes terms | [`Analyzer`], [`Tokenizer`], [`Language`] |
//! | what shapes an index, and its secret | [`Fingerprint`], [`IdKey`], [`ContentHash`] |
//!
//! Inside, `analysis` makes terms, `inverted` holds the segments and searches them, `plan` reduces a
//! batch to its effect, and the engines (`memory`, `sqlite`) keep the texts.
//!
//! # Invariants
//!
//! - R4: statistics are sums over the classes that the scope sees, in integers; scores add up in
//!   query-term order; ties are broken by document id and ordinal. Nothing that is returned depends
//!   on segments, generations or rows.
//! - R5: there is no way to read without a scope but [`Maintenance`].
//! - What one handle or process has committed, every other shows from its next reader on; a reader
//!   stays as it was, texts included (D11, D13).
//! - R10: when `apply` returns, the batch is committed, with `synchronous = FULL`.
//! - R11: opening for reading makes no index; nothing is printed; nothing is global.
//! - R14: every error says what was tried, what is wrong and one next step.
//! - This crate knows nothing of files to ingest, of chunking, of models and of answers.

mod analysis;
mod ann;
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
mod snapshot;
#[cfg(feature = "sqlite")]
mod sqlite;
mod vector;
mod write;

pub use analysis::{Analyzer, QueryTerm, Token};
pub use ann::Ann;
pub use contract::{ChunkIndex, ChunkReader, IndexStatistics, Maintenance, Rewrite};
pub use document::{
    ChunkRecord, ChunkToEmbed, DocumentListing, DocumentRecord, QuarantinedChunk, StoredChunk,
    StoredDocument, Validity,
};
pub use error::{Error, ErrorKind, Result};
#[cfg(feature = "seeded-faults")]
pub use fault::Fault;
pub use fingerprint::{Fingerprint, Language, Tokenizer, VectorSpace};
pub use identity::{ContentHash, EmbeddedTextHash, FolderHash, IdKey};
pub use inverted::View;
pub use memory::MemoryIndex;
pub use query::{
    Bm25, DenseHit, DenseQuery, FieldWeights, Filter, SparseHit, SparseQuery, TermStatistic,
    TermStatistics, inverse_document_frequency,
};
#[cfg(feature = "sqlite")]
pub use sqlite::{
    Backup, Compaction, Depth, Finding, FindingKind, FingerprintParts, OpenOptions, Repair,
    SqliteIndex, Usage, Verification,
};
pub use vector::Vector;
pub use write::{ApplyReport, Batch, Change, ChangeOutcome};
