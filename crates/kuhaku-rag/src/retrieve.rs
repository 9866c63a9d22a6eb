//! Finding the chunks that may answer a question.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_core::ChunkId;
use kuhaku_index::{Bm25, ChunkReader, Filter, SparseQuery, StoredChunk};

use crate::error::{Adopt as _, Result};

/// Finds chunks. The reader carries the scope: whatever is read through it is within the caller's
/// rights.
#[async_trait]
pub trait Retriever: Send + Sync + fmt::Debug {
    /// The best chunks first, at most `limit`.
    ///
    /// # Errors
    /// Those of the reader, and the retriever's own as [`crate::ErrorKind::Retriever`].
    async fn retrieve(&self, request: &RetrievalRequest) -> Result<Vec<Hit>>;
}

macro_rules! forward {
    ($pointer:ident) => {
        #[async_trait]
        impl<R: Retriever + ?Sized> Retriever for $pointer<R> {
            async fn retrieve(&self, request: &RetrievalRequest) -> Result<Vec<Hit>> {
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
}

impl RetrievalRequest {
    /// An unfiltered request.
    pub fn new(query: impl Into<String>, reader: Arc<dyn ChunkReader>, limit: usize) -> Self {
        Self { query: query.into(), reader, limit, filter: Filter::none() }
    }

    /// Restricts what is eligible.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
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
}

impl Hit {
    /// A hit without any signal.
    pub fn new(chunk: StoredChunk) -> Self {
        Self { chunk, bm25: None, cosine: None, rerank: None }
    }

    /// Adds the BM25 score.
    #[must_use]
    pub fn bm25(mut self, score: f64) -> Self {
        self.bm25 = Some(score);
        self
    }
}

/// Finds chunks by their words (BM25).
#[derive(Clone, Debug, Default)]
pub struct SparseRetriever {
    bm25: Bm25,
}

impl SparseRetriever {
    /// A retriever with these parameters.
    pub fn new(bm25: Bm25) -> Self {
        Self { bm25 }
    }
}

#[async_trait]
impl Retriever for SparseRetriever {
    async fn retrieve(&self, request: &RetrievalRequest) -> Result<Vec<Hit>> {
        let query = SparseQuery::new(request.query.as_str(), request.limit)
            .filter(request.filter.clone())
            .bm25(self.bm25);
        let found = request.reader.sparse(&query).await.adopt()?;
        let ids: Vec<ChunkId> = found.iter().map(|hit| hit.id.clone()).collect();
        let mut chunks = request.reader.fetch(&ids).await.adopt()?.into_iter().peekable();
        // Both lists are in the same order; a chunk that is in the first only is left out.
        let hit = |hit: kuhaku_index::SparseHit| {
            let chunk = chunks.next_if(|chunk| chunk.id == hit.id)?;
            Some(Hit::new(chunk).bm25(hit.bm25))
        };
        Ok(found.into_iter().filter_map(hit).collect())
    }
}
