//! What every engine offers: writing batches, reading within a scope, and maintenance.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_core::{ChunkId, DocumentId, Scope};

use crate::analysis::Analyzer;
use crate::document::{
    ChunkToEmbed, DocumentListing, DocumentRecord, QuarantinedChunk, StoredChunk, StoredDocument,
};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, VectorSpace};
use crate::identity::{EmbeddedTextHash, FolderHash, IdKey};
use crate::query::{DenseHit, DenseQuery, SparseHit, SparseQuery, TermStatistics};
use crate::vector::Vector;
use crate::write::{ApplyReport, Batch};

/// A store of chunks, partitioned by who may see them.
///
/// There is no way to read without a [`Scope`] but [`ChunkIndex::maintenance`], which is for
/// operators (R5).
#[async_trait]
pub trait ChunkIndex: Send + Sync + fmt::Debug {
    /// Applies a batch as one transaction: all of it is durable and visible to later readers when
    /// this returns, or nothing is (R10).
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidInput`] for chunks outside their text, and for vectors that the
    /// index's embedder does not make; [`crate::ErrorKind::FingerprintMismatch`] when another handle has replaced the index with
    /// other settings; [`crate::ErrorKind::Locked`] or [`crate::ErrorKind::Storage`] from the engine.
    /// The index is as before.
    async fn apply(&self, batch: Batch) -> Result<ApplyReport>;

    /// A handle on what `scope` sees now, whichever handle or process has committed it. It keeps
    /// showing this state whatever is applied later (D11).
    ///
    /// # Errors
    /// [`crate::ErrorKind::Storage`] from the engine.
    async fn reader(&self, scope: &Scope) -> Result<Arc<dyn ChunkReader>>;

    /// What shaped the stored text and terms, as this handle last saw it: making a reader and asking
    /// [`Maintenance::stored`] look whether another handle has replaced the index since.
    fn fingerprint(&self) -> Fingerprint;

    /// The secret of this index from which path ids and content hashes are made (D17).
    fn id_key(&self) -> IdKey;

    /// Ends all use and does what was deferred, such as deleting removed rows. Not needed for what was
    /// acknowledged to stay; engines without files have nothing to do.
    async fn close(&self) {}

    /// Unscoped access for operators: never reachable from an answer.
    fn maintenance(&self) -> &dyn Maintenance;
}

/// Reads one generation of an index within one scope.
///
/// Whatever it returns is the same, to the last bit, as from an index that never held the chunks
/// outside the scope (R4).
#[async_trait]
pub trait ChunkReader: Send + Sync + fmt::Debug {
    /// The scope that the handle was made with.
    fn scope(&self) -> &Scope;

    /// The best chunks by BM25: scores above zero, best first, ties by chunk id, at most the
    /// query's limit. Filters act before the ranking.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidInput`] for parameters out of range.
    async fn sparse(&self, query: &SparseQuery) -> Result<Vec<SparseHit>>;

    /// The nearest chunks by their vectors: best first, ties by chunk id; as many as the query's limit,
    /// or all eligible ones that have a vector when they are fewer. Filters act before the ranking.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidInput`] for a vector of another dimension than the index's, or
    /// when the index has no embedder.
    async fn dense(&self, query: &DenseQuery) -> Result<Vec<DenseHit>>;

    /// The vectors of the chunks with these ids, in the order of the ids; none in the place of a chunk
    /// that the scope does not see or that has none.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Storage`] from an engine that must read for it.
    async fn vectors(&self, ids: &[ChunkId]) -> Result<Vec<Option<Vector>>>;

    /// The chunks with these ids, in the order of the ids. Ids that the scope does not see are
    /// left out, as are those that do not exist in the reader's state. What does exist there is
    /// never left out: a text that is gone since is an error.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Storage`] or [`crate::ErrorKind::Corrupt`] from the engine.
    async fn fetch(&self, ids: &[ChunkId]) -> Result<Vec<StoredChunk>>;

    /// How often the terms of `text` occur in what the scope sees. Terms come in the order of the
    /// text, each once, those that occur nowhere included.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Storage`] from the engine.
    async fn term_statistics(&self, text: &str) -> Result<TermStatistics>;

    /// How many chunks the scope sees; quarantined ones are not among them.
    fn visible_chunks(&self) -> u64;

    /// The fingerprint of the embedder whose vectors the index takes: a setting of the index, whether
    /// it has vectors or not (D9).
    fn embedder(&self) -> Option<&str>;

    /// How many of the chunks that the scope sees have a vector.
    fn visible_vectors(&self) -> u64;

    /// The analyzer that made the stored terms.
    fn analyzer(&self) -> &Analyzer;
}

/// Makes a stored document anew.
pub type Rewrite<'a> = &'a (dyn Fn(DocumentRecord) -> DocumentRecord + Send + Sync);

