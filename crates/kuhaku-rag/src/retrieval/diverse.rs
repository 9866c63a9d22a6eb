//! The stage behind which no document fills all places.

use std::sync::Arc;

use async_trait::async_trait;

use crate::diversity::diversify;
use crate::error::Result;
use crate::retrieve::{Retrieval, RetrievalRequest, Retriever};

/// Puts a few chunks of each document before further ones of the same documents. No place is left
/// empty for it.
#[derive(Clone, Debug)]
pub struct DiverseRetriever {
    base: Arc<dyn Retriever>,
    per_document: usize,
    depth: usize,
}

impl DiverseRetriever {
    /// So many chunks of each document come first; 0 for no such limit.
    pub fn new(base: impl Retriever + 'static, per_document: usize) -> Self {
        Self { base: Arc::new(base), per_document, depth: 0 }
    }

    /// Among how many hits to choose, at least.
    #[must_use]
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }
}

#[async_trait]
impl Retriever for DiverseRetriever {
    async fn retrieve(&self, request: &RetrievalRequest) -> Result<Retrieval> {
        let found = self.base.retrieve(&request.at_least(self.depth)).await?;
        let mut found = found.within(request.reader.as_ref());
        found.hits = diversify(found.hits, self.per_document, request.limit);
        Ok(found)
    }
}
