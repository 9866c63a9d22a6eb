//! Which embedder makes vectors.

use std::sync::Arc;

use kuhaku_core::{Announcement, Embedder, Problems, Runtime, Section as _, Sources};
#[cfg(feature = "llm")]
use kuhaku_llm::LlmSettings;
use kuhaku_rag::{EmbeddingProvider, RagSettings, Strategy};

#[cfg(feature = "dense")]
use super::local::LocalModels;
use super::plan::EmbedderPlan;
#[cfg(feature = "llm")]
use super::service;
use crate::error::Result;
#[cfg(any(not(feature = "dense"), not(feature = "llm")))]
use crate::error::feature_missing;

/// The local model that is taken unless another is named.
#[cfg(feature = "dense")]
const USUAL: &str = "intfloat/multilingual-e5-small";

/// Chooses the embedder that the settings name or leave open.
///
/// `rag.embedding_provider` is `none` for no vectors, `local` for a model on this machine, the name of
/// a service, or `auto`: the local model, when this build runs local models and it is there, else
/// none. With `rag.retrieval` set to `dense` or `hybrid`, `auto` is `local`: what was asked for is not
/// replaced by less.
///
/// Nothing is downloaded, and no text is sent before the embedder is used. A service is announced
/// through the [`Runtime`], with which text goes to which host.
///
/// ```no_run
/// use kuhaku::{EmbedderChoice, Rag, Runtime, Sources};
///
/// # async fn open() -> kuhaku::Result<()> {
/// let (sources, runtime) = (Sources::from_process_env(), Runtime::system());
/// let choice = EmbedderChoice::from_sources(&sources, runtime.clone())?;
/// if let Some(plan) = choice.preview()? {
///     println!("{plan}");
/// }
/// // The same choice is made by `open` when the settings are read from sources.
/// let rag = Rag::builder().sources(&sources)?.runtime(runtime).open().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct EmbedderChoice {
    settings: RagSettings,
    #[cfg(feature = "llm")]
    llm: LlmSettings,
    #[cfg(feature = "dense")]
    local: LocalModels,
    runtime: Runtime,
}

impl EmbedderChoice {
    /// Reads the settings from these sources.
    ///
    /// # Errors
    /// `core.invalid_settings` listing every value that is wrong.
    pub fn from_sources(sources: &Sources, runtime: Runtime) -> Result<Self> {
        let mut problems = Problems::default();
        let settings = RagSettings::read(sources, &mut problems);
        settings.check(&mut problems);
        #[cfg(feature = "llm")]
        let llm = {
            let llm = LlmSettings::read(sources, &mut problems);
            llm.check(&mut problems);
            llm
        };
        #[cfg(feature = "dense")]
        let local = LocalModels::read(sources, &mut problems);
        problems.into_result()?;
        Ok(Self {
            settings,
            #[cfg(feature = "llm")]
            llm,
            #[cfg(feature = "dense")]
            local,
            runtime,
        })
    }

    /// The same by other settings of retrieval, announcing through another handle.
    pub(crate) fn by(mut self, settings: RagSettings, runtime: Runtime) -> Self {
        self.settings = settings;
        self.runtime = runtime;
        self
    }

    /// Where vectors shall come from, `auto` resolved where the settings want vectors in any case.
    pub fn provider(&self) -> EmbeddingProvider {
        let wanted = matches!(self.settings.retrieval, Strategy::Dense | Strategy::Hybrid);
        match self.settings.embedding_provider {
            EmbeddingProvider::Auto if wanted => EmbeddingProvider::Local,
            provider => provider,
        }
    }

    /// Whether the settings want an embedder, so that going on without it is an error.
    pub fn is_named(&self) -> bool {
        !matches!(self.provider(), EmbeddingProvider::Auto | EmbeddingProvider::None)
    }

    /// What [`choose`](Self::choose) would choose now. Announces, opens and calls nothing. `None` when
    /// there is to be no embedder, or with `auto` when the local model is not there.
    ///
    /// # Errors
    /// For an embedder that the settings name: `kuhaku.feature_missing`, `onnx.not_pulled` with the
    /// command that gets it, `core.invalid_settings` when a key, an address or a model is missing.
    pub fn preview(&self) -> Result<Option<EmbedderPlan>> {
        let provider = self.provider();
        match provider {
            EmbeddingProvider::None => Ok(None),
            EmbeddingProvider::Auto => Ok(self.local_plan()),
            EmbeddingProvider::Local => self.check_local(),
            _ => self.service_plan(provider).map(Some),
        }
    }

