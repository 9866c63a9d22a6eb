//! Which language model answers: from the settings to a provider.

use std::path::PathBuf;
use std::sync::Arc;

use kuhaku_core::{
    Capability, Consent, DecisionMemory, Error, ErrorKind, HttpClient, LlmProvider, NobodyToAsk,
    Problems, Resolution, Resolver, Runtime, Section as _, Sources,
};
use kuhaku_llm::{LlmSettings, Service};

use crate::error::Result;

/// Where choices are remembered, in the project's folder.
const MEMORY: &str = ".kuhaku/decisions.json";

/// What happens without a model.
const WITHOUT: &str = "answers are sentences of the documents";

/// What a model is sent, unless the tool that asks says otherwise.
const SENDS: &str = "questions and the passages found for them";

kuhaku_core::settings! {
    /// Settings of choosing by itself: top level, variables `KUHAKU_…`.
    pub struct ChoiceSettings in "" {
        /// Whether a model may be chosen when `llm_provider` is `auto`. When not, there is none.
        auto: bool = true;
        /// The folder in whose `.kuhaku` the choices of persons are remembered; the working
        /// directory without it.
        project_dir: Option<PathBuf> = None;
    }
}

/// Chooses the language model that the settings name or leave open.
///
/// `llm_provider` is `none` for no model, the name of a service, or `auto`: what was chosen before,
/// the only service that is ready, what a person picks, or the safest one. With `auto` and nothing
/// ready there is no model. Each choice is announced through the [`Runtime`], with which text goes to
/// which host; what a person or the settings choose is remembered in `.kuhaku/decisions.json`.
///
/// Nothing is downloaded and no text is sent. Only Ollama is asked, where the settings say it is, for
/// the models that it has.
///
/// ```no_run
/// use kuhaku::{ModelChoice, Rag, Runtime, Sources};
///
/// # async fn open() -> kuhaku::Result<()> {
/// let (sources, runtime) = (Sources::from_process_env(), Runtime::system());
/// let model = ModelChoice::from_sources(&sources, runtime.clone())?.choose().await?;
/// let mut builder = Rag::builder().sources(&sources)?.runtime(runtime);
/// if let Some(model) = model {
///     builder = builder.model(model);
/// }
/// let rag = builder.open().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ModelChoice {
    llm: LlmSettings,
    settings: ChoiceSettings,
    runtime: Runtime,
    consent: Arc<dyn Consent>,
    for_this_run: bool,
    sends: &'static str,
}

impl ModelChoice {
    /// A choice by these settings, with nobody to ask.
    pub fn new(llm: LlmSettings, settings: ChoiceSettings, runtime: Runtime) -> Self {
        let (consent, for_this_run) = (Arc::new(NobodyToAsk), false);
        Self { llm, settings, runtime, consent, for_this_run, sends: SENDS }
    }

    /// Reads the settings from these sources.
    ///
    /// # Errors
    /// `core.invalid_settings` listing every value that is wrong.
    pub fn from_sources(sources: &Sources, runtime: Runtime) -> Result<Self> {
        let mut problems = Problems::default();
        let (llm, settings) = Self::read(sources, &mut problems);
        problems.into_result()?;
        Ok(Self::new(llm, settings, runtime))
    }

    /// Reads and checks the settings, and notes what is wrong with them.
    pub(crate) fn read(
        sources: &Sources,
        problems: &mut Problems,
    ) -> (LlmSettings, ChoiceSettings) {
        let llm = LlmSettings::read(sources, problems);
        llm.check(problems);
        let settings = ChoiceSettings::read(sources, problems);
        settings.check(problems);
        (llm, settings)
    }

    /// Asks a person where several models are ready.
    pub fn consent(mut self, consent: impl Consent + 'static) -> Self {
        self.consent = Arc::new(consent);
        self
    }

