//! One embedder for every dialect.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use kuhaku_core::{Embedder, Error, ErrorKind, Resilience, Result};

use super::dialect::{EmbeddingDialect, Purpose};
use super::vectors::settle;
use crate::connection::{Answer, Connection};

/// Requests under way at a time, for texts that need several.
const AT_A_TIME: usize = 4;

/// An embedding model behind a service. Texts go in batches, and each batch through the layers of
/// core: a failure does not send again what came back.
#[derive(Clone)]
pub(crate) struct HttpEmbedder {
    connection: Connection,
    dialect: Arc<dyn EmbeddingDialect>,
    resilience: Resilience,
    fingerprint: String,
    dimension: Option<usize>,
}

impl fmt::Debug for HttpEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("HttpEmbedder");
        shown.field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

impl HttpEmbedder {
    /// A model that speaks a dialect. With `dimension`, vectors of another length are refused.
    pub(crate) fn new(
        connection: Connection,
        dialect: impl EmbeddingDialect + 'static,
        resilience: Resilience,
        dimension: Option<usize>,
    ) -> Self {
        let fingerprint = dialect.fingerprint();
        Self { connection, dialect: Arc::new(dialect), resilience, fingerprint, dimension }
    }

    async fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let batches = texts.chunks(self.dialect.most_texts().max(1));
        let calls: Vec<_> = batches.map(|batch| self.batch(batch, purpose)).collect();
        let vectors: Vec<_> = iter(calls).buffered(AT_A_TIME).try_collect().await?;
        let vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().collect();
        let length = vectors.first().map(Vec::len);
        match vectors.iter().all(|vector| Some(vector.len()) == length) {
            true => Ok(vectors),
            false => Err(self.odd("it gave vectors of several lengths")),
        }
    }

    async fn batch(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let endpoint = &self.connection.base_url;
        self.resilience.call(endpoint, None, |_| self.attempt(texts, purpose)).await
    }

    async fn attempt(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let wire = self.dialect.wire(texts, purpose);
        let Answer { stream, secrets } = self.connection.post(&wire).await?;
        let read = if stream.is_success() {
            let body = self.connection.json(stream).await?;
            body.and_then(|body| self.dialect.vectors(&body))
                .and_then(|vectors| settle(vectors, texts.len(), self.dimension))
        } else {
            let meaning = |status, body: &_| self.dialect.failure(status, body);
            Err(self.connection.refused(stream, meaning).await)
        };
        read.map_err(|fault| self.connection.error(fault, &secrets, texts.iter().copied()))
    }

    fn odd(&self, wrong: &'static str) -> Error {
        let tried = format!("ask {}", self.connection.id);
        Error::new(ErrorKind::MalformedResponse, tried, wrong)
            .next("check that the base URL leads to a service of this kind")
    }
}

#[async_trait]
impl Embedder for HttpEmbedder {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    async fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        self.embed(texts, Purpose::Document).await
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        let vectors = self.embed(&[text], Purpose::Query).await?;
        vectors.into_iter().next().ok_or_else(|| self.odd("it gave no vector"))
    }
}
