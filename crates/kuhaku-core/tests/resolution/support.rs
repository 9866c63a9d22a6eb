//! Sources, people and announcers that follow a script and keep what they saw.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kuhaku_core::{
    Announcement, Announcer, Candidate, CandidateSource, Capability, Consent, ConsentStep,
    Resolver, Runtime,
};

/// What was asked, announced or probed, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn push(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }
}

impl Announcer for Log {
    fn announce(&self, announcement: &Announcement) {
        let mark = if announcement.prominent { "! " } else { "" };
        self.push(format!("{mark}{}", announcement.text));
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Source {
    name: &'static str,
    candidates: Vec<Candidate>,
    probed: Log,
    silent: bool,
}

#[async_trait]
impl CandidateSource for Source {
    fn name(&self) -> &str {
        self.name
    }

    async fn probe(&self) -> Vec<Candidate> {
        self.probed.push(self.name);
        if self.silent {
            std::future::pending::<()>().await;
        }
        self.candidates.clone()
    }
}

/// A person who gives these answers to questions, and these to steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Person {
    pub(crate) picks: Option<usize>,
    pub(crate) agrees: Vec<bool>,
    pub(crate) asked: Log,
}

#[async_trait]
impl Consent for Person {
    fn is_interactive(&self) -> bool {
        true
    }

    async fn choose(&self, question: &str, options: &[String]) -> Option<usize> {
        self.asked.push(format!("{question} {}", options.join(" | ")));
        self.picks
    }

    async fn confirm(&self, step: &ConsentStep) -> bool {
        self.asked.push(step.to_string());
        let steps = self.asked.lines().len();
        self.agrees[(steps - 1) % self.agrees.len()]
    }
}

/// A service that is ready when its key is set.
pub(crate) fn service(name: &'static str, rank: u32, key_set: bool) -> Source {
    let candidate = Candidate::new(name, format!("{name}-large"))
        .rank(rank)
        .host(format!("api.{name}.example"));
    let missing = format!("set {}_API_KEY", name.to_uppercase());
    let candidate = if key_set { candidate } else { candidate.missing(missing) };
    source(name, [candidate])
}

/// A server of this machine with these models.
pub(crate) fn local(models: &[&str]) -> Source {
    let candidates = models
        .iter()
        .map(|model| Candidate::new(format!("local:{model}"), *model).rank(20).last_resort());
    source("local", candidates)
}

pub(crate) fn source(
    name: &'static str,
    candidates: impl IntoIterator<Item = Candidate>,
) -> Source {
    let candidates = candidates.into_iter().collect();
    Source { name, candidates, probed: Log::default(), silent: false }
}

/// A server that takes connections and never answers.
pub(crate) fn silent(name: &'static str) -> Source {
    Source { silent: true, ..source(name, []) }
}

/// A capability with all that is observed of its resolution.
pub(crate) struct World {
    pub(crate) runtime: Runtime,
    pub(crate) announced: Log,
    pub(crate) probed: Log,
}

impl World {
    pub(crate) fn new() -> Self {
        let announced = Log::default();
        let runtime = Runtime::builder().announcer(announced.clone()).build();
        Self { runtime, announced, probed: Log::default() }
    }

    pub(crate) fn resolver(&self, sources: &[Source]) -> Resolver {
        self.resolver_of(llm(), sources)
    }

    pub(crate) fn resolver_of(&self, capability: Capability, sources: &[Source]) -> Resolver {
        let resolver = Resolver::new(self.runtime.clone(), capability);
        sources.iter().fold(resolver, |resolver, source| {
            resolver.source(Source { probed: self.probed.clone(), ..source.clone() })
        })
    }
}

pub(crate) fn llm() -> Capability {
    Capability::new("llm", "a language model", "questions")
}