    /// Whether the choice is for this run alone, as one by an argument of a command is: it is not
    /// remembered. Default: no.
    pub fn for_this_run(mut self, yes: bool) -> Self {
        self.for_this_run = yes;
        self
    }

    /// Says what the model is sent, for the announcement of the choice.
    #[cfg(feature = "extract")]
    pub(crate) fn sends(mut self, what: &'static str) -> Self {
        self.sends = what;
        self
    }

    /// The service that the settings name, so that going on without it is an error; `None` for
    /// `auto` and `none`.
    ///
    /// # Errors
    /// `core.invalid_settings` when there is none of that name.
    pub fn named(&self) -> Result<Option<Service>> {
        let name = self.name().split(':').next().unwrap_or_default();
        let open = ["", "auto", "none"].iter().any(|open| name.eq_ignore_ascii_case(open));
        // This error knows the nearest name, and does not quote what may be a key under the wrong
        // setting.
        Ok(if open { None } else { Some(name.parse()?) })
    }

    /// Chooses, announces, remembers, and puts the provider together, resilience included. `None`
    /// when the settings want no model, or leave it open and none is ready.
    ///
    /// # Errors
    /// For a service that the settings name: `core.invalid_settings` when there is none of that
    /// name, `core.capability_unavailable` when it is not ready, with the next step.
    pub async fn choose(&self) -> Result<Option<Arc<dyn LlmProvider>>> {
        if self.is_none() {
            return Ok(None);
        }
        let http = HttpClient::builder().build()?;
        let Some(resolution) = self.resolver(&http)?.resolve_or(WITHOUT).await? else {
            return Ok(None);
        };
        Ok(Some(self.llm.provider(&resolution.candidate.id, &http, &self.runtime)?))
    }

    /// The same for work that cannot go on without a model.
    ///
    /// # Errors
    /// As for [`choose`](Self::choose), and `core.capability_unavailable` when the settings want no
    /// model or nothing is ready, with what each service needs.
    pub async fn require(&self) -> Result<Arc<dyn LlmProvider>> {
        if self.is_none() {
            return Err(Error::new(
                ErrorKind::CapabilityUnavailable,
                "find a language model",
                "the setting llm_provider is `none`",
            )
            .next("set KUHAKU_LLM_PROVIDER to `auto`, or to the name of a service")
            .into());
        }
        let http = HttpClient::builder().build()?;
        let resolution = self.resolver(&http)?.resolve().await?;
        Ok(self.llm.provider(&resolution.candidate.id, &http, &self.runtime)?)
    }

    /// What [`choose`](Self::choose) would choose now, and why. Asks nobody, announces and changes
    /// nothing. `None` when the settings want no model.
    ///
    /// # Errors
    /// As for [`choose`](Self::choose), and `core.capability_unavailable` when nothing is ready, with
    /// what each service needs.
    pub async fn preview(&self) -> Result<Option<Resolution>> {
        if self.is_none() {
            return Ok(None);
        }
        let http = HttpClient::builder().build()?;
        let resolution = self.resolver(&http)?.preview().await?;
        // An address or a key that is none shows here.
        self.llm.provider(&resolution.candidate.id, &http, &self.runtime)?;
        Ok(Some(resolution))
    }

    fn name(&self) -> &str {
        self.llm.llm_provider.trim()
    }

    fn is_none(&self) -> bool {
        self.name().eq_ignore_ascii_case("none")
    }

    fn resolver(&self, http: &HttpClient) -> Result<Resolver> {
        self.named()?;
        let capability = Capability::new("llm", "a language model", self.sends);
        let folder = self.settings.project_dir.clone().unwrap_or_default();
        let resolver = Resolver::new(self.runtime.clone(), capability)
            .requested(self.name())
            .automatic(self.settings.auto)
            .memory(DecisionMemory::at(folder.join(MEMORY)))
            .for_this_run(self.for_this_run)
            .consent(self.consent.clone());
        Ok(self.llm.candidates(http).into_iter().fold(resolver, Resolver::source))
    }
}
