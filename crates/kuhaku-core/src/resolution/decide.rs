//! The decision itself: nothing is built for it.

use super::candidate::{Candidate, Readiness};
use super::probe::{Probed, probe};
use super::resolver::Resolver;
use super::verdict::{Reason, Resolution};
use crate::error::{Error, ErrorKind, Result};

impl Resolver {
    pub(super) async fn decide(&self, aloud: bool) -> Result<Resolution> {
        if let Some(id) = &self.requested {
            return self.requested_one(id, aloud).await;
        }
        if !self.automatic {
            let baseline = self.baseline.clone().ok_or_else(|| {
                self.unavailable("choosing by itself is turned off (KUHAKU_AUTO)")
                    .next("name one in the settings, or turn it on")
            })?;
            return Ok(self.resolution(baseline, Reason::AutomaticOff, Probed::default()));
        }
        if let Some(remembered) = self.remembered(aloud).await {
            return Ok(remembered);
        }
        let mut probed = self.probe(|_| true).await;
        let any = probed.candidates.iter().any(|one| one.is_ready() && !one.last_resort);
        let (ready, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut probed.candidates)
            .into_iter()
            .partition(|one| one.is_ready() && !(any && one.last_resort));
        let Some((candidate, reason)) = self.pick(&ready, aloud).await else {
            return Err(self.nothing_ready(&rest, &probed.silent));
        };
        probed.candidates = ready;
        Ok(self.resolution(candidate, reason, probed))
    }

    /// One of those that are ready; `None` if none is.
    async fn pick(&self, ready: &[Candidate], aloud: bool) -> Option<(Candidate, Reason)> {
        let safest = ready.iter().min_by_key(|candidate| candidate.rank)?.clone();
        if ready.len() == 1 {
            return Some((safest, Reason::OnlyOption));
        }
        if !self.consent.is_interactive() {
            return Some((safest, Reason::SafeDefault));
        }
        if !aloud {
            return Some((safest, Reason::WouldAsk));
        }
        match self.ask(ready).await {
            Some(picked) => Some((picked, Reason::PickedByPerson)),
            None => Some((safest, Reason::SafeDefault)),
        }
    }

    /// Looks at one source alone: what is named needs no look at the others.
    async fn requested_one(&self, id: &str, aloud: bool) -> Result<Resolution> {
        let named = |one: &str| one.eq_ignore_ascii_case(id);
        let probed = self.probe(|source| named(source) || belongs(id, source)).await;
        let exact = probed.candidates.iter().find(|candidate| named(&candidate.id)).cloned();
        let (candidate, reason) = match exact {
            Some(candidate) => (candidate, Reason::Requested),
            None if self.sources.iter().any(|source| named(source.name())) => {
                self.one_of_source(&probed, aloud).await.ok_or_else(|| self.unknown(id, &probed))?
            }
            None => return Err(self.unknown(id, &probed)),
        };
        if let Readiness::Missing(step) = &candidate.readiness {
            let wrong = format!("{}, which the settings name, is not ready", candidate.id);
            return Err(self.unavailable(wrong).next(step.clone()));
        }
        Ok(self.resolution(candidate, reason, Probed::default()))
    }

    /// Decides among the candidates of a source as among all.
    async fn one_of_source(&self, probed: &Probed, aloud: bool) -> Option<(Candidate, Reason)> {
        let ready: Vec<_> =
            probed.candidates.iter().filter(|one| one.is_ready()).cloned().collect();
        let last = self.recall().and_then(|id| ready.iter().find(|one| one.id == id).cloned());
        if let Some(candidate) = last {
            return Some((candidate, Reason::Remembered));
        }
        match self.pick(&ready, aloud).await {
            Some((candidate, Reason::OnlyOption)) => Some((candidate, Reason::Requested)),
            None => Some((probed.candidates.first()?.clone(), Reason::Requested)),
            picked => picked,
        }
    }

    async fn remembered(&self, aloud: bool) -> Option<Resolution> {
        let id = self.recall()?;
        let probed = self.probe(|source| source == id || belongs(&id, source)).await;
        let found = probed.candidates.into_iter().find(|candidate| candidate.id == id);
        if let Some(candidate) = found.filter(Candidate::is_ready) {
            return Some(self.resolution(candidate, Reason::Remembered, Probed::default()));
        }
        if aloud {
            let title = self.capability.title;
            let text = format!("{id}, chosen earlier as {title}, is no longer ready");
            self.runtime.announce(&self.notice(&format!("gone.{id}"), text).prominent());
        }
        None
    }

    async fn ask(&self, ready: &[Candidate]) -> Option<Candidate> {
        let question = format!("Which one shall be {}?", self.capability.title);
        let sends = self.capability.sends;
        let option = |one: &Candidate| match &one.host {
            Some(host) => format!("{} ({}): {sends} go to {host}", one.id, one.label),
            None => format!("{} ({}): {sends} stay in this process", one.id, one.label),
        };
        let options: Vec<_> = ready.iter().map(option).collect();
        ready.get(self.consent.choose(&question, &options).await?).cloned()
    }

    async fn probe(&self, wanted: impl Fn(&str) -> bool) -> Probed {
        let sources = self.sources.iter().filter(|source| wanted(source.name()));
        probe(&sources.collect::<Vec<_>>(), self.probe_limit).await
    }

    fn resolution(&self, candidate: Candidate, reason: Reason, probed: Probed) -> Resolution {
        Resolution {
            candidate,
            reason,
            ready: probed.candidates.into_iter().map(|candidate| candidate.id).collect(),
            silent: probed.silent,
            capability: self.capability.clone(),
        }
    }

    fn unavailable(&self, wrong: impl Into<String>) -> Error {
        let tried = format!("choose {}", self.capability.title);
        Error::new(ErrorKind::CapabilityUnavailable, tried, wrong.into())
    }

    fn unknown(&self, id: &str, probed: &Probed) -> Error {
        if !probed.silent.is_empty() {
            let silent = probed.silent.join(", ");
            return self
                .unavailable(format!("{silent}, which the settings name, did not answer in time"))
                .next(format!("check that {silent} is running"));
        }
        let mut known: Vec<_> = probed.candidates.iter().map(|one| one.id.as_str()).collect();
        if known.is_empty() {
            known = self.sources.iter().map(|source| source.name()).collect();
        }
        known.sort_unstable();
        self.unavailable(format!(
            "the settings name {:?}, which is none of those there are",
            short(id)
        ))
        .next(format!("name one of {}", known.join(", ")))
    }

    fn nothing_ready(&self, candidates: &[Candidate], silent: &[String]) -> Error {
        let mut needs: Vec<_> = candidates
            .iter()
            .map(|candidate| format!("{} for {}", candidate.need(), candidate.id))
            .collect();
        needs.extend(silent.iter().map(|name| format!("start {name}, which does not answer")));
        let wrong = if needs.is_empty() { "there are no candidates" } else { "none is ready" };
        self.unavailable(wrong).next(match needs.is_empty() {
            true => "build with a feature that brings one".to_owned(),
            false => needs.join(", or "),
        })
    }
}

/// Whether an id is of the form `source:more`.
fn belongs(id: &str, source: &str) -> bool {
    let prefix = id.split(':').next().unwrap_or_default();
    prefix.len() < id.len() && prefix.eq_ignore_ascii_case(source)
}

/// Enough of a name to recognise it.
fn short(name: &str) -> String {
    name.chars().take(60).collect()
}