/// What operators may see and do. Results are not scoped: they never belong into an answer (D10).
#[async_trait]
pub trait Maintenance: Send + Sync + fmt::Debug {
    /// All documents, by id.
    async fn documents(&self) -> Result<Vec<DocumentListing>>;

    /// What is known of a stored document without reading it: to skip an unchanged one early (D15),
    /// and to keep the tags that an operator gave it. Shows what every handle has committed. Costs a
    /// look into memory, whatever its size, and at most one at whether another handle has written.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Storage`] from an engine that must read for it.
    async fn stored(&self, id: &DocumentId) -> Result<Option<StoredDocument>>;

    /// The documents whose files lie in a folder, at any depth, by id.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Storage`] from the engine.
    async fn within(&self, folder: &FolderHash) -> Result<Vec<DocumentId>>;

    /// Totals over everything stored.
    async fn statistics(&self) -> Result<IndexStatistics>;

    /// All quarantined chunks, by id.
    async fn quarantined(&self) -> Result<Vec<QuarantinedChunk>>;

    /// Lets readers see a quarantined chunk from now on. True when it was quarantined.
    async fn release(&self, id: &ChunkId) -> Result<bool>;

    /// Puts the documents of a batch in the place of everything stored and takes on another
    /// fingerprint, as one transaction; the id key stays. For re-indexing: readers see what was
    /// there or what the batch holds, nothing in between, and a failure leaves the index as it was.
    ///
    /// The report is that of an empty index. Tags come from the batch alone: whoever re-indexes
    /// carries over those that an operator gave.
    ///
    /// # Errors
    /// As [`ChunkIndex::apply`].
    async fn replace(&self, fingerprint: Fingerprint, batch: Batch) -> Result<ApplyReport>;

    /// Makes every stored document anew from its stored form and takes on another fingerprint, as one
    /// transaction that keeps other writers out from its first read on: nothing that was acknowledged
    /// is lost. `rewrite` gets whole documents, held-back chunks included, by id, and must leave their
    /// ids as they are. A vector that it leaves as it is goes when the embedder or what was embedded
    /// is another. It runs on the calling task; all text is in memory meanwhile.
    ///
    /// # Errors
    /// As [`ChunkIndex::apply`]; the index is then as it was.
    async fn rewrite(&self, fingerprint: Fingerprint, rewrite: Rewrite<'_>) -> Result<ApplyReport>;

    /// Takes an embedder on, or none, as one transaction: the vectors of another one go, documents and
    /// texts stay, and what [`Maintenance::stage_vectors`] laid aside for it is what readers see from
    /// now on. Tells how many vectors that were. What was laid aside for another embedder goes.
    ///
    /// # Errors
    /// As [`ChunkIndex::apply`]; the index is then as it was.
    async fn adopt_embedder(&self, space: Option<VectorSpace>) -> Result<u64>;

    /// The first chunks, by id, held-back ones included, that have no vector of an embedder, neither
    /// one that readers see nor one that is laid aside.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Storage`] or [`crate::ErrorKind::Corrupt`] from the engine.
    async fn without_vector(&self, space: &VectorSpace, limit: usize) -> Result<Vec<ChunkToEmbed>>;

    /// Lays vectors of an embedder aside for chunks, as one transaction, each by the chunk's id and the
    /// hash of what was embedded. No reader sees them before [`Maintenance::adopt_embedder`]: which
    /// chunks had theirs first would tell of chunks that a caller cannot see (R4). A chunk that is gone
    /// or has another text by now is passed over, and what was laid aside for another embedder goes.
    /// Tells how many were laid aside. They outlive the process where the index does.
    ///
    /// # Errors
    /// As [`ChunkIndex::apply`]; the index is then as it was.
    async fn stage_vectors(
        &self,
        space: &VectorSpace,
        vectors: Vec<(ChunkId, EmbeddedTextHash, Vector)>,
    ) -> Result<u64>;

    /// Vectors of an embedder that are stored already, also those laid aside, by the hashes of what was
    /// embedded, in their order: what need not be embedded again.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Storage`] or [`crate::ErrorKind::Corrupt`] from the engine.
    async fn known_vectors(
        &self,
        space: &VectorSpace,
        texts: &[EmbeddedTextHash],
    ) -> Result<Vec<Option<Vector>>>;
}

/// Totals of an index, over everything stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct IndexStatistics {
    /// Documents.
    pub documents: u64,
    /// Chunks that readers can see, given the rights.
    pub chunks: u64,
    /// Chunks that are held back.
    pub quarantined: u64,
    /// Distinct sets of access tags.
    pub visibility_classes: u64,
    /// Distinct terms.
    pub terms: u64,
    /// Chunks among those that readers can see that have a vector.
    pub vectors: u64,
    /// Vectors that are laid aside, for chunks held back too: no reader sees them yet.
    pub staged_vectors: u64,
}
