//! Putting an engine together.

use std::sync::Arc;

use kuhaku_core::{
    AuditLog, Embedder, InjectionGuard, LlmProvider, Masker, PiiMasker, Reranker, Runtime,
    Section as _, TextClassifier,
};
use kuhaku_index::ChunkIndex;

use crate::engine::RagEngine;
use crate::error::{Adopt as _, Result};
use crate::evidence::Evidence;
use crate::messages::Messages;
use crate::prompt::Prompt;
use crate::retrieval::{behind, retriever};
use crate::retrieve::Retriever;
use crate::settings::{ModelSettings, RagSettings};
use crate::withheld::Afterwards;

/// Makes a [`RagEngine`].
#[derive(Clone, Debug)]
#[must_use]
pub struct RagEngineBuilder {
    index: Arc<dyn ChunkIndex>,
    retriever: Option<Arc<dyn Retriever>>,
    embedder: Option<Arc<dyn Embedder>>,
    reranker: Option<Arc<dyn Reranker>>,
    classifier: Option<Arc<dyn TextClassifier>>,
    model: Option<Arc<dyn LlmProvider>>,
    masker: Arc<dyn Masker>,
    settings: RagSettings,
    model_settings: ModelSettings,
    messages: Messages,
    prompt: Prompt,
    runtime: Runtime,
    audit: AuditLog,
    count_withheld: bool,
}

impl RagEngineBuilder {
    pub(crate) fn new(index: Arc<dyn ChunkIndex>) -> Self {
        Self {
            index,
            retriever: None,
            embedder: None,
            reranker: None,
            classifier: None,
            model: None,
            masker: Arc::new(PiiMasker::new()),
            settings: RagSettings::default(),
            model_settings: ModelSettings::default(),
            messages: Messages::default(),
            prompt: Prompt::new(),
            runtime: Runtime::system(),
            audit: AuditLog::disabled(),
            count_withheld: false,
        }
    }

    /// Finds chunks another way. The engine checks the scope again on whatever it returns, before a
    /// reranker or a classifier reads it.
    pub fn retriever(mut self, retriever: impl Retriever + 'static) -> Self {
        self.retriever = Some(Arc::new(retriever));
        self
    }

    /// Embeds questions, for dense and hybrid retrieval. It must be the embedder of the index.
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// Judges the best chunks again, whatever `rag.rerank_enabled` says. When it fails or takes too
    /// long, the order stays and the answer says so.
    pub fn reranker(mut self, reranker: Arc<dyn Reranker>) -> Self {
        self.reranker = Some(reranker);
        self
    }

    /// Holds chunks back that look like injections to a classifier; the next best take their places.
    /// When it fails, so does the request.
    pub fn classifier(mut self, classifier: Arc<dyn TextClassifier>) -> Self {
        self.classifier = Some(classifier);
        self
    }

    /// Writes answers with a model. Without one, answers are extractive.
    pub fn model(mut self, model: Arc<dyn LlmProvider>) -> Self {
        self.model = Some(model);
        self
    }

    /// Masks questions another way. It should be the masker that the documents were masked with.
    pub fn masker(mut self, masker: Arc<dyn Masker>) -> Self {
        self.masker = masker;
        self
    }

    /// Sets the settings of retrieval and answers.
    pub fn settings(mut self, settings: RagSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the settings of the language model.
    pub fn model_settings(mut self, settings: ModelSettings) -> Self {
        self.model_settings = settings;
        self
    }

    /// Sets the sentences that stand in place of an answer.
    pub fn messages(mut self, messages: Messages) -> Self {
        self.messages = messages;
        self
    }

    /// Sets the application's part of the prompt.
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompt = prompt;
        self
    }

    /// Sets clock, random bytes, metrics and announcements.
    pub fn runtime(mut self, runtime: Runtime) -> Self {
        self.runtime = runtime;
        self
    }

    /// Puts every question and search on record, however it ends (R8). Without this, none is.
    ///
    /// With a strict log, a request whose record cannot be written fails with the code of the audit.
    pub fn audit(mut self, log: AuditLog) -> Self {
        self.audit = log;
        self
    }

    /// Whether records say how many chunks that hold enough of the question the asker may not see.
    /// Counted by words, when the answer has been given; with a strict log, before it is. Off
    /// unless set: it tells whoever reads the audit what a caller was not told (D10).
    pub fn count_withheld(mut self, yes: bool) -> Self {
        self.count_withheld = yes;
        self
    }

    /// The finished engine.
    ///
    /// # Errors
    /// `core.invalid_settings` listing every setting that is out of range, or when `rag.retrieval` is
    /// `dense` or `hybrid` without an embedder; `core.invalid_input` for a classifier that has no
    /// label for injections.
    pub fn build(self) -> Result<RagEngine> {
        self.settings.validate().adopt()?;
        self.model_settings.validate().adopt()?;
        let fingerprint = self.embedder.as_ref().map(|embedder| embedder.fingerprint().to_owned());
        let evidence = Evidence::new(&self.settings, fingerprint.as_deref());
        let retriever = match self.retriever {
            Some(retriever) => retriever,
            None => retriever(&self.settings, self.embedder, &self.runtime)?,
        };
        let (reranker, classifier) = (self.reranker, self.classifier);
        let retriever = behind(retriever, &self.settings, reranker, classifier, &self.runtime)?;
        Ok(RagEngine {
            index: self.index,
            retriever,
            evidence,
            model: self.model,
            masker: self.masker,
            recognisers: PiiMasker::new(),
            guard: InjectionGuard::new(),
            settings: self.settings,
            model_settings: self.model_settings,
            messages: self.messages,
            prompt: self.prompt,
            runtime: self.runtime,
            audit: self.audit,
            count_withheld: self.count_withheld,
            afterwards: Afterwards::default(),
        })
    }
}
