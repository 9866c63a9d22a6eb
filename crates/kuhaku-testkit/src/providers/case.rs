//! What the suite must be told about a provider.

use std::sync::Arc;
use std::time::Duration;

use kuhaku_core::{ChatRequest, Finish, LlmProvider, Usage};
use secrecy::SecretString;
use serde_json::Value;

/// How a provider shall be made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Endpoint {
    /// Where the service is, without a slash at the end.
    pub base_url: String,
    /// The key, token or whatever else opens it.
    pub key: SecretString,
    /// How often a call is tried, the first time included.
    pub attempts: u32,
    /// The wait before the second attempt, when the service names none.
    pub backoff: Duration,
    /// How long one attempt may take; a stream until its first event.
    pub attempt_timeout: Duration,
    /// How long a stream may be silent between two pieces.
    pub idle_timeout: Duration,
}

/// The one request that a call must make.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExpectedRequest {
    /// The method.
    pub method: String,
    /// The path with its query, base path included.
    pub path: String,
    /// Headers that must be there with these values; others may be.
    pub headers: Vec<(String, String)>,
    /// The body, compared as JSON.
    pub body: Value,
}

impl ExpectedRequest {
    /// A `POST` to a path with a JSON body.
    pub fn post(path: impl Into<String>, body: Value) -> Self {
        Self { method: "POST".into(), path: path.into(), headers: Vec::new(), body }
    }

    /// Adds a header that must be there.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

/// A provider under test, and how its service words things.
///
/// Where a method gives `None`, the service has no such reply; the case is then reported as not
/// offered, not as passed.
pub trait ProviderCase: Send + Sync {
    /// The provider's name, for the report.
    fn name(&self) -> &str;

    /// The provider, ready to be called. Making it must not call the service.
    fn provider(&self, endpoint: &Endpoint) -> Arc<dyn LlmProvider>;

    /// What must arrive when `request` is sent through a provider that was made with `key`.
    fn expected(&self, request: &ChatRequest, streaming: bool, key: &str) -> ExpectedRequest;

    /// The body of a complete reply. What is absent in `usage` must be absent in the body.
    fn reply(&self, text: &str, finish: Finish, usage: Usage) -> Option<Vec<u8>>;

    /// Complete replies that hold no text and no reason for it, for example a null, an empty list
    /// and an empty string.
    fn empty_replies(&self) -> Vec<Vec<u8>>;

    /// The body of a complete stream, one event per piece. What is absent in `usage` must be
    /// absent in the body.
    fn stream(&self, pieces: &[&str], finish: Finish, usage: Usage) -> Option<Vec<u8>>;

    /// The beginning of a stream: the events of these pieces, without those of its end.
    fn unfinished_stream(&self, pieces: &[&str]) -> Vec<u8>;

    /// A stream that reports a failure of the service after these pieces.
    fn failing_stream(&self, pieces: &[&str], message: &str) -> Option<Vec<u8>>;

    /// The body of a reply with an HTTP error status.
    fn error(&self, status: u16, message: &str) -> Vec<u8>;

    /// The body of a reply with status 200 that reports a failure of the service.
    fn error_in_success(&self, message: &str) -> Option<Vec<u8>>;

    /// Status and body with which the service says that the input is too long for the model.
    fn too_long(&self) -> Option<(u16, Vec<u8>)> {
        None
    }

    /// The body of a 429 that asks for a wait of `seconds`, when it says so in its body.
    fn retry_hint(&self, seconds: u64) -> Option<Vec<u8>> {
        let _ = seconds;
        None
    }

    /// Whether a 401 makes the provider fetch new credentials and ask once more.
    fn renews_credentials(&self) -> bool {
        false
    }

    /// The media type of streams.
    fn stream_type(&self) -> &str {
        "text/event-stream"
    }

    /// The first bytes of a streamed event that never ends.
    fn endless_event(&self) -> Vec<u8> {
        b"data: {\"padding\":\"".into()
    }
}
