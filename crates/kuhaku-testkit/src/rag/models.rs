//! The models of a pipeline, and what they are asked.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use kuhaku_core::{Embedder, Probability, Reranker, Result, TextClassifier};

use crate::{MarkerClassifier, OverlapReranker};

/// The models of a pipeline. Each must be a function of its request, to the last bit.
#[derive(Clone, Debug)]
pub struct PipelineModels {
    /// Of documents and questions.
    pub embedder: Arc<dyn Embedder>,
    /// How many numbers its vectors have.
    pub dimension: usize,
    /// Judges chunks again.
    pub reranker: Arc<dyn Reranker>,
    /// Tells injections.
    pub classifier: Arc<dyn TextClassifier>,
}

impl PipelineModels {
    /// An embedder, with judges that go by words.
    pub fn new(embedder: impl Embedder + 'static, dimension: usize) -> Self {
        Self {
            embedder: Arc::new(embedder),
            dimension,
            reranker: Arc::new(OverlapReranker::new()),
            classifier: Arc::new(MarkerClassifier::new("bonus")),
        }
    }

    /// The same with another reranker.
    #[must_use]
    pub fn reranker(mut self, reranker: impl Reranker + 'static) -> Self {
        self.reranker = Arc::new(reranker);
        self
    }

    /// The same with another classifier.
    #[must_use]
    pub fn classifier(mut self, classifier: impl TextClassifier + 'static) -> Self {
        self.classifier = Arc::new(classifier);
        self
    }
}

/// A model that keeps its requests.
pub(super) struct Noted<M: ?Sized> {
    model: Arc<M>,
    calls: Mutex<Vec<String>>,
}

impl<M: ?Sized> Noted<M> {
    pub(super) fn new(model: Arc<M>) -> Self {
        Self { model, calls: Mutex::default() }
    }

    fn note(&self, request: impl fmt::Debug) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push(format!("{request:?}"));
    }

    /// The requests so far, oldest first.
    pub(super) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<M: fmt::Debug + ?Sized> fmt::Debug for Noted<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.model.fmt(f)
    }
}

#[async_trait]
impl Reranker for Noted<dyn Reranker> {
    fn id(&self) -> &str {
        self.model.id()
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<Probability>> {
        self.note((query, texts));
        self.model.rerank(query, texts).await
    }
}

#[async_trait]
impl TextClassifier for Noted<dyn TextClassifier> {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn labels(&self) -> &[String] {
        self.model.labels()
    }

    async fn classify(&self, texts: &[&str]) -> Result<Vec<Vec<Probability>>> {
        self.note(texts);
        self.model.classify(texts).await
    }
}
