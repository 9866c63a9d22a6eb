//! Putting an engine together.

use std::sync::Arc;

use kuhaku_core::{
    AuditLog, InjectionGuard, LlmProvider, Masker, PiiMasker, Runtime, Section as _,
};
use kuhaku_index::ChunkIndex;

use crate::engine::RagEngine;
use crate::error::{Adopt as _, Result};
use crate::messages::Messages;
use crate::prompt::Prompt;
use crate::retrieve::{Retriever, SparseRetriever};
use crate::settings::{ModelSettings, RagSettings};
use crate::withheld::Afterwards;

/// Makes a [`RagEngine`].
#[derive(Clone, Debug)]
#[must_use]
pub struct RagEngineBuilder {
    index: Arc<dyn ChunkIndex>,
    retriever: Option<Arc<dyn Retriever>>,
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

    /// Finds chunks another way. The engine checks the scope again on whatever it returns.
    pub fn retriever(mut self, retriever: impl Retriever + 'static) -> Self {
        self.retriever = Some(Arc::new(retriever));
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
    /// `core.invalid_settings` listing every setting that is out of range.
    pub fn build(self) -> Result<RagEngine> {
        self.settings.validate().adopt()?;
        self.model_settings.validate().adopt()?;
        let retriever =
            self.retriever.unwrap_or_else(|| Arc::new(SparseRetriever::new(self.settings.bm25())));
        Ok(RagEngine {
            index: self.index,
            retriever,
            model: self.model,
            masker: self.masker,
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
