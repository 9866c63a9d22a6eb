//! Puts the parts of [`Rag`] together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kuhaku_core::{
    Announcement, AuditLog, Embedder, LlmProvider, Masker, PiiMasker, Reranker, Runtime,
    Section as _, Sources, TextClassifier,
};
use kuhaku_index::{Ann, ChunkIndex, IdKey};
use kuhaku_rag::{
    Ingestor, Messages, ModelSettings, Prompt, RagEngine, RagSettings, Retriever, Strategy,
};
use tempfile::TempDir;

use crate::embedding::EmbedderChoice;
use crate::error::{Result, system};
use crate::facade::audit::{AuditSettings, AuditTrail};
use crate::facade::embedder::EmbedderSource;
use crate::facade::rag::{Parts, Rag};

/// Makes a [`Rag`]. Nothing is read or written before [`RagBuilder::open`].
#[derive(Clone, Debug)]
#[must_use]
pub struct RagBuilder {
    settings: RagSettings,
    model_settings: ModelSettings,
    folder: Option<PathBuf>,
    base: Option<PathBuf>,
    create: bool,
    any_settings: bool,
    id_key: Option<IdKey>,
    model: Option<Arc<dyn LlmProvider>>,
    embedder: EmbedderSource,
    reranker: Option<Arc<dyn Reranker>>,
    classifier: Option<Arc<dyn TextClassifier>>,
    retriever: Option<Arc<dyn Retriever>>,
    messages: Messages,
    prompt: Prompt,
    runtime: Runtime,
    audit_settings: AuditSettings,
    audit: Option<AuditLog>,
}

impl Default for RagBuilder {
    fn default() -> Self {
        Self {
            settings: RagSettings::default(),
            model_settings: ModelSettings::default(),
            folder: None,
            base: None,
            create: true,
            any_settings: false,
            id_key: None,
            model: None,
            embedder: EmbedderSource::default(),
            reranker: None,
            classifier: None,
            retriever: None,
            messages: Messages::default(),
            prompt: Prompt::new(),
            runtime: Runtime::system(),
            audit_settings: AuditSettings::default(),
            audit: None,
        }
    }
}

impl RagBuilder {
    /// Reads all settings from these sources, and takes the embedder and the reranker that they name or
    /// leave open: [`EmbedderChoice`], `rag.rerank_enabled`.
    ///
    /// # Errors
    /// `core.invalid_settings` listing every value that is wrong.
    pub fn sources(mut self, sources: &Sources) -> Result<Self> {
        let mut problems = kuhaku_core::Problems::default();
        self.settings = RagSettings::read(sources, &mut problems);
        self.settings.check(&mut problems);
        self.model_settings = ModelSettings::read(sources, &mut problems);
        self.model_settings.check(&mut problems);
        self.audit_settings = AuditSettings::read(sources, &mut problems);
        self.audit_settings.check(&mut problems);
        sources.refuse(RagSettings::dropped(), &mut problems);
        // Read elsewhere; one error lists what is wrong with any of them.
        #[cfg(feature = "llm")]
        let _ = crate::ModelChoice::read(sources, &mut problems);
        #[cfg(feature = "dense")]
        let _ = crate::embedding::LocalModels::read(sources, &mut problems);
        problems.into_result()?;
        let choice = EmbedderChoice::from_sources(sources, self.runtime.clone())?;
        self.embedder = EmbedderSource::Settings(Box::new(choice));
        Ok(self)
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

    /// Sets the settings of the audit.
    pub fn audit_settings(mut self, settings: AuditSettings) -> Self {
        self.audit_settings = settings;
        self
    }

    /// Puts requests on record in this log, whatever the settings say of a file.
    pub fn audit(mut self, log: AuditLog) -> Self {
        self.audit = Some(log);
        self
    }

    /// Keeps the index in this folder; wins over the setting `rag.index`.
    pub fn index(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = Some(folder.as_ref().to_path_buf());
        self
    }

    /// The folder that path ids are relative to, for a temporary index. An index in a folder of its
    /// own takes the folder above it (D17).
    pub fn base(mut self, folder: impl AsRef<Path>) -> Self {
        self.base = Some(folder.as_ref().to_path_buf());
        self
    }

    /// Takes an index in a temporary folder that removes itself, whatever the settings say.
    pub fn temporary(mut self) -> Self {
        self.folder = None;
        self.settings.index = None;
        self
    }

    /// Whether to make an index where there is none. Default: yes.
    pub fn create(mut self, yes: bool) -> Self {
        self.create = yes;
        self
    }

    /// Whether to open an index whatever settings it was made with, so that [`Rag::reindex`] can take
    /// it over to others. Default: no.
    pub fn any_settings(mut self, yes: bool) -> Self {
        self.any_settings = yes;
        self
    }

    /// Sets the secret that path ids are made from; drawn at random otherwise. Two indexes that are
    /// to be compared need the same one.
    pub fn id_key(mut self, key: IdKey) -> Self {
        self.id_key = Some(key);
        self
    }

    /// Writes answers with a model. Without one, answers are extractive.
    pub fn model(mut self, model: Arc<dyn LlmProvider>) -> Self {
        self.model = Some(model);
        self
    }

    /// Makes vectors of what is ingested, and of questions, whatever the settings say. An index that
    /// holds documents takes the embedder that it was made with and no other.
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = EmbedderSource::Given(embedder);
        self
    }

