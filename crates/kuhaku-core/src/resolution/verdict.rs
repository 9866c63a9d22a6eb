//! What was decided, and why.

use std::fmt::Write;

use super::candidate::{Candidate, Capability};

/// Why a candidate was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The settings name it.
    Requested,
    /// Nothing else is ready.
    OnlyOption,
    /// It was chosen before and is still ready.
    Remembered,
    /// A person picked it.
    PickedByPerson,
    /// It has the lowest rank of those that are ready, and nobody picked one.
    SafeDefault,
    /// Choosing by itself is turned off; this is what then is used.
    AutomaticOff,
    /// Several are ready, and a person would be asked; without an answer it would be this one.
    /// Only [`super::Resolver::preview`] gives this.
    WouldAsk,
}

/// A decision. Nothing has been built, downloaded or installed for it; whatever the candidate's
/// readiness names has been consented to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resolution {
    /// What is used.
    pub candidate: Candidate,
    /// Why.
    pub reason: Reason,
    /// The ids of everything that was ready when the decision was made; it is not asked for when a
    /// choice is given or remembered.
    pub ready: Vec<String>,
    /// The sources that did not answer in time.
    pub silent: Vec<String>,
    pub(super) capability: Capability,
}

impl Resolution {
    /// The decision in one line, with what text goes where.
    ///
    /// For example `llm: groq (gpt-oss-20b), the only one that is ready; questions go to
    /// api.groq.com`.
    pub fn explain(&self) -> String {
        let Capability { kind, sends, .. } = &self.capability;
        let Candidate { id, label, host, .. } = &self.candidate;
        let mut line = format!("{kind}: {id}");
        if label != id {
            // Writing to a string does not fail.
            let _ = write!(line, " ({label})");
        }
        let ready = self.ready.join(", ");
        line.push_str(", ");
        line.push_str(&match self.reason {
            Reason::Requested => "as set".to_owned(),
            Reason::OnlyOption => "the only one that is ready".to_owned(),
            Reason::Remembered => "as last chosen".to_owned(),
            Reason::PickedByPerson => "as picked".to_owned(),
            Reason::SafeDefault => {
                format!("the first of those that are ready ({ready}), since nobody picked one")
            }
            Reason::AutomaticOff => "as choosing by itself is turned off (KUHAKU_AUTO)".to_owned(),
            Reason::WouldAsk => format!("unless another is picked when asked ({ready})"),
        });
        let _ = match host {
            Some(host) => write!(line, "; {sends} go to {host}"),
            None => write!(line, "; {sends} stay in this process"),
        };
        if !self.silent.is_empty() {
            let _ = write!(line, "; no answer in time from {}", self.silent.join(", "));
        }
        line
    }
}
