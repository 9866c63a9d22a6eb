//! Services as targets.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use kuhaku_core::{ErrorKind as CoreKind, HttpClient, HttpRequest, Runtime, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::case::Sample;
use crate::error::{ErrorKind, Result};
use crate::target::{Outcome, Target};

/// Replies longer than this, in bytes, fail the sample.
const LONGEST_REPLY: usize = 16 << 20;

type Ask = Box<dyn Fn(&Sample) -> Value + Send + Sync>;
type Read = Box<dyn Fn(Value) -> Option<Outcome> + Send + Sync>;

/// A service that answers over HTTP.
///
/// For each sample it gets one POST with JSON, `{"id", "query", "history"}`, and replies with a JSON
/// object in which each field may be absent: `retrieved` and `cited` (lists of ids), `text`,
/// `object`, `abstained`, `input_tokens`, `output_tokens`. Services that speak otherwise are met by
/// [`ask_with`](Self::ask_with) and [`read_with`](Self::read_with).
///
/// A sample is asked once: repeated calls would be measured as one slow one. It fails with
/// `core.timed_out`, `core.unavailable`, `core.rate_limited`, `core.unauthorized`,
/// `core.invalid_input` (another 4xx), `core.redirected`, `core.response_too_large` or
/// `core.malformed_response`. Redirects are not followed, so that credentials stay where they were
/// sent, and proxy variables of the environment are not read.
///
/// The future must be polled in a Tokio runtime whose I/O and time are enabled.
///
/// ```
/// use std::time::Duration;
/// use kuhaku_eval::HttpTarget;
/// let target = HttpTarget::new("http://localhost:8080/ask")?.timeout(Duration::from_secs(5));
/// assert!(HttpTarget::new("localhost:8080/ask").is_err());
/// # Ok::<(), kuhaku_eval::Error>(())
/// ```
pub struct HttpTarget {
    name: String,
    client: HttpClient,
    request: HttpRequest,
    ask: Ask,
    read: Read,
}

impl fmt::Debug for HttpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTarget").field("name", &self.name).finish_non_exhaustive()
    }
}

impl HttpTarget {
    /// The service at an address, with 60 seconds for each sample. Its name is the address without
    /// credentials, query and fragment.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when the address is not one of `http://` or `https://`.
    pub fn new(url: &str) -> Result<Self> {
        let wrong = |wrong: kuhaku_core::Error| wrong.map_kind(|_| ErrorKind::InvalidInput);
        let request = HttpRequest::post(url).attempt_timeout(Duration::from_secs(60));
        Ok(Self {
            name: request.address().map_err(wrong)?,
            client: HttpClient::builder().build().map_err(wrong)?,
            request,
            ask: Box::new(question),
            read: Box::new(outcome),
        })
    }

    /// Names the target otherwise, for example with the settings of the service.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets how long a sample may take, from connecting to the last byte.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.request = self.request.attempt_timeout(timeout);
        self
    }

    /// Sends a token with each request (`Authorization: Bearer …`), in place of credentials in the
    /// address. It appears in no name, error or run.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when it holds what a header cannot.
    pub fn bearer_token(mut self, token: &str) -> Result<Self> {
        self.request = self.request.bearer(&token.to_owned().into());
        self.request.address().map_err(|error| error.map_kind(|_| ErrorKind::InvalidInput))?;
        Ok(self)
    }

    /// Makes the body of the request from the sample.
    #[must_use]
    pub fn ask_with(mut self, ask: impl Fn(&Sample) -> Value + Send + Sync + 'static) -> Self {
        self.ask = Box::new(ask);
        self
    }

    /// Reads the outcome from the reply; `None` fails the sample as a malformed response.
    #[must_use]
    pub fn read_with(
        mut self,
        read: impl Fn(Value) -> Option<Outcome> + Send + Sync + 'static,
    ) -> Self {
        self.read = Box::new(read);
        self
    }

    async fn post(&self, sample: &Sample) -> kuhaku_core::Result<Outcome> {
        let request = self.request.clone().json(&(self.ask)(sample));
        let reply = self.client.send(request, LONGEST_REPLY).await?;
        // The wait that a service asks for is not needed, so the clock does not matter.
        if let Some(error) = reply.failure("ask the service", &Runtime::system()) {
            return Err(error);
        }
        let reply = reply.json("read the reply of the service")?;
        (self.read)(reply).ok_or_else(|| {
            let wrong = "its reply has another shape";
            kuhaku_core::Error::new(CoreKind::MalformedResponse, "read the reply", wrong)
                .next("read it with a closure of your own")
        })
    }
}

#[async_trait]
impl Target for HttpTarget {
    fn name(&self) -> &str {
        &self.name
    }

    async fn run(&self, sample: &Sample) -> Outcome {
        self.post(sample).await.unwrap_or_else(|error| Outcome::failed(error.code()))
    }
}

fn question(sample: &Sample) -> Value {
    json!({"id": sample.id, "query": sample.query, "history": sample.history})
}

#[derive(Deserialize)]
struct Reply {
    retrieved: Option<Vec<String>>,
    cited: Option<Vec<String>>,
    text: Option<String>,
    object: Option<Value>,
    abstained: Option<bool>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

fn outcome(reply: Value) -> Option<Outcome> {
    let reply: Reply = serde_json::from_value(reply).ok()?;
    Some(Outcome {
        retrieved: reply.retrieved,
        cited: reply.cited,
        text: reply.text,
        object: reply.object,
        abstained: reply.abstained,
        usage: Usage::new(reply.input_tokens, reply.output_tokens),
        failed: None,
    })
}
