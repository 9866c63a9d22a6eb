//! What went wrong in one attempt, before it is an error: services word failures in many ways, and
//! none of the words may be passed on as they are (R7).

use std::borrow::Cow;
use std::time::Duration;

use kuhaku_core::ErrorKind;

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Fault {
    /// What kind of error it becomes.
    pub(crate) kind: ErrorKind,
    /// What is wrong, in our words.
    pub(crate) wrong: Cow<'static, str>,
    /// What the service said. Raw: quoted only through [`crate::quote`].
    pub(crate) said: Option<String>,
    /// The next step, where the kind alone does not tell it.
    pub(crate) next: Option<Cow<'static, str>>,
    /// How long the service asks to wait.
    pub(crate) wait: Option<Duration>,
    /// The HTTP status, if the fault is one.
    pub(crate) status: Option<u16>,
    /// Whether the same call may succeed later, where the kind alone does not tell it.
    pub(crate) temporary: Option<bool>,
}

impl Fault {
    /// A fault of a kind: `wrong` completes "cannot ask the model: …".
    pub(crate) fn new(kind: ErrorKind, wrong: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            wrong: wrong.into(),
            said: None,
            next: None,
            wait: None,
            status: None,
            temporary: None,
        }
    }

    /// A reply without the documented shape; `wrong` never quotes it.
    pub(crate) fn malformed(wrong: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::MalformedResponse, wrong)
            .next("check that the base URL leads to this kind of service, then report the bug")
    }

    /// The meaning that HTTP statuses have for every service (RTY-03).
    pub(crate) fn of_status(status: u16) -> Self {
        let (kind, wrong) = match status {
            300..=399 => (ErrorKind::InvalidInput, "it redirects, which is not followed"),
            401 => (ErrorKind::Unauthorized, "it does not accept the credentials"),
            403 => (ErrorKind::Unauthorized, "the credentials do not allow this"),
            404 => (ErrorKind::InvalidInput, "it has no such model or path"),
            408 => (ErrorKind::TimedOut, "it waited too long for the request"),
            413 => (ErrorKind::ContextTooLong, "the request is too large for it"),
            429 => (ErrorKind::RateLimited, "it asks to slow down"),
            500.. => (ErrorKind::Unavailable, "it failed on its side"),
            _ => (ErrorKind::InvalidInput, "it does not accept the request"),
        };
        let next = match status {
            300..=399 => "set the base URL to where the service is, without a redirect",
            401 | 403 => "check the key and what it may be used for",
            404 => "check the model's name and the base URL",
            413 => "send a shorter text",
            408 | 429 | 500.. => "try again later, or choose another provider",
            _ => "check the model's name and the options of the request",
        };
        Self { status: Some(status), ..Self::new(kind, wrong).next(next) }
    }

    /// Sets what the service said.
    pub(crate) fn said(mut self, words: impl Into<String>) -> Self {
        self.said = Some(words.into());
        self
    }

    /// Sets the next step.
    pub(crate) fn next(mut self, step: impl Into<Cow<'static, str>>) -> Self {
        self.next = Some(step.into());
        self
    }

    /// Sets how long the service asks to wait.
    pub(crate) fn wait(mut self, wait: Option<Duration>) -> Self {
        self.wait = wait.or(self.wait);
        self
    }
}
