//! What went wrong in one attempt, before it is an error: services word failures in many ways, and
//! none of the words may be passed on as they are (R7).

use std::borrow::Cow;
use std::time::Duration;

use kuhaku_core::{Error, ErrorKind, Status};
use secrecy::SecretString;

use crate::quote::quote;
use crate::service::Service;

const CHECK_KEY: &str = "check the key";
const CHECK_MODEL: &str = "check the model's name and the base URL";

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Fault {
    /// What kind of error it becomes.
    pub(crate) kind: ErrorKind,
    /// What is wrong, in our words.
    pub(crate) wrong: Cow<'static, str>,
    /// The next step, where the kind alone does not tell it.
    pub(crate) next: Cow<'static, str>,
    /// What the service said. Raw: quoted only through [`quote`].
    pub(crate) said: Option<String>,
    /// How long the service asks to wait.
    pub(crate) wait: Option<Duration>,
    /// The HTTP status, if the fault is one.
    pub(crate) status: Option<u16>,
    /// Whether the same call may succeed later, where the kind alone does not tell it.
    pub(crate) temporary: Option<bool>,
    /// A reply that the service itself found wanting and gave all the same.
    pub(crate) salvage: Option<String>,
}

impl Fault {
    /// A fault of a kind: `wrong` completes "cannot ask the model: …".
    pub(crate) fn new(kind: ErrorKind, wrong: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            wrong: wrong.into(),
            next: "try again, or choose another provider".into(),
            said: None,
            wait: None,
            status: None,
            temporary: None,
            salvage: None,
        }
    }

    /// A reply without the documented shape; `wrong` never quotes it.
    pub(crate) fn malformed(wrong: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::MalformedResponse, wrong)
            .next("check that the base URL leads to a service of this kind")
    }

    /// A stream that ended within the reply. What came until then is not the whole reply.
    pub(crate) fn cut() -> Self {
        Self::new(ErrorKind::Unavailable, "the stream ended before the reply was complete")
            .next("ask again")
    }

    /// The meaning that HTTP statuses have for every service (RTY-03).
    pub(crate) fn of_status(status: u16) -> Self {
        let (kind, wrong, next) = match status {
            401 => (ErrorKind::Unauthorized, "it does not accept the credentials", CHECK_KEY),
            403 => (
                ErrorKind::Unauthorized,
                "the credentials do not allow this",
                "check what the key may be used for",
            ),
            404 => (ErrorKind::InvalidInput, "it has no such model or path", CHECK_MODEL),
            408 => (ErrorKind::TimedOut, "it waited too long for the request", "try again later"),
            413 => (
                ErrorKind::ContextTooLong,
                "the request is too large for it",
                "send fewer or shorter texts",
            ),
            429 => (
                ErrorKind::RateLimited,
                "it asks to slow down",
                "try again later, or raise the limit at the service",
            ),
            425 | 500.. => (
                ErrorKind::Unavailable,
                "it failed on its side",
                "try again later, or choose another provider",
            ),
            400..=499 => (
                ErrorKind::InvalidInput,
                "it does not accept the request",
                "check the model's name and the options of the request",
            ),
            _ => (
                ErrorKind::MalformedResponse,
                "its answer is neither a reply nor an error",
                "check the base URL",
            ),
        };
        Self { status: Some(status), ..Self::new(kind, wrong).next(next) }
    }

    /// Says in the next step which setting of the service it means, unless its dialect knows better.
    pub(crate) fn naming_settings_of(self, service: Service) -> Self {
        let step = match self.next.as_ref() {
            CHECK_KEY => format!("{CHECK_KEY}: {}", service.variable("api_key")),
            CHECK_MODEL => {
                let (model, url) = (service.variable("model"), service.variable("base_url"));
                format!("{CHECK_MODEL}: {model}, {url}")
            }
            _ => return self,
        };
        self.next(step)
    }

    /// Whether the reply had another shape than it should.
    pub(crate) fn is_malformed(&self) -> bool {
        self.kind == ErrorKind::MalformedResponse
    }

    /// Sets what the service said.
    pub(crate) fn said(mut self, words: impl Into<String>) -> Self {
        self.said = Some(words.into());
        self
    }

    /// Sets the next step.
    pub(crate) fn next(mut self, step: impl Into<Cow<'static, str>>) -> Self {
        self.next = step.into();
        self
    }

    /// Sets how long the service asks to wait, if it does.
    pub(crate) fn wait(mut self, wait: Option<Duration>) -> Self {
        self.wait = wait.or(self.wait);
        self
    }

    /// The error of a call of `whom`. Of what the service said, nothing is quoted that is part of
    /// a secret or of the texts.
    pub(crate) fn into_error<'a>(
        self,
        whom: &str,
        secrets: &[SecretString],
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Error {
        let mut wrong = self.wrong.into_owned();
        if let Some(status) = self.status {
            wrong.push_str(&format!(" (HTTP {status})"));
        }
        let quoted = self.said.map(|said| quote(&said, secrets, texts));
        if let Some(quoted) = quoted.filter(|quoted| !quoted.is_empty()) {
            wrong.push_str(&format!("; it says \"{quoted}\""));
        }
        let mut error = Error::new(self.kind, format!("ask {whom}"), wrong).next(self.next);
        if let Some(temporary) = self.temporary {
            error =
                error.with_status(if temporary { Status::Temporary } else { Status::Permanent });
        }
        if self.status.is_some_and(|status| status < 500) {
            error = error.not_an_outage();
        }
        match self.wait {
            Some(wait) if error.status() != Status::Permanent => error.with_retry_after(wait),
            _ => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_key_and_an_unknown_model_name_the_settings_of_the_service() {
        for (status, service, next) in [
            (401, Service::OpenAi, "check the key: KUHAKU_OPENAI_API_KEY"),
            (401, Service::OpenAiCompat, "check the key: KUHAKU_OPENAI_COMPAT_API_KEY"),
            (
                404,
                Service::Groq,
                "check the model's name and the base URL: KUHAKU_GROQ_MODEL, KUHAKU_GROQ_BASE_URL",
            ),
        ] {
            assert_eq!(Fault::of_status(status).naming_settings_of(service).next, next);
        }
        let known = Fault::of_status(404).next("pull it").naming_settings_of(Service::Ollama);
        assert_eq!(known.next, "pull it");
    }
}
