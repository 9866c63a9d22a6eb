//! What a scope sees of one generation.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kuhaku_core::{AccessTags, ChunkId, Scope};

use super::document::Document;
use super::frequencies::Lengths;
use super::generation::{Generation, Part};
use super::scratch::ScratchPool;
use super::segment::{Entry, Visible};
use super::{nearest, search};
use crate::analysis::Analyzer;
use crate::error::Result;
use crate::fault::{Fault, Seeded};
use crate::query::{DenseHit, DenseQuery, SparseHit, SparseQuery, TermStatistic, TermStatistics};
use crate::vector::Vector;

/// What a scope sees of a part.
#[derive(Debug)]
pub(super) struct Sight {
    pub(super) visible: Arc<Visible>,
    /// The visible classes that have dead chunks.
    dead: Vec<u32>,
}

/// What a scope sees of one generation of an embedded index: searched in memory, without waiting
/// for anything (D14).
///
/// ```
/// use kuhaku_core::Scope;
/// use kuhaku_index::{Fingerprint, IdKey, Language, MemoryIndex, SparseQuery, Tokenizer};
///
/// let fingerprint = Fingerprint::new(Tokenizer::Default, Language::En, "none", "none");
/// let index = MemoryIndex::new(fingerprint, IdKey::from_bytes([7; 32]));
/// let view = index.view(&Scope::anonymous());
/// assert!(view.sparse(&SparseQuery::new("anything", 4))?.is_empty());
/// # Ok::<(), kuhaku_index::Error>(())
/// ```
pub struct View {
    pub(super) generation: Arc<Generation>,
    pub(super) scope: Scope,
    pub(super) sights: Vec<Sight>,
    pub(super) chunks: u64,
    pub(super) vectors: u64,
    pub(super) lengths: Lengths<u64>,
    pub(super) analyzer: Arc<Analyzer>,
    pub(super) scratch: Arc<ScratchPool>,
    pub(super) seeded: Seeded,
}

/// A chunk that a scope sees.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    pub(crate) id: &'a ChunkId,
    pub(crate) document: &'a Arc<Document>,
    pub(crate) tags: &'a AccessTags,
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("scope", &self.scope).finish_non_exhaustive()
    }
}

impl View {
    pub(super) fn new(
        generation: Arc<Generation>,
        scope: Scope,
        analyzer: Arc<Analyzer>,
        scratch: Arc<ScratchPool>,
        seeded: Seeded,
    ) -> Self {
        let (mut chunks, mut vectors) = (0, 0);
        let mut lengths = Lengths::default();
        let mut sights = Vec::with_capacity(generation.parts.len());
        for part in &generation.parts {
            let visible = part.segment.visible(&scope);
            let mut dead_classes = Vec::new();
            chunks += visible.chunks;
            vectors += visible.vectors;
            lengths.add_all(visible.lengths);
            for (class, dead) in part.dead.iter().flat_map(|dead| dead.classes()) {
                if visible.has(class) {
                    dead_classes.push(class);
                    chunks = chunks.saturating_sub(dead.chunks);
                    vectors = vectors.saturating_sub(dead.vectors);
                    lengths.subtract(dead.lengths);
                }
            }
            sights.push(Sight { visible, dead: dead_classes });
        }
        Self { generation, scope, sights, chunks, vectors, lengths, analyzer, scratch, seeded }
    }

    /// The scope that the view was made with.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The analyzer that made the stored terms.
    pub fn analyzer(&self) -> &Analyzer {
        &self.analyzer
    }

    /// How many chunks the scope sees.
    pub fn visible_chunks(&self) -> u64 {
        self.chunks
    }

    /// The fingerprint of the embedder whose vectors the index takes.
    pub fn embedder(&self) -> Option<&str> {
        self.generation.space.as_ref().map(|space| space.embedder.as_str())
    }

    /// How many of the chunks that the scope sees have a vector.
    pub fn visible_vectors(&self) -> u64 {
        self.vectors
    }

    /// The nearest chunks by their vectors, as [`crate::ChunkReader::dense`] gives them.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidInput`] for a vector of another dimension than the index's, or
    /// when the index has no embedder.
    pub fn dense(&self, query: &DenseQuery) -> Result<Vec<DenseHit>> {
        nearest::dense(self, query, &AtomicBool::new(false))
    }

    /// The same, unless it is cancelled: then nothing is found.
    #[cfg(feature = "sqlite")]
    pub(crate) fn dense_until(
        &self,
        query: &DenseQuery,
        cancelled: &AtomicBool,
    ) -> Result<Vec<DenseHit>> {
        nearest::dense(self, query, cancelled)
    }

    /// How many numbers a search by vectors compares, at most.
    #[cfg(feature = "sqlite")]
    pub(crate) fn dense_work(&self) -> usize {
        let dimension = self.generation.space.as_ref().map_or(0, |space| space.dimension);
        dimension.saturating_mul(self.vectors as usize)
    }

