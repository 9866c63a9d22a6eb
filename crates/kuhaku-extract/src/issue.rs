//! What stands between a text and a complete result.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::outcome::ExtractionStatus;
use crate::schema::{Missing, Problem};

/// What an issue means for the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IssueKind {
    /// The model might do better when asked again, and did not.
    Retryable,
    /// The person has to be asked.
    NeedsClarification,
    /// A value breaks a rule.
    Invalid,
    /// The text was refused.
    Blocked,
}

impl IssueKind {
    /// The status of a result in which this is the gravest issue.
    pub fn status(self) -> ExtractionStatus {
        match self {
            Self::Retryable => ExtractionStatus::Failed,
            Self::NeedsClarification => ExtractionStatus::NeedsClarification,
            Self::Invalid => ExtractionStatus::Invalid,
            Self::Blocked => ExtractionStatus::Blocked,
        }
    }
}

/// One thing that stands between a text and a complete result.
///
/// Those of this crate quote nothing of the text but keys on their paths (R7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Issue {
    /// What it means for the result.
    pub kind: IssueKind,
    /// A stable word: `missing`, `schema_error`, `parse_error`, `mismatch`, `ungrounded`,
    /// `token_budget`, `timed_out`, a family of attacks, or the code of a rule.
    pub code: Cow<'static, str>,
    /// What is wrong, in words.
    pub message: Cow<'static, str>,
    /// Which value it is about: a JSON Pointer (RFC 6901) into the data.
    pub path: Option<String>,
}

impl Issue {
    pub(crate) fn new(
        kind: IssueKind,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { kind, code: code.into(), message: message.into(), path: None }
    }

    pub(crate) fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    pub(crate) fn missing(missing: &Missing) -> Self {
        let message = "the text does not state a required value";
        Self::new(IssueKind::NeedsClarification, "missing", message).at(missing.path.clone())
    }

    pub(crate) fn problem(problem: &Problem) -> Self {
        let (code, message) = (problem.code, problem.message.clone());
        Self::new(IssueKind::Retryable, code, message).at(problem.path.clone())
    }

    pub(crate) fn unreadable(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(IssueKind::Retryable, "parse_error", reason)
    }
}

/// The gravest status of some issues.
pub(crate) fn status(issues: &[Issue]) -> ExtractionStatus {
    let statuses = issues.iter().map(|issue| issue.kind.status());
    statuses.max().unwrap_or(ExtractionStatus::Complete)
}
