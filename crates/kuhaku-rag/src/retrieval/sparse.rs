//! Finding chunks by their words.

use async_trait::async_trait;
use kuhaku_index::{Bm25, ChunkReader, SparseHit, SparseQuery, inverse_document_frequency};

use crate::error::{Adopt as _, Result};
use crate::retrieve::{Retrieval, RetrievalRequest, Retriever, Signals, read};

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

    /// The most that one word in the text can score which a single visible chunk holds: what makes a
    /// good score, whatever the question. A function of the visible set alone (R4).
    pub(crate) fn good_score(&self, reader: &dyn ChunkReader) -> f64 {
        (self.bm25.k1 + 1.0) * inverse_document_frequency(reader.visible_chunks(), 1)
    }

    /// The best chunks by words, yet to be read.
    pub(crate) async fn search(
        &self,
        request: &RetrievalRequest,
        limit: usize,
    ) -> Result<Vec<SparseHit>> {
        let query = SparseQuery::new(request.query.as_str(), limit)
            .filter(request.filter.clone())
            .bm25(self.bm25);
        request.reader.sparse(&query).await.adopt()
    }
}

#[async_trait]
impl Retriever for SparseRetriever {
    async fn retrieve(&self, request: &RetrievalRequest) -> Result<Retrieval> {
        let found = self.search(request, request.limit).await?;
        let signals = |hit: SparseHit| {
            let bm25 = Some(hit.bm25);
            (hit.id, Signals { bm25, score: bm25, ..Signals::default() })
        };
        let found = found.into_iter().map(signals).collect();
        Ok(Retrieval::new(read(request.reader.as_ref(), found).await?))
    }
}