    /// The vectors of chunks, as [`crate::ChunkReader::vectors`] gives them.
    pub fn vectors(&self, ids: &[ChunkId]) -> Vec<Option<Vector>> {
        let vector = |id: &ChunkId| {
            let (part, _, chunk) = self.place(id)?;
            let matrix = part.segment.matrix();
            matrix.row(matrix.row_of(chunk)?).cloned()
        };
        ids.iter().map(vector).collect()
    }

    /// The best chunks by BM25, as [`crate::ChunkReader::sparse`] gives them.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidInput`] for parameters out of range.
    pub fn sparse(&self, query: &SparseQuery) -> Result<Vec<SparseHit>> {
        search::sparse(self, query)
    }

    /// How often the terms of `text` occur, as [`crate::ChunkReader::term_statistics`] gives it.
    pub fn term_statistics(&self, text: &str) -> TermStatistics {
        let terms = self.analyzer.query_terms(text).into_iter().map(|term| {
            let chunks = self.document_frequency(self.places(&term.term));
            TermStatistic::new(term.term, chunks)
        });
        TermStatistics::new(self.chunks, terms.collect())
    }

    /// Parts and what is seen of them.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&Part, &Sight)> {
        self.generation.parts.iter().zip(&self.sights)
    }

    /// One of them.
    pub(super) fn at(&self, part: u32) -> Option<(&Part, &Sight)> {
        self.generation.parts.get(part as usize).zip(self.sights.get(part as usize))
    }

    /// Where a term is in the dictionary of each part.
    pub(super) fn places(&self, term: &str) -> impl Iterator<Item = Option<u32>> {
        self.generation.parts.iter().map(move |part| part.segment.terms().find(term))
    }

    /// How many visible chunks hold the term at these places.
    pub(super) fn document_frequency(&self, places: impl Iterator<Item = Option<u32>>) -> u64 {
        let mut frequency = 0;
        let everything = self.seeded.has(Fault::GlobalDocumentFrequency)
            || self.seeded.has(Fault::GlobalStatistics);
        for ((part, sight), place) in self.parts().zip(places) {
            let Some(term) = place else { continue };
            for (class, holding) in part.segment.runs(term) {
                if everything || sight.visible.has(class) {
                    frequency += u64::from(holding);
                }
            }
            for class in &sight.dead {
                let dead = part.dead.as_ref().map_or(0, |dead| dead.frequency(term, *class));
                frequency = frequency.saturating_sub(dead);
            }
        }
        frequency
    }

    /// The chunk count and the length sums that scores are made with.
    pub(super) fn totals(&self) -> (u64, Lengths<u64>) {
        let mut totals = (self.chunks, self.lengths);
        let both = self.seeded.has(Fault::GlobalStatistics);
        if both || self.seeded.has(Fault::GlobalDocumentFrequency) {
            totals.0 = self.generation.parts.iter().map(|p| p.segment.chunks().len() as u64).sum();
        }
        if both || self.seeded.has(Fault::GlobalAverageLength) {
            totals.1 = Lengths::default();
            let mut chunks = 0;
            for part in &self.generation.parts {
                for class in part.segment.classes() {
                    totals.1.add_all(class.lengths);
                    chunks += class.chunks;
                }
            }
            // Scaled to the visible count, by which the caller divides.
            let scale = |sum: u64| sum * totals.0 / chunks.max(1);
            totals.1 = Lengths {
                heading: scale(totals.1.heading),
                body: scale(totals.1.body),
                extra: scale(totals.1.extra),
            };
        }
        totals
    }

    /// The chunks of these ids that the scope sees, in their order.
    pub(crate) fn find<'a>(&'a self, ids: &'a [ChunkId]) -> Vec<Found<'a>> {
        let found = ids.iter().filter_map(|id| {
            let (part, entry, _) = self.place(id)?;
            Some(Found { id, document: &entry.document, tags: part.segment.tags(entry)? })
        });
        found.collect()
    }

    /// Where a chunk is that the scope sees.
    fn place(&self, id: &ChunkId) -> Option<(&Part, &Entry, u32)> {
        let (part, entry) = self.generation.find(id.document())?;
        part.segment.tags(entry).filter(|tags| self.scope.sees(tags))?;
        let range = entry.chunks.start as usize..entry.chunks.end as usize;
        let chunks = part.segment.chunks().get(range)?;
        let place = chunks.binary_search_by_key(&id.ordinal(), |chunk| chunk.ordinal).ok()?;
        Some((part, entry, entry.chunks.start + place as u32))
    }

    /// What a source is shown as: as it is, but for the seeded fault.
    pub(crate) fn shown_source(&self, source: String) -> String {
        if self.seeded.has(Fault::GenerationInOutput) {
            return format!("{source}@{}", self.generation.number);
        }
        source
    }
}
