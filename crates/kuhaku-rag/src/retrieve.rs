//! Finding the chunks that may answer a question.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use kuhaku_core::ChunkId;
use kuhaku_index::{ChunkReader, Filter, StoredChunk};

use crate::answer::Skipped;
use crate::error::{Adopt as _, Result};
use crate::ingest::embedded_text;

/// Finds chunks. The reader carries the scope: whatever is read through it is within the caller's
/// rights.
#[async_trait]
pub trait Retriever: Send + Sync + fmt::Debug {
    /// The best chunks first, at most `limit`; fewer only when there are no more.
    ///
    /// # Errors
    /// Those of the reader, and the retriever's own as [`crate::ErrorKind::Retriever`].
    async fn retrieve(&self, request: &RetrievalRequest) -> Result<Retrieval>;
}

macro_rules! forward {
    ($pointer:ident) => {
        #[async_trait]
        impl<R: Retriever + ?Sized> Retriever for $pointer<R> {
            async fn retrieve(&self, request: &RetrievalRequest) -> Result<Retrieval> {
                (**self).retrieve(request).await
            }
        }
    };
}
forward!(Arc);
forward!(Box);

/// What a [`Retriever`] is asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RetrievalRequest {
    /// The (masked) question.
    pub query: String,
    /// The only way to the index, within the caller's scope and at one generation.
    pub reader: Arc<dyn ChunkReader>,
    /// How many hits at most.
    pub limit: usize,
    /// Which chunks are eligible, before ranking.
    pub filter: Filter,
    /// When the request must have ended; absent for no limit.
    pub deadline: Option<Instant>,
}

impl RetrievalRequest {
    /// An unfiltered request.
    pub fn new(query: impl Into<String>, reader: Arc<dyn ChunkReader>, limit: usize) -> Self {
        Self { query: query.into(), reader, limit, filter: Filter::none(), deadline: None }
    }

    /// Restricts what is eligible.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Sets when the request must have ended.
    #[must_use]
    pub fn deadline(mut self, deadline: Option<Instant>) -> Self {
        self.deadline = deadline;
        self
    }

    /// The same request for so many hits at least.
    pub(crate) fn at_least(&self, limit: usize) -> Self {
        Self { limit: self.limit.max(limit), ..self.clone() }
    }
}

/// What was found, and which stages did not run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Retrieval {
    /// The chunks, best first.
    pub hits: Vec<Hit>,
    /// Stages that did not run, and why.
    pub skipped: Vec<Skipped>,
    /// How many chunks were held back because they looked like an injection.
    pub held_back: usize,
}

impl Retrieval {
    /// Hits of stages that all ran.
    pub fn new(hits: Vec<Hit>) -> Self {
        Self { hits, ..Self::default() }
    }

    /// Notes a stage that did not run.
    #[must_use]
    pub fn skipped(mut self, stage: &'static str, reason: &'static str) -> Self {
        self.skip(stage, reason);
        self
    }

    pub(crate) fn skip(&mut self, stage: &'static str, reason: &'static str) {
        self.skipped.push(Skipped::new(stage, reason));
    }

    /// What the caller may see, each chunk once: a custom retriever may have other ways to chunks
    /// than the reader (R4).
    pub(crate) fn within(mut self, reader: &dyn ChunkReader) -> Self {
        let mut seen = HashSet::new();
        self.hits.retain(|hit| {
            reader.scope().sees(&hit.chunk.tags) && seen.insert(hit.chunk.id.clone())
        });
        self
    }
}

/// A chunk that was found, with the raw signals that found it (R9). Absent signals were not
/// measured.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// The chunk.
    pub chunk: StoredChunk,
    /// Its BM25 score: above 0, comparable within one question only.
    pub bm25: Option<f64>,
    /// The cosine of its vector with the question's, from -1 to 1.
    pub cosine: Option<f64>,
    /// The probability that it answers the question, by a reranker, from 0 to 1.
    pub rerank: Option<f64>,
    /// What it was ordered by, greater first: one of the signals, or fused from them. It says
    /// nothing across questions, nor how good the hit is (R9); stages that blend rankings use it.
    pub score: Option<f64>,
}

impl Hit {
    /// A hit without any signal.
    pub fn new(chunk: StoredChunk) -> Self {
        Self { chunk, bm25: None, cosine: None, rerank: None, score: None }
    }

    /// Adds the BM25 score.
    #[must_use]
    pub fn bm25(mut self, score: f64) -> Self {
        self.bm25 = Some(score);
        self
    }

    /// Adds the cosine.
    #[must_use]
    pub fn cosine(mut self, cosine: f64) -> Self {
        self.cosine = Some(cosine);
        self
    }

    /// Adds the probability by a reranker.
    #[must_use]
    pub fn rerank(mut self, probability: f64) -> Self {
        self.rerank = Some(probability);
        self
    }

    /// Adds what it is ordered by.
    #[must_use]
    pub fn score(mut self, score: f64) -> Self {
        self.score = Some(score);
        self
    }
}

/// What models read of a chunk: the same as its embedder does.
pub(crate) fn passage(hit: &Hit) -> String {
    embedded_text(&hit.chunk.title, &hit.chunk.headings, &hit.chunk.text)
}

/// A chunk that is yet to be read, with its signals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals {
    pub(crate) bm25: Option<f64>,
    pub(crate) cosine: Option<f64>,
    pub(crate) score: Option<f64>,
}

/// Reads chunks, in the order of the list. What does not exist any more is left out.
pub(crate) async fn read(
    reader: &dyn ChunkReader,
    found: Vec<(ChunkId, Signals)>,
) -> Result<Vec<Hit>> {
    let ids: Vec<ChunkId> = found.iter().map(|(id, _)| id.clone()).collect();
    let mut chunks = reader.fetch(&ids).await.adopt()?.into_iter().peekable();
    // Both lists are in the same order; a chunk that is in the first only is left out.
    let hit = |(id, Signals { bm25, cosine, score }): (ChunkId, Signals)| {
        let chunk = chunks.next_if(|chunk| chunk.id == id)?;
        Some(Hit { bm25, cosine, score, ..Hit::new(chunk) })
    };
    Ok(found.into_iter().filter_map(hit).collect())
}
