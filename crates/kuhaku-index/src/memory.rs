//! The engine without a file.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use async_trait::async_trait;
use kuhaku_core::{ChunkId, DocumentId, Scope};

use crate::analysis::Analyzer;
use crate::ann::Ann;
use crate::contract::{ChunkIndex, ChunkReader, IndexStatistics, Maintenance, Rewrite};
use crate::document::{
    ChunkToEmbed, DocumentListing, DocumentRecord, QuarantinedChunk, StoredChunk, StoredDocument,
};
use crate::error::Result;
use crate::fault::Seeded;
use crate::fingerprint::{Fingerprint, VectorSpace};
use crate::identity::{EmbeddedTextHash, FolderHash, IdKey};
use crate::inverted::{Body, Drafter, Drafters, Generation, Live, Segment, View, drafted};
use crate::plan::{Plan, resident, rewritten};
use crate::query::{DenseHit, DenseQuery, SparseHit, SparseQuery, TermStatistics};
use crate::vector::Vector;
use crate::write::{ApplyReport, Batch};

/// An index in memory: for tests, for short-lived collections, and for hosts without a disk.
///
/// The same searches as the durable engine. Its work is done on the calling thread.
#[derive(Debug)]
pub struct MemoryIndex {
    fingerprint: RwLock<Fingerprint>,
    id_key: IdKey,
    live: Live,
    writer: Mutex<()>,
    /// Vectors that no reader sees yet.
    staged: Mutex<Option<Staged>>,
    ann: Ann,
}

/// Vectors that are laid aside, and the embedder that they are of.
#[derive(Debug)]
struct Staged {
    space: VectorSpace,
    vectors: BTreeMap<ChunkId, (EmbeddedTextHash, Vector)>,
}

impl MemoryIndex {
    /// An empty index.
    pub fn new(fingerprint: Fingerprint, id_key: IdKey) -> Self {
        Self::build(fingerprint, id_key, Seeded::default())
    }

    /// An empty index with a fault, for tests that must be able to fail.
    #[cfg(feature = "seeded-faults")]
    pub fn with_fault(fingerprint: Fingerprint, id_key: IdKey, fault: crate::Fault) -> Self {
        Self::build(fingerprint, id_key, Seeded::with(fault))
    }

    fn build(fingerprint: Fingerprint, id_key: IdKey, seeded: Seeded) -> Self {
        let analyzer = Analyzer::new(fingerprint.tokenizer, fingerprint.language);
        let live = Live::new(Generation::empty(fingerprint.space()), analyzer, seeded);
        Self {
            fingerprint: RwLock::new(fingerprint),
            id_key,
            live,
            writer: Mutex::default(),
            staged: Mutex::default(),
            ann: Ann::Exact,
        }
    }

    /// Searches vectors as `ann` says; exactly by default.
    #[must_use]
    pub fn ann(mut self, ann: Ann) -> Self {
        self.ann = ann;
        self
    }

    /// Builds the graphs that are wanted and missing, on the calling thread. Without graphs searches
    /// compare all vectors.
    pub fn build_graphs(&self) {
        let _writing = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(next) = self.live.generation().with_graphs(self.ann) {
            self.live.publish(next);
        }
    }

    /// What a scope sees now: the synchronous form of [`ChunkIndex::reader`].
    pub fn view(&self, scope: &Scope) -> View {
        self.live.view(scope)
    }