    /// Opens the index without its embedder: searches go by words, and what is ingested gets the
    /// vectors of equal texts or none. For what needs no vectors, since a local model is read for a
    /// second per gigabyte.
    pub fn without_embedder(mut self) -> Self {
        self.embedder = EmbedderSource::None;
        self
    }

    /// Judges the best chunks again, whatever the settings say.
    pub fn reranker(mut self, reranker: Arc<dyn Reranker>) -> Self {
        self.reranker = Some(reranker);
        self
    }

    /// Holds back chunks that look like an injection to a classifier.
    pub fn classifier(mut self, classifier: Arc<dyn TextClassifier>) -> Self {
        self.classifier = Some(classifier);
        self
    }

    /// Finds chunks another way.
    pub fn retriever(mut self, retriever: impl Retriever + 'static) -> Self {
        self.retriever = Some(Arc::new(retriever));
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

    /// Opens the index and puts the parts together. A new index, and one that holds nothing yet, takes
    /// the embedder on; one that holds documents without vectors stays as it is.
    ///
    /// When the embedder that the index was made with cannot be had, which is announced, the index is
    /// searched by words, unless `rag.retrieval` asks for vectors; what is ingested fails then.
    ///
    /// # Errors
    /// `core.invalid_settings`, `index.fingerprint_mismatch` when the index was made with other
    /// settings or another embedder, and what the engine says of a folder that it cannot open; those of
    /// [`EmbedderChoice::choose`] for an embedder that the settings name; `audit.write` when the audit
    /// is strict and cannot be written.
    pub async fn open(self) -> Result<Rag> {
        self.settings.validate()?;
        self.model_settings.validate()?;
        self.audit_settings.validate()?;
        let masker: Arc<dyn Masker> = Arc::new(PiiMasker::new());
        let opened = self.open_index(masker.as_ref()).await?;
        let Opened { index, folder, temporary } = opened;
        let base = match (&temporary, &folder) {
            (None, Some(folder)) => parent(folder)?,
            _ => self.base.clone(),
        };
        let kept = folder.as_deref().filter(|_| temporary.is_none());
        let audit = kept.map(|it| AuditTrail::new(&self.audit_settings, it, &index.id_key()));
        let log = self.audit_log(audit.as_ref())?;
        let source = self.embedder.by(&self.settings, &self.runtime)?;
        let embedder = source.of(index.as_ref(), self.any_settings, &self.runtime).await?;
        let reranker = self.reranker_of_settings().await?;
        let mut ingestor =
            Ingestor::new(index.clone(), masker.clone(), self.settings.clone(), base.as_deref())?
                .runtime(self.runtime.clone())
                .embedding_batch(self.settings.embedding_batch);
        if let Some(embedder) = &embedder {
            ingestor = ingestor.embedder(embedder.clone());
        }
        let mut settings = self.settings;
        if self.embedder.is_none() {
            settings.retrieval = Strategy::Sparse;
        }
        let mut engine = RagEngine::builder(index.clone())
            .masker(masker)
            .settings(settings)
            .model_settings(self.model_settings)
            .messages(self.messages)
            .prompt(self.prompt)
            .runtime(self.runtime)
            .audit(log)
            .count_withheld(self.audit_settings.audit_withheld_count);
        if let Some(model) = self.model {
            engine = engine.model(model);
        }
        if let Some(embedder) = &embedder {
            engine = engine.embedder(embedder.clone());
        }
        if let Some(reranker) = reranker {
            engine = engine.reranker(reranker);
        }
        if let Some(classifier) = self.classifier {
            engine = engine.classifier(classifier);
        }
        if let Some(retriever) = self.retriever {
            engine = engine.retriever(retriever);
        }
        let engine = engine.build()?;
        Ok(Rag::new(Parts { index, ingestor, engine, embedder, audit, folder, temporary }))
    }

    /// The reranker that was given, else the one that the settings name when they want one.
    async fn reranker_of_settings(&self) -> Result<Option<Arc<dyn Reranker>>> {
        if self.reranker.is_some() || !self.settings.rerank_enabled {
            return Ok(self.reranker.clone());
        }
        let choice = match &self.embedder {
            EmbedderSource::Settings(choice) => choice.as_ref().clone(),
            _ => EmbedderChoice::from_sources(&Sources::new(), self.runtime.clone())?,
        };
        choice.by(self.settings.clone(), self.runtime.clone()).reranker().await.map(Some)
    }

    /// The log for requests: the one that was given, else that of the index.
    fn audit_log(&self, trail: Option<&AuditTrail>) -> Result<AuditLog> {
        match (&self.audit, trail) {
            (Some(log), _) => Ok(log.clone()),
            (None, Some(trail)) => trail.start(&self.audit_settings, &self.runtime),
            (None, None) => {
                if self.audit_settings.audit_enabled && self.audit_settings.audit_log_path.is_some()
                {
                    let text = "a temporary index leaves no audit records, since the key to verify \
                                them would be gone with it";
                    self.runtime.announce(&Announcement::new("audit", text));
                }
                Ok(AuditLog::disabled())
            }
        }
    }

    /// How vectors are searched; no graph is built for who asks nothing by vectors.
    fn vector_search(&self) -> Ann {
        let by_words = self.embedder.is_none() || self.settings.retrieval == Strategy::Sparse;
        if by_words { Ann::Exact } else { self.settings.vector_search() }
    }

    #[cfg(feature = "sqlite")]
    async fn open_index(&self, masker: &dyn Masker) -> Result<Opened> {
        use kuhaku_index::{ErrorKind as IndexErrorKind, OpenOptions, SqliteIndex};

        let (folder, temporary) = match self.folder.clone().or(self.settings.index.clone()) {
            Some(folder) => (folder, None),
            None => {
                let made = tempfile::Builder::new().prefix("kuhaku-").tempdir();
                let made = made.map_err(|source| system("make a temporary folder", source))?;
                (made.path().to_path_buf(), Some(made))
            }
        };
        let mut options = OpenOptions::new(&folder, self.runtime.clone())
            .create(self.create || temporary.is_some())
            .ann(self.vector_search());
        options.id_key = self.id_key.clone();
        let wanted = Ingestor::fingerprint(&self.settings, masker)?;
        if !self.any_settings {
            options.fingerprint.tokenizer = self.settings.tokenizer;
            options.fingerprint.language = self.settings.language;
            options.fingerprint.masker = Some(wanted.masker.clone());
        }
        let fresh = options.clone().fingerprint(wanted.clone());
        let index = match SqliteIndex::open(options.create(false)).await {
            Err(error) if matches!(error.kind(), IndexErrorKind::NotFound) && fresh.create => {
                SqliteIndex::open(fresh).await?
            }
            opened => opened?,
        };
        Ok(Opened { index: Arc::new(index), folder: Some(folder), temporary })
    }

    #[cfg(not(feature = "sqlite"))]
    async fn open_index(&self, masker: &dyn Masker) -> Result<Opened> {
        use kuhaku_index::MemoryIndex;

        if self.folder.is_some() || self.settings.index.is_some() {
            return Err(crate::error::feature_missing("keep an index in a folder", "sqlite"));
        }
        // Graphs are built when an index is opened, and one in memory is empty then.
        if self.vector_search() != Ann::Exact {
            return Err(crate::error::feature_missing("search vectors by a graph", "sqlite"));
        }
        let key = match &self.id_key {
            Some(key) => key.clone(),
            None => IdKey::random(&self.runtime)?,
        };
        let index = MemoryIndex::new(Ingestor::fingerprint(&self.settings, masker)?, key);
        Ok(Opened { index: Arc::new(index), folder: None, temporary: None })
    }
}

/// An index, and what keeps it where it is.
struct Opened {
    index: Arc<dyn ChunkIndex>,
    folder: Option<PathBuf>,
    temporary: Option<TempDir>,
}

/// The folder above an index, as it really is.
fn parent(folder: &Path) -> Result<Option<PathBuf>> {
    let real = std::fs::canonicalize(folder)
        .map_err(|source| system("find the folder of the index", source))?;
    Ok(real.parent().map(Path::to_path_buf))
}
