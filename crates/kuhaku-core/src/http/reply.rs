//! A reply that was read to its end.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;

use super::retry_hint;
use crate::error::{Error, ErrorKind, Result, Status};
use crate::runtime::Runtime;

/// A whole reply of any status. `Debug` shows no value of a header and no body.
#[derive(Clone)]
pub struct HttpReply {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    from: String,
}

impl fmt::Debug for HttpReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpReply")
            .field("from", &self.from)
            .field("status", &self.status.as_u16())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("body_bytes", &self.body.len())
            .finish()
    }
}

impl HttpReply {
    pub(super) fn new(status: StatusCode, headers: HeaderMap, body: Bytes, from: String) -> Self {
        Self { status, headers, body, from }
    }

    /// The status, from 100 to 999.
    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    /// Whether the status is one of success (2xx).
    pub fn is_success(&self) -> bool {
        self.status.is_success()
    }

    /// A header's first value, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The body read as JSON. `tried` completes "cannot …".
    ///
    /// # Errors
    /// [`ErrorKind::MalformedResponse`], which says where the body goes wrong and quotes nothing.
    pub fn json<T: DeserializeOwned>(&self, tried: impl Into<String>) -> Result<T> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let wrong = format!("the reply is not the JSON expected (line {line}, byte {column})");
            Error::new(ErrorKind::MalformedResponse, tried.into(), wrong)
                .next("check that the address belongs to a service of this kind")
        })
    }

    /// How long the service asks callers to wait, in its headers: `retry-after-ms`, `retry-after`
    /// in seconds or as a date. A date is read against the service's own `date` when it sends one,
    /// else against the clock.
    pub fn retry_after(&self, runtime: &Runtime) -> Option<Duration> {
        retry_hint::in_headers(|name| self.header(name), || runtime.now())
    }

    /// The failure that the status means; `None` on success. `tried` completes "cannot …" and names
    /// the service. What the body says is for the caller to add: another kind, a longer wait.
    ///
    /// | status | kind | tried again |
    /// |---|---|---|
    /// | 401, 403 | `Unauthorized` | no |
    /// | 408 | `TimedOut`, which no breaker counts | yes |
    /// | 429 | `RateLimited` | yes |
    /// | 425, 5xx | `Unavailable` | yes |
    /// | other 4xx | `InvalidInput` | no |
    /// | anything else | `MalformedResponse` | no |
    pub fn failure(&self, tried: impl Into<String>, runtime: &Runtime) -> Option<Error> {
        let status = self.status();
        let (kind, next) = match status {
            200..=299 => return None,
            401 | 403 => (ErrorKind::Unauthorized, "check the credentials of the service"),
            404 => (ErrorKind::InvalidInput, "check the address and the name of the model"),
            408 => (ErrorKind::TimedOut, "try again later"),
            429 => (ErrorKind::RateLimited, "try again later, or raise the limit at the service"),
            425 | 500.. => (ErrorKind::Unavailable, "try again later"),
            400..=499 => (ErrorKind::InvalidInput, "check the request against the service's rules"),
            _ => (ErrorKind::MalformedResponse, "check the address of the service"),
        };
        let wrong = format!("{} answered with status {status}", self.from);
        let mut error = Error::new(kind, tried.into(), wrong).next(next);
        // 4xx says nothing of whether the service is up.
        if status < 500 {
            error = error.not_an_outage();
        }
        match self.retry_after(runtime) {
            Some(wait) if error.status() != Status::Permanent => Some(error.with_retry_after(wait)),
            _ => Some(error),
        }
    }
}