    /// Applies a batch: the synchronous form of [`ChunkIndex::apply`].
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidInput`] for chunks outside their text. The index is as before.
    pub fn write(&self, batch: Batch) -> Result<ApplyReport> {
        let _writing = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.live.generation();
        let plan = Plan::new(&current, batch, self.live.seeded())?;
        if !plan.is_empty() {
            self.publish(&current, &plan.removed, plan.stored);
        }
        Ok(plan.report)
    }

    /// Puts a batch in the place of everything. The caller is the writer.
    fn replace_all(&self, fingerprint: Fingerprint, batch: Batch) -> Result<ApplyReport> {
        let space = fingerprint.space();
        let plan = Plan::new(&Generation::empty(space.clone()), batch, self.live.seeded())?;
        let analyzer = Analyzer::new(fingerprint.tokenizer, fingerprint.language);
        let drafters = Arc::new(Drafters::new(analyzer));
        let segments = analysed(&drafters, plan.stored);
        self.live.replace(Generation::of(space, segments), drafters);
        *self.fingerprint.write().unwrap_or_else(PoisonError::into_inner) = fingerprint;
        Ok(plan.report)
    }

    fn publish(&self, current: &Generation, removed: &[DocumentId], stored: Vec<DocumentRecord>) {
        let segments = analysed(&self.live.drafters(), stored);
        self.live.publish(current.next(removed, segments));
    }
}

/// Analyses documents.
fn analysed(drafters: &Drafters, stored: Vec<DocumentRecord>) -> Vec<Segment> {
    let work = |stored: Vec<DocumentRecord>, drafter: &mut Drafter| {
        for record in stored {
            let record = Arc::new(record);
            let document = resident(&record, Body::Held(Arc::clone(&record)));
            drafter.draft.document(document, record.tags.clone());
            for (ordinal, chunk) in (0..).zip(&record.chunks) {
                if chunk.quarantine.is_none() {
                    let terms = drafter.count(&record, chunk);
                    drafter.draft.chunk(ordinal, terms, chunk.vector.clone());
                }
            }
        }
        Vec::<()>::new()
    };
    drafted(drafters, stored, |record| record.text.as_str().len(), work).1
}

/// The record of a document of this engine.
fn held(body: &Body) -> Option<&Arc<DocumentRecord>> {
    match body {
        Body::Held(record) => Some(record),
        #[cfg(feature = "sqlite")]
        Body::Row(_) => None,
    }
}

#[async_trait]
impl ChunkIndex for MemoryIndex {
    async fn apply(&self, batch: Batch) -> Result<ApplyReport> {
        self.write(batch)
    }

    async fn reader(&self, scope: &Scope) -> Result<Arc<dyn ChunkReader>> {
        Ok(Arc::new(MemoryReader(self.view(scope))))
    }

    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn id_key(&self) -> IdKey {
        self.id_key.clone()
    }

    fn maintenance(&self) -> &dyn Maintenance {
        self
    }
}

#[derive(Debug)]
struct MemoryReader(View);

#[async_trait]
impl ChunkReader for MemoryReader {
    fn scope(&self) -> &Scope {
        self.0.scope()
    }

    async fn sparse(&self, query: &SparseQuery) -> Result<Vec<SparseHit>> {
        self.0.sparse(query)
    }

    async fn dense(&self, query: &DenseQuery) -> Result<Vec<DenseHit>> {
        self.0.dense(query)
    }

    async fn vectors(&self, ids: &[ChunkId]) -> Result<Vec<Option<Vector>>> {
        Ok(self.0.vectors(ids))
    }

    async fn fetch(&self, ids: &[ChunkId]) -> Result<Vec<StoredChunk>> {
        let chunks = self.0.find(ids).into_iter().filter_map(|found| {
            let record = held(&found.document.body)?;
            let chunk = record.chunks.get(found.id.ordinal() as usize)?;
            Some(StoredChunk {
                id: found.id.clone(),
                text: record.chunk_text(chunk).to_owned(),
                headings: chunk.headings.clone(),
                range: chunk.range.clone(),
                page: chunk.page,
                title: record.title.clone(),
                source: self.0.shown_source(record.source.clone()),
                doc_type: record.doc_type.clone(),
                tags: found.tags.clone(),
                metadata: record.metadata.clone(),
                validity: record.validity,
            })
        });
        Ok(chunks.collect())
    }

    async fn term_statistics(&self, text: &str) -> Result<TermStatistics> {
        Ok(self.0.term_statistics(text))
    }

    fn visible_chunks(&self) -> u64 {
        self.0.visible_chunks()
    }

    fn embedder(&self) -> Option<&str> {
        self.0.embedder()
    }

    fn visible_vectors(&self) -> u64 {
        self.0.visible_vectors()
    }

    fn analyzer(&self) -> &Analyzer {
        self.0.analyzer()
    }
}

#[async_trait]
impl Maintenance for MemoryIndex {
    async fn documents(&self) -> Result<Vec<DocumentListing>> {
        let generation = self.live.generation();
        let listings =
            generation.documents().into_iter().filter_map(|(document, tags, visible)| {
                let record = held(&document.body)?;
                Some(DocumentListing {
                    id: record.id.clone(),
                    title: record.title.clone(),
                    source: record.source.clone(),
                    doc_type: record.doc_type.clone(),
                    tags: tags.clone(),
                    chunks: record.chunks.len() as u64,
                    quarantined: record.chunks.len().saturating_sub(visible) as u64,
                })
            });
        Ok(listings.collect())
    }

    async fn stored(&self, id: &DocumentId) -> Result<Option<StoredDocument>> {
        Ok(self.live.generation().stored(id))
    }

    async fn within(&self, folder: &FolderHash) -> Result<Vec<DocumentId>> {
        let generation = self.live.generation();
        let documents = generation.documents().into_iter();
        let inside = documents.filter_map(|(document, ..)| {
            held(&document.body).filter(|record| record.folders.contains(folder))
        });
        Ok(inside.map(|record| record.id.clone()).collect())
    }

    async fn statistics(&self) -> Result<IndexStatistics> {
        let staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        let staged_vectors = staged.as_ref().map_or(0, |staged| staged.vectors.len() as u64);
        Ok(IndexStatistics { staged_vectors, ..self.live.generation().statistics() })
    }

    async fn quarantined(&self) -> Result<Vec<QuarantinedChunk>> {
        let generation = self.live.generation();
        let mut chunks = Vec::new();
        for (document, _, _) in generation.documents() {
            let Some(record) = held(&document.body) else { continue };
            for (ordinal, chunk) in (0..).zip(&record.chunks) {
                if let Some(reason) = &chunk.quarantine {
                    chunks.push(QuarantinedChunk {
                        id: ChunkId::new(record.id.clone(), ordinal),
                        source: record.source.clone(),
                        reason: reason.clone(),
                        text: record.chunk_text(chunk).to_owned(),
                    });
                }
            }
        }
        Ok(chunks)
    }

    async fn release(&self, id: &ChunkId) -> Result<bool> {
        let _writing = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.live.generation();
        let record = current.document(id.document()).and_then(|(document, _)| held(&document.body));
        let Some(mut released) = record.map(|record| DocumentRecord::clone(record)) else {
            return Ok(false);
        };
        let chunk = released.chunks.get_mut(id.ordinal() as usize);
        if chunk.and_then(|chunk| chunk.quarantine.take()).is_none() {
            return Ok(false);
        }
        self.publish(&current, &[id.document().clone()], vec![released]);
        Ok(true)
    }

    async fn replace(&self, fingerprint: Fingerprint, batch: Batch) -> Result<ApplyReport> {
        let _writing = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.replace_all(fingerprint, batch)
    }

    async fn rewrite(&self, fingerprint: Fingerprint, rewrite: Rewrite<'_>) -> Result<ApplyReport> {
        let _writing = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.live.generation();
        let stays = current.space == fingerprint.space();
        let records = current.documents().into_iter().filter_map(|(document, ..)| {
            held(&document.body).map(|record| rewritten(record, rewrite, stays, &self.id_key))
        });
        let batch = records.fold(Batch::new(), Batch::upsert);
        self.replace_all(fingerprint, batch)
    }

    async fn adopt_embedder(&self, space: Option<VectorSpace>) -> Result<u64> {
        let _writing = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.fingerprint();
        let fingerprint = before.clone().with_embedder(space.clone())?;
        let staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner).take();
        let staged = staged.filter(|staged| space.as_ref() == Some(&staged.space));
        let vectors = staged.map(|staged| staged.vectors).unwrap_or_default();
        if fingerprint == before && vectors.is_empty() {
            return Ok(0);
        }
        let current = self.live.generation();
        let stays = fingerprint == before;
        let mut adopted = 0;
        let mut batch = Batch::new();
        for (document, ..) in current.documents() {
            let Some(record) = held(&document.body) else { continue };
            let mut record = DocumentRecord::clone(record);
            for at in 0..record.chunks.len() {
                let id = ChunkId::new(record.id.clone(), at as u32);
                let Some(chunk) = record.chunks.get(at) else { continue };
                let found = vectors.get(&id);
                let found = found
                    .filter(|(hash, _)| record.embedded_text(chunk, &self.id_key) == *hash)
                    .map(|(_, vector)| vector.clone());
                adopted += u64::from(found.is_some());
                if let Some(chunk) = record.chunks.get_mut(at) {
                    let kept = chunk.vector.take().filter(|_| stays);
                    chunk.vector = found.or(kept);
                }
            }
            batch = batch.upsert(record);
        }
        self.replace_all(fingerprint, batch)?;
        Ok(adopted)
    }

    async fn without_vector(&self, space: &VectorSpace, limit: usize) -> Result<Vec<ChunkToEmbed>> {
        let generation = self.live.generation();
        let seen = generation.space.as_ref() == Some(space);
        let staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        let staged = staged.as_ref().filter(|staged| staged.space == *space);
        let documents = generation.documents().into_iter();
        let chunks = documents.filter_map(|(document, ..)| held(&document.body));
        let chunks = chunks.flat_map(|record| {
            (0..).zip(&record.chunks).filter(move |(_, chunk)| !seen || chunk.vector.is_none()).map(
                move |(ordinal, chunk)| ChunkToEmbed {
                    id: ChunkId::new(record.id.clone(), ordinal),
                    title: record.title.clone(),
                    headings: chunk.headings.clone(),
                    text: record.chunk_text(chunk).to_owned(),
                    hash: record.embedded_text(chunk, &self.id_key),
                },
            )
        });
        let laid = |chunk: &ChunkToEmbed| {
            let found = staged.and_then(|staged| staged.vectors.get(&chunk.id));
            found.is_some_and(|(hash, _)| *hash == chunk.hash)
        };
        Ok(chunks.filter(|chunk| !laid(chunk)).take(limit).collect())
    }

    async fn stage_vectors(
        &self,
        space: &VectorSpace,
        vectors: Vec<(ChunkId, EmbeddedTextHash, Vector)>,
    ) -> Result<u64> {
        let current = self.live.generation();
        let mut found = Vec::with_capacity(vectors.len());
        for (id, hash, vector) in vectors {
            let tried = || format!("store the vector of chunk {id}");
            VectorSpace::check(Some(space), vector.dimension(), tried)?;
            let known = current.document(id.document());
            let record = known.and_then(|(document, _)| held(&document.body));
            let chunk = record.and_then(|it| Some((it, it.chunks.get(id.ordinal() as usize)?)));
            if chunk.is_some_and(|(it, chunk)| it.embedded_text(chunk, &self.id_key) == hash) {
                found.push((id, (hash, vector)));
            }
        }
        let mut staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        let staged = match staged.take().filter(|staged| staged.space == *space) {
            Some(before) => staged.insert(before),
            None => staged.insert(Staged { space: space.clone(), vectors: BTreeMap::new() }),
        };
        let count = found.len() as u64;
        staged.vectors.extend(found);
        Ok(count)
    }

    async fn known_vectors(
        &self,
        space: &VectorSpace,
        texts: &[EmbeddedTextHash],
    ) -> Result<Vec<Option<Vector>>> {
        let mut known: HashMap<EmbeddedTextHash, Option<Vector>> =
            texts.iter().map(|text| (*text, None)).collect();
        let staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(staged) = staged.as_ref().filter(|staged| staged.space == *space) {
            for (hash, vector) in staged.vectors.values() {
                if let Some(slot) = known.get_mut(hash) {
                    *slot = Some(vector.clone());
                }
            }
        }
        let generation = self.live.generation();
        let seen = generation.space.as_ref() == Some(space);
        for (document, ..) in generation.documents().into_iter().filter(|_| seen) {
            let Some(record) = held(&document.body) else { continue };
            for chunk in record.chunks.iter().filter(|chunk| chunk.vector.is_some()) {
                if let Some(slot) = known.get_mut(&record.embedded_text(chunk, &self.id_key)) {
                    slot.clone_from(&chunk.vector);
                }
            }
        }
        Ok(texts.iter().map(|text| known.get(text).cloned().flatten()).collect())
    }
}
