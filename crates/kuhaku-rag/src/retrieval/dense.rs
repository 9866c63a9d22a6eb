//! Finding chunks by their vectors.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kuhaku_core::{Embedder, ErrorKind as CoreErrorKind, Runtime};
use kuhaku_index::{ChunkReader, DenseHit, DenseQuery, ErrorKind as IndexErrorKind, Vector};

use crate::error::{Adopt as _, Error, ErrorKind, Result};
use crate::limit::before;
use crate::observed;
use crate::retrieve::{Retrieval, RetrievalRequest, Retriever, Signals, read};

/// How long the vector of a question may take, unless set.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Finds chunks by the cosine of their vectors with the question's.
#[derive(Clone, Debug)]
pub struct DenseRetriever {
    embedder: Arc<dyn Embedder>,
    timeout: Duration,
    runtime: Option<Runtime>,
}

impl DenseRetriever {
    /// A retriever with the embedder of the index. The vector of a question may take 10 seconds.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, timeout: TIMEOUT, runtime: None }
    }

    /// Tells of each vector that is made, as a stage.
    pub(crate) fn observed(mut self, runtime: &Runtime) -> Self {
        self.runtime = Some(runtime.clone());
        self
    }

    /// How long the vector of a question may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Whether the reader sees vectors that can be compared with those of this embedder: false when
    /// it sees none at all (D9).
    ///
    /// # Errors
    /// `index.fingerprint_mismatch` when the vectors of the index are another embedder's.
    pub(crate) fn applies(&self, reader: &dyn ChunkReader) -> Result<bool> {
        match reader.embedder() {
            Some(embedder) if embedder != self.embedder.fingerprint() => {
                let kind = ErrorKind::Index(IndexErrorKind::FingerprintMismatch);
                let wrong = format!(
                    "the vectors of the index are of `{embedder}`, and those of questions of `{}`",
                    self.embedder.fingerprint()
                );
                Err(Error::new(kind, "compare vectors", wrong)
                    .next("use the embedder of the index, or run `kuhaku index reembed`"))
            }
            Some(_) => Ok(reader.visible_vectors() > 0),
            None => Ok(false),
        }
    }

    /// The vector of the question.
    ///
    /// # Errors
    /// Those of the embedder; `core.timed_out` when it takes too long.
    pub(crate) async fn embed(&self, request: &RetrievalRequest) -> Result<Vector> {
        match &self.runtime {
            Some(runtime) => observed::embed(runtime).run(self.embed_within(request)).await,
            None => self.embed_within(request).await,
        }
    }

    async fn embed_within(&self, request: &RetrievalRequest) -> Result<Vector> {
        let embedding = async { self.embedder.embed_query(&request.query).await.adopt() };
        let numbers =
            before(request.deadline, self.timeout, embedding).await.unwrap_or_else(|| {
                let wrong =
                    format!("the embedder took longer than {} s", self.timeout.as_secs_f64());
                Err(Error::new(
                    ErrorKind::Core(CoreErrorKind::TimedOut),
                    "embed the question",
                    wrong,
                )
                .next("raise rag.embedding_timeout_seconds, or choose a faster embedder"))
            })?;
        Vector::new(numbers).adopt()
    }

    /// The best chunks by vectors, yet to be read.
    pub(crate) async fn search(
        &self,
        request: &RetrievalRequest,
        vector: Vector,
        limit: usize,
    ) -> Result<Vec<DenseHit>> {
        let query = DenseQuery::new(vector, limit).filter(request.filter.clone());
        request.reader.dense(&query).await.adopt()
    }
}

#[async_trait]
impl Retriever for DenseRetriever {
    /// Chunks without vectors are not found.
    ///
    /// # Errors
    /// Those of the reader and of the embedder; `core.timed_out` when the embedder takes too long;
    /// `index.fingerprint_mismatch` when the vectors of the index are another embedder's.
    async fn retrieve(&self, request: &RetrievalRequest) -> Result<Retrieval> {
        if !self.applies(request.reader.as_ref())? {
            return Ok(Retrieval::default().skipped("dense", "no_vectors"));
        }
        let vector = self.embed(request).await?;
        let found = self.search(request, vector, request.limit).await?;
        let signals = |hit: DenseHit| {
            let cosine = Some(hit.cosine);
            (hit.id, Signals { cosine, score: cosine, ..Signals::default() })
        };
        let found = found.into_iter().map(signals).collect();
        Ok(Retrieval::new(read(request.reader.as_ref(), found).await?))
    }
}
