//! What goes into a decision, and what comes of it.

use std::sync::Arc;
use std::time::Duration;

use super::candidate::{Candidate, CandidateSource, Capability, Readiness};
use super::consent::{Consent, NobodyToAsk};
use super::memory::DecisionMemory;

use super::verdict::{Reason, Resolution};
use crate::error::{Error, ErrorKind, Result};
use crate::runtime::{Announcement, Runtime};

const PROBE_LIMIT: Duration = Duration::from_secs(1);

/// Chooses among candidates:
///
/// 1. what the settings name; consent is asked for whatever it takes;
/// 2. the baseline alone, when choosing by itself is turned off;
/// 3. what was chosen before, while it is ready;
/// 4. the only one that is ready, without a question;
/// 5. what a person picks among several, if there is anybody to ask;
/// 6. the one of the lowest rank.
///
/// What the settings name and what a person picks is remembered, unless it is [for this
/// run](Self::for_this_run); the rest would come out the same again. Every decision is announced, with what text goes where.
///
/// ```
/// use std::sync::Arc;
/// use async_trait::async_trait;
/// use kuhaku_core::{Candidate, CandidateSource, Capability, Resolver, Runtime};
///
/// #[derive(Debug)]
/// struct ByKey(Option<&'static str>);
///
/// #[async_trait]
/// impl CandidateSource for ByKey {
///     fn name(&self) -> &str {
///         "acme"
///     }
///     async fn probe(&self) -> Vec<Candidate> {
///         let acme = Candidate::new("acme", "acme-large").host("api.acme.example");
///         vec![if self.0.is_some() { acme } else { acme.missing("set ACME_API_KEY") }]
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let llm = Capability::new("llm", "a language model", "questions");
/// let resolver = Resolver::new(Runtime::system(), llm).source(ByKey(Some("key")));
/// assert_eq!(
///     resolver.resolve().await?.explain(),
///     "llm: acme (acme-large), the only one that is ready; questions go to api.acme.example",
/// );
/// # Ok::<(), kuhaku_core::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
#[must_use]
pub struct Resolver {
    pub(super) runtime: Runtime,
    pub(super) capability: Capability,
    pub(super) sources: Vec<Arc<dyn CandidateSource>>,
    pub(super) requested: Option<String>,
    pub(super) baseline: Option<Candidate>,
    pub(super) automatic: bool,
    memory: Option<DecisionMemory>,
    for_this_run: bool,
    pub(super) consent: Arc<dyn Consent>,
    pub(super) probe_limit: Duration,
}

impl Resolver {
    /// A resolver without sources, memory, or anybody to ask.
    pub fn new(runtime: Runtime, capability: Capability) -> Self {
        Self {
            runtime,
            capability,
            sources: Vec::new(),
            requested: None,
            baseline: None,
            automatic: true,
            memory: None,
            for_this_run: false,
            consent: Arc::new(NobodyToAsk),
            probe_limit: PROBE_LIMIT,
        }
    }

    /// Adds a source. Sources are listed to people in this order.
    pub fn source(mut self, source: impl CandidateSource + 'static) -> Self {
        self.sources.push(Arc::new(source));
        self
    }

    /// Sets what the settings name: a source, or the id of a candidate. Case and white space around
    /// it do not matter; `auto` and a blank name are none.
    pub fn requested(mut self, id: &str) -> Self {
        let id = id.trim();
        let named = !id.is_empty() && !id.eq_ignore_ascii_case("auto");
        self.requested = named.then(|| id.to_owned());
        self
    }

    /// Turns choosing by itself on or off (`KUHAKU_AUTO`); on unless said.
    pub fn automatic(mut self, automatic: bool) -> Self {
        self.automatic = automatic;
        self
    }

    /// Sets what is used when choosing by itself is turned off.
    pub fn baseline(mut self, baseline: Candidate) -> Self {
        self.baseline = Some(baseline);
        self
    }

    /// Remembers choices, and goes by them.
    pub fn memory(mut self, memory: DecisionMemory) -> Self {
        self.memory = Some(memory);
        self
    }

    /// Whether the decision is for this run alone and thus never remembered; no unless said. What was
    /// chosen before counts all the same.
    pub fn for_this_run(mut self, yes: bool) -> Self {
        self.for_this_run = yes;
        self
    }

    /// Asks a person.
    pub fn consent(mut self, consent: impl Consent + 'static) -> Self {
        self.consent = Arc::new(consent);
        self
    }

    /// Limits how long sources are waited for; a second unless said. Sources that are silent for
    /// longer have no candidates.
    pub fn probe_limit(mut self, limit: Duration) -> Self {
        self.probe_limit = limit;
        self
    }

    /// Decides, asks where needed, announces, and remembers.
    ///
    /// # Errors
    /// [`ErrorKind::CapabilityUnavailable`] when there is nothing to choose, with what each
    /// candidate would take; [`ErrorKind::ConsentRequired`] when a step of what the settings name
    /// was not consented to.
    pub async fn resolve(&self) -> Result<Resolution> {
        let resolution = self.decide(true).await?;
        if let Readiness::AfterConsent(steps) = &resolution.candidate.readiness {
            for step in steps {
                let asked = self.consent.is_interactive();
                if !asked || !self.consent.confirm(step).await {
                    let wrong = if asked { "this was declined" } else { "nobody can be asked" };
                    let tried = format!("{step} for {}", resolution.candidate.id);
                    return Err(Error::new(ErrorKind::ConsentRequired, tried, wrong)
                        .next(step.command.clone()));
                }
            }
        }
        let chosen = matches!(resolution.reason, Reason::Requested | Reason::PickedByPerson);
        if chosen && !self.for_this_run {
            self.remember(&resolution.candidate.id);
        }
        let notice = self.notice(&resolution.candidate.id, resolution.explain());
        let prominent = resolution.reason == Reason::SafeDefault;
        self.runtime.announce(&if prominent { notice.prominent() } else { notice });
        Ok(resolution)
    }

    /// The same for something that one can do without: `None`, and an announcement that ends with
    /// `instead`, when nothing is ready.
    ///
    /// # Errors
    /// Those of [`Self::resolve`], for something that the settings name.
    pub async fn resolve_or(&self, instead: &str) -> Result<Option<Resolution>> {
        match self.resolve().await {
            Err(error)
                if self.requested.is_none()
                    && *error.kind() == ErrorKind::CapabilityUnavailable =>
            {
                let text = format!("going on without {}: {instead}", self.capability.title);
                self.runtime.announce(&self.notice("none", text).prominent());
                Ok(None)
            }
            outcome => outcome.map(Some),
        }
    }

    /// What [`Self::resolve`] would decide now. Asks nobody, announces no decision, remembers and
    /// changes nothing.
    ///
    /// # Errors
    /// [`ErrorKind::CapabilityUnavailable`] as in [`Self::resolve`].
    pub async fn preview(&self) -> Result<Resolution> {
        self.decide(false).await
    }

    /// What was chosen before, if that still holds.
    pub(super) fn recall(&self) -> Option<String> {
        self.memory.as_ref()?.recall(&self.runtime, &self.capability)
    }

    fn remember(&self, id: &str) {
        let known = self.recall();
        if let Some(memory) = self.memory.as_ref().filter(|_| known.as_deref() != Some(id)) {
            memory.remember(&self.runtime, &self.capability, id);
        }
    }

    pub(super) fn notice(&self, about: &str, text: String) -> Announcement {
        Announcement::new(format!("resolution.{}.{about}", self.capability.kind), text)
    }
}
