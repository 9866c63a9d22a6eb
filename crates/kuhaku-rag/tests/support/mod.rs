//! An engine over a few documents in memory.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

pub(crate) mod between;

use std::sync::Arc;

use kuhaku_core::{AccessTags, Embedder, Masker, PiiMasker, Roles, Scope};
use kuhaku_index::{ChunkIndex, IdKey, MemoryIndex};
use kuhaku_rag::{
    AskRequest, DocumentReport, Ingestor, RagEngine, RagEngineBuilder, RagSettings, Retrieval,
    RetrievalRequest, Retriever, SparseRetriever, TextDocument,
};

/// An index in memory with its ingestor.
pub(crate) struct Base {
    pub(crate) index: Arc<dyn ChunkIndex>,
    pub(crate) ingestor: Ingestor,
    pub(crate) settings: RagSettings,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
}

impl Base {
    pub(crate) fn new() -> Self {
        Self::with(RagSettings::default())
    }

    pub(crate) fn with(settings: RagSettings) -> Self {
        let masker: Arc<dyn Masker> = Arc::new(PiiMasker::new());
        let fingerprint = Ingestor::fingerprint(&settings, masker.as_ref()).unwrap();
        let key = IdKey::from_bytes([7; 32]);
        let index: Arc<dyn ChunkIndex> = Arc::new(MemoryIndex::new(fingerprint, key));
        let ingestor = Ingestor::new(index.clone(), masker, settings.clone(), None).unwrap();
        Self { index, ingestor, settings, embedder: None }
    }

    /// The same with vectors, of documents and of questions.
    pub(crate) fn embedding(settings: RagSettings, embedder: Arc<dyn Embedder>) -> Self {
        let mut base = Self::with(settings);
        base.ingestor = base.ingestor.embedder(embedder.clone());
        base.embedder = Some(embedder);
        base
    }

    pub(crate) async fn add(&self, name: &str, text: &str, tags: &[&str]) -> DocumentReport {
        let document = TextDocument::new(name, text).tags(AccessTags::new(tags).unwrap());
        self.ingestor.text(document).await.unwrap()
    }

    pub(crate) fn engine(&self) -> RagEngineBuilder {
        let now = "2026-06-15T12:00:00Z".parse().unwrap();
        let engine = RagEngine::builder(self.index.clone())
            .settings(self.settings.clone())
            .runtime(kuhaku_testkit::fixed_runtime(now));
        match &self.embedder {
            Some(embedder) => engine.embedder(embedder.clone()),
            None => engine,
        }
    }
}

pub(crate) fn anonymous(question: &str) -> AskRequest {
    AskRequest::new(question, Scope::anonymous())
}

pub(crate) fn with_roles(question: &str, roles: &[&str]) -> AskRequest {
    AskRequest::new(question, Scope::with_roles(Roles::new(roles)))
}

/// An answer as JSON without what differs between equal requests (D24).
pub(crate) fn comparable(answer: &impl serde::Serialize) -> String {
    kuhaku_testkit::rag::comparable(answer).unwrap()
}

/// A retriever with a way of its own to every document.
#[derive(Debug)]
pub(crate) struct Careless(pub(crate) Arc<dyn ChunkIndex>);

#[async_trait::async_trait]
impl Retriever for Careless {
    async fn retrieve(&self, request: &RetrievalRequest) -> kuhaku_rag::Result<Retrieval> {
        let mut request = request.clone();
        let all = Scope::with_roles(Roles::new(["board", "people_ops"]));
        request.reader = self.0.reader(&all).await.unwrap();
        SparseRetriever::default().retrieve(&request).await
    }
}