    /// Chooses, announces and puts the embedder together, resilience included. A local model is read
    /// on a thread for blocking work. `None` as for [`preview`](Self::preview).
    ///
    /// # Errors
    /// As for [`preview`](Self::preview), and those of a local model that cannot be opened, unless
    /// `auto` has chosen it: then its failure is announced and there is none.
    pub async fn choose(&self) -> Result<Option<Arc<dyn Embedder>>> {
        let Some(plan) = self.preview()? else { return Ok(None) };
        if plan.host.is_some() {
            let text = format!("embedding: {plan}");
            self.runtime.announce(&Announcement::new("embedding", text));
            return self.service(plan.provider).map(Some);
        }
        match self.open_local(plan.model).await {
            Ok(embedder) => Ok(Some(embedder)),
            Err(error) if !self.is_named() => {
                let text = format!("embedding: {error}; there are no vectors");
                self.runtime.announce(&Announcement::new("embedding", text).prominent());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The settings that it chooses by.
    pub(crate) fn settings(&self) -> &RagSettings {
        &self.settings
    }
}

#[cfg(feature = "llm")]
impl EmbedderChoice {
    fn service_plan(&self, provider: EmbeddingProvider) -> Result<EmbedderPlan> {
        // A key, an address or a project that is missing shows here.
        self.service(provider)?;
        let service = self.service_of(provider)?;
        let model = service::model(service, &self.settings)?;
        Ok(EmbedderPlan { provider, model, host: Some(self.llm.host(service)) })
    }

    fn service(&self, provider: EmbeddingProvider) -> Result<Arc<dyn Embedder>> {
        service::embedder(self.service_of(provider)?, &self.settings, &self.llm, &self.runtime)
    }

    fn service_of(&self, provider: EmbeddingProvider) -> Result<kuhaku_llm::Service> {
        // Every other provider has been told apart.
        Ok(match service::service(provider) {
            Some(service) => service,
            None => provider.as_str().parse()?,
        })
    }
}

#[cfg(not(feature = "llm"))]
impl EmbedderChoice {
    fn service_plan(&self, _: EmbeddingProvider) -> Result<EmbedderPlan> {
        Err(feature_missing("make vectors with a service", "llm"))
    }

    fn service(&self, _: EmbeddingProvider) -> Result<Arc<dyn Embedder>> {
        Err(feature_missing("make vectors with a service", "llm"))
    }
}

#[cfg(feature = "dense")]
impl EmbedderChoice {
    fn model(&self) -> &str {
        let set = self.settings.embedding_model.as_deref().map(str::trim);
        set.filter(|name| !name.is_empty()).unwrap_or(USUAL)
    }

    fn plan(&self) -> EmbedderPlan {
        let (provider, model) = (EmbeddingProvider::Local, self.model().to_owned());
        EmbedderPlan { provider, model, host: None }
    }

    fn local_plan(&self) -> Option<EmbedderPlan> {
        self.local.has(self.model()).then(|| self.plan())
    }

    fn check_local(&self) -> Result<Option<EmbedderPlan>> {
        self.local.check(self.model())?;
        Ok(Some(self.plan()))
    }

    async fn open_local(&self, model: String) -> Result<Arc<dyn Embedder>> {
        let (local, settings) = (self.local.clone(), self.settings.clone());
        let runtime = self.runtime.clone();
        blocking(move || local.embedder(&model, &settings, &runtime)).await
    }

    /// The reranker that the settings name.
    ///
    /// # Errors
    /// Those of the store and of the model.
    pub(crate) async fn reranker(&self) -> Result<Arc<dyn kuhaku_core::Reranker>> {
        let (local, runtime) = (self.local.clone(), self.runtime.clone());
        let model = self.settings.reranker_model.trim().to_owned();
        blocking(move || local.reranker(&model, &runtime)).await
    }
}

/// Runs work that blocks where it may.
#[cfg(feature = "dense")]
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|source| {
        let kind = crate::ErrorKind::System;
        kuhaku_core::Failure::new(kind, "read a model", "its thread did not end as it should")
            .next("report this with what it was doing")
            .caused_by(source)
    })?
}

#[cfg(not(feature = "dense"))]
impl EmbedderChoice {
    fn local_plan(&self) -> Option<EmbedderPlan> {
        None
    }

    fn check_local(&self) -> Result<Option<EmbedderPlan>> {
        Err(feature_missing("make vectors with a local model", "dense"))
    }

    async fn open_local(&self, _: String) -> Result<Arc<dyn Embedder>> {
        Err(feature_missing("make vectors with a local model", "dense"))
    }

    /// The reranker that the settings name.
    pub(crate) async fn reranker(&self) -> Result<Arc<dyn kuhaku_core::Reranker>> {
        Err(feature_missing("rerank with a local model", "dense"))
    }
}
