//! Models that score or embed texts, behind the layer.

use async_trait::async_trait;

use super::resilient::Resilient;
use crate::error::Result;
use crate::models::{Embedder, Probability, Reranker};

#[async_trait]
impl<M: Embedder> Embedder for Resilient<M> {
    fn fingerprint(&self) -> &str {
        self.model.fingerprint()
    }

    async fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let call = |_| self.model.embed_documents(texts);
        self.resilience.call(&self.endpoint, None, call).await
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        self.resilience.call(&self.endpoint, None, |_| self.model.embed_query(text)).await
    }
}

#[async_trait]
impl<M: Reranker> Reranker for Resilient<M> {
    fn id(&self) -> &str {
        self.model.id()
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<Probability>> {
        let call = |_| self.model.rerank(query, texts);
        self.resilience.call(&self.endpoint, None, call).await
    }
}
