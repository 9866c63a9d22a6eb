//! What is sent.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

use super::address;
use crate::error::{Error, ErrorKind, Result};

const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(120);
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// One request. Made by a chain; a part that is wrong fails the call, not the chain.
///
/// `Debug` shows method, host, path, the names of headers and the length of the body: no value.
///
/// ```
/// use std::time::Duration;
/// use kuhaku_core::HttpRequest;
/// let request = HttpRequest::post("https://api.example/v1/chat?key=1")
///     .secret_header("authorization", &"Bearer abc".to_owned().into())
///     .json(&serde_json::json!({"model": "m"}))
///     .attempt_timeout(Duration::from_secs(30));
/// let shown = format!("{request:?}");
/// assert!(shown.contains("api.example/v1/chat") && !shown.contains("abc"));
/// ```
#[derive(Clone)]
#[must_use]
pub struct HttpRequest {
    pub(super) method: Method,
    pub(super) url: Result<Url, Wrong>,
    pub(super) headers: HeaderMap,
    /// The first part that was wrong.
    wrong: Option<Wrong>,
    pub(super) body: Bytes,
    pub(super) attempt_timeout: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) redirects: u8,
}

/// Why a request cannot be sent. An [`Error`] cannot be cloned, and requests are.
#[derive(Clone, Debug)]
pub(super) struct Wrong(String);

impl Wrong {
    fn into_error(self, to: &str) -> Error {
        let tried = format!("send a request to {to}");
        Error::new(ErrorKind::InvalidInput, tried, self.0)
            .next("check the address and the credentials in the settings")
    }
}

impl HttpRequest {
    /// A `GET` of an address.
    pub fn get(url: impl AsRef<str>) -> Self {
        Self::new(Method::GET, url.as_ref())
    }

    /// A `POST` to an address.
    pub fn post(url: impl AsRef<str>) -> Self {
        Self::new(Method::POST, url.as_ref())
    }

    fn new(method: Method, url: &str) -> Self {
        Self {
            method,
            url: address::parse(url).map_err(|error| Wrong(error.wrong().to_owned())),
            headers: HeaderMap::new(),
            wrong: None,
            body: Bytes::new(),
            attempt_timeout: ATTEMPT_TIMEOUT,
            idle_timeout: IDLE_TIMEOUT,
            redirects: 0,
        }
    }

    /// Adds a header. Whether its value is secret or not, it is never shown.
    pub fn header(self, name: &str, value: impl AsRef<str>) -> Self {
        self.insert(name, value.as_ref(), false)
    }

    /// Adds a header that never follows a redirect to another origin.
    pub fn secret_header(self, name: &str, value: &SecretString) -> Self {
        self.insert(name, value.expose_secret(), true)
    }

    /// Adds `Authorization: Bearer …`.
    pub fn bearer(self, token: &SecretString) -> Self {
        let value = SecretString::from(format!("Bearer {}", token.expose_secret()));
        self.secret_header("authorization", &value)
    }

    fn insert(mut self, name: &str, value: &str, secret: bool) -> Self {
        let Ok(name) = HeaderName::try_from(name) else {
            return self.wrong("the name of a header holds characters that none can have");
        };
        // Header values are trimmed by every server; a line end behind a key is a common slip.
        let Ok(mut value) = HeaderValue::from_str(value.trim()) else {
            let wrong = format!("the value of {name} holds characters that a header cannot");
            return self.wrong(wrong);
        };
        value.set_sensitive(secret);
        self.headers.insert(name, value);
        self
    }

    fn wrong(mut self, wrong: impl Into<String>) -> Self {
        self.wrong.get_or_insert(Wrong(wrong.into()));
        self
    }

    /// Sends a value as JSON.
    pub fn json(self, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => {
                let mut request = self.body(body);
                let json = HeaderValue::from_static("application/json");
                request.headers.entry(CONTENT_TYPE).or_insert(json);
                request
            }
            // The cause may quote the value.
            Err(_) => self.wrong("its body cannot be written as JSON"),
        }
    }

    /// Sends these bytes.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// How long the exchange may take, connecting included: until the last byte with `send`, until
    /// the head of the reply with `open`. 120 s unless set.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = timeout;
        self
    }

    /// How long a reply from `open` may be silent between two pieces. 60 s unless set.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Lets a `GET` be sent elsewhere this many times; never unless set. Secret headers stay with
    /// the origin that they were meant for, and `https` never leads to `http`.
    pub fn follow_redirects(mut self, most: u8) -> Self {
        self.redirects = most;
        self
    }

    /// Scheme, host, port and path of the address, without what may be secret.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when the request cannot be sent, because of its address or of
    /// another part.
    pub fn address(&self) -> Result<String> {
        let url = self.checked()?;
        Ok(format!("{}://{}", url.scheme(), address::shown(&url)))
    }

    /// Host and path, or a stand-in for an address that is none.
    pub(super) fn shown(&self) -> String {
        self.url.as_ref().map_or_else(|_| "an address".to_owned(), address::shown)
    }

    /// The address, if every part of the request is as it should be.
    pub(super) fn checked(&self) -> Result<Url> {
        let url = self.url.clone().map_err(|wrong| wrong.into_error("a service"))?;
        match &self.wrong {
            Some(wrong) => Err(wrong.clone().into_error(&address::shown(&url))),
            None => Ok(url),
        }
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("to", &self.shown())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}
