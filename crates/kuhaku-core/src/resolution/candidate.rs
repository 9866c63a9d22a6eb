//! What can be chosen.

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;

/// What is to be resolved, for example a language model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct Capability {
    /// The key of the decision, for example `llm`.
    pub kind: &'static str,
    /// What it is, in a sentence: `a language model`.
    pub title: &'static str,
    /// Which text it is sent, in a sentence: `questions and the passages found for them`.
    pub sends: &'static str,
    /// What a remembered decision holds for: it is made anew when one of these changes.
    pub fingerprint: BTreeMap<String, String>,
}

impl Capability {
    /// A capability whose remembered decision depends on nothing.
    pub fn new(kind: &'static str, title: &'static str, sends: &'static str) -> Self {
        Self { kind, title, sends, fingerprint: BTreeMap::new() }
    }

    /// Names a fact on which a decision depends, for example the kind of graphics card.
    pub fn depends_on(mut self, fact: impl Into<String>, value: impl Into<String>) -> Self {
        self.fingerprint.insert(fact.into(), value.into());
        self
    }
}

/// One thing that could be used. It is a description; nothing was built to make it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct Candidate {
    /// The source's name, or that name, a colon and more: `openai`, `ollama:small:3b`.
    pub id: String,
    /// What a person reads, for example with the model's name.
    pub label: String,
    /// Without anybody to ask, the lowest rank wins; candidates of one rank go by their order.
    pub rank: u32,
    /// Passed over, unless remembered or asked for, while a candidate that is not one is ready.
    pub last_resort: bool,
    /// The host that text is sent to; absent when it stays in this process.
    pub host: Option<String>,
    /// Whether it can be used now.
    pub readiness: Readiness,
}

/// Whether a candidate can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Readiness {
    /// Now.
    Ready,
    /// After something that only a person can do: `set OPENAI_API_KEY`.
    Missing(String),
    /// After these steps, each of which needs consent of its own.
    AfterConsent(Vec<ConsentStep>),
}

impl Candidate {
    /// A candidate of rank 0 that is ready and sends text nowhere.
    pub fn new(id: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            label: label.into(),
            rank: 0,
            last_resort: false,
            host: None,
            readiness: Readiness::Ready,
        }
    }

    /// Sets the rank.
    pub fn rank(mut self, rank: u32) -> Self {
        self.rank = rank;
        self
    }

    /// Sets the host that text is sent to.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Passes over it while another one is ready.
    pub fn last_resort(mut self) -> Self {
        self.last_resort = true;
        self
    }

    /// Says what a person must do first.
    pub fn missing(mut self, step: impl Into<String>) -> Self {
        self.readiness = Readiness::Missing(step.into());
        self
    }

    /// Says what must be consented to first.
    pub fn after_consent(mut self, steps: impl IntoIterator<Item = ConsentStep>) -> Self {
        self.readiness = Readiness::AfterConsent(steps.into_iter().collect());
        self
    }

    /// Whether it can be used now.
    pub fn is_ready(&self) -> bool {
        self.readiness == Readiness::Ready
    }

    /// What it takes, in a few words; empty when it is ready.
    pub(super) fn need(&self) -> String {
        match &self.readiness {
            Readiness::Ready => String::new(),
            Readiness::Missing(step) => step.clone(),
            Readiness::AfterConsent(steps) => {
                let steps: Vec<_> = steps.iter().map(|step| step.command.as_str()).collect();
                steps.join(", then ")
            }
        }
    }
}

/// A step that costs something and therefore is asked for: a download, an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct ConsentStep {
    /// What is done: `download the model multilingual-e5-small`.
    pub what: String,
    /// How a person does it without being asked: `run kuhaku models download e5-small`.
    pub command: String,
    /// The host that it comes from.
    pub host: Option<String>,
    /// Its size in bytes, when known.
    pub bytes: Option<u64>,
}

impl ConsentStep {
    /// A step of unknown size that needs no network.
    pub fn new(what: impl Into<String>, command: impl Into<String>) -> Self {
        Self { what: what.into(), command: command.into(), host: None, bytes: None }
    }

    /// Sets where it comes from and how large it is.
    pub fn download(mut self, host: impl Into<String>, bytes: Option<u64>) -> Self {
        self.host = Some(host.into());
        self.bytes = bytes;
        self
    }
}

impl fmt::Display for ConsentStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(host) = &self.host {
            write!(f, " from {host}")?;
        }
        match self.bytes {
            Some(bytes) => write!(f, " ({} MB)", bytes.div_ceil(1_000_000)),
            None if self.host.is_some() => f.write_str(" (of unknown size)"),
            None => Ok(()),
        }
    }
}

/// Knows some candidates of one capability.
#[async_trait]
pub trait CandidateSource: Send + Sync + fmt::Debug {
    /// The name with which the ids of its candidates begin, and which settings give.
    fn name(&self) -> &str;

    /// What it has now, best first. It downloads, installs and builds nothing, and does not fail:
    /// what is not there is a candidate with [`Readiness::Missing`], or none. It is dropped when
    /// the time of the resolution is over.
    async fn probe(&self) -> Vec<Candidate>;
}
