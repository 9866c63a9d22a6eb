//! Services as targets.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use kuhaku_core::{ErrorKind as CoreKind, Kind, Usage};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::case::Sample;
use crate::error::{Error, ErrorKind, Result};
use crate::target::{Outcome, Target};

/// Replies longer than this, in bytes, fail the sample.
const LONGEST_REPLY: usize = 16 << 20;

type Ask = Box<dyn Fn(&Sample) -> Value + Send + Sync>;
type Read = Box<dyn Fn(Value) -> Option<Outcome> + Send + Sync>;

/// A service that answers over plain HTTP.
///
/// For each sample it gets one POST with JSON, `{"id", "query", "history"}`, and replies with a JSON
/// object in which each field may be absent: `retrieved` and `cited` (lists of ids), `text`,
/// `object`, `abstained`, `input_tokens`, `output_tokens`. Services that speak otherwise are met by
/// [`ask_with`](Self::ask_with) and [`read_with`](Self::read_with).
///
/// A sample is asked once: repeated calls would be measured as one slow one. It fails with
/// `core.timed_out`, `core.unavailable`, `core.rate_limited`, `core.unauthorized`,
/// `core.invalid_input` (another 4xx) or `core.malformed_response`. Redirects are not followed, so
/// that credentials stay where they were sent, and proxy variables of the environment are not read.
///
/// The future must be polled in a Tokio runtime whose I/O and time are enabled.
///
/// ```
/// use std::time::Duration;
/// use kuhaku_eval::HttpTarget;
/// let target = HttpTarget::new("http://localhost:8080/ask")?.timeout(Duration::from_secs(5));
/// assert!(HttpTarget::new("https://localhost/ask").is_err()); // this crate has no TLS
/// # Ok::<(), kuhaku_eval::Error>(())
/// ```
pub struct HttpTarget {
    name: String,
    url: Url,
    client: Client,
    timeout: Duration,
    authorization: Option<HeaderValue>,
    ask: Ask,
    read: Read,
}

impl fmt::Debug for HttpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTarget")
            .field("name", &self.name)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl HttpTarget {
    /// The service at an address, with 60 seconds for each sample. Its name is the address without
    /// credentials, query and fragment.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when the address is not one of `http://`.
    pub fn new(url: &str) -> Result<Self> {
        let wrong = |wrong| {
            Error::new(ErrorKind::InvalidInput, "use a service as target", wrong)
                .next("give an address such as http://localhost:8080/ask")
        };
        let url = Url::parse(url).map_err(|_| wrong("its address is no URL"))?;
        if url.scheme() != "http" || !url.has_host() {
            return Err(wrong("its address does not start with http://"));
        }
        let client = Client::builder().redirect(Policy::none()).no_proxy().build();
        let client = client.map_err(|source| wrong("no client could be made").caused_by(source))?;
        Ok(Self {
            name: shown(&url),
            url,
            client,
            timeout: Duration::from_secs(60),
            authorization: None,
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
        self.timeout = timeout;
        self
    }

    /// Sends a token with each request (`Authorization: Bearer …`), in place of credentials in the
    /// address. It appears in no name, error or run.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when it holds what a header cannot.
    pub fn bearer_token(mut self, token: &str) -> Result<Self> {
        let mut value = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| {
            let wrong = "it holds characters that a header cannot";
            Error::new(ErrorKind::InvalidInput, "use a bearer token", wrong)
                .next("check it for line ends and control characters")
        })?;
        value.set_sensitive(true);
        // Only addresses without a host refuse this, and those are refused before.
        let _ = self.url.set_username("");
        let _ = self.url.set_password(None);
        self.authorization = Some(value);
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

    async fn post(&self, sample: &Sample) -> Result<Outcome, CoreKind> {
        let mut request = self
            .client
            .post(self.url.clone())
            .timeout(self.timeout)
            .header(CONTENT_TYPE, "application/json")
            .body((self.ask)(sample).to_string());
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let response = request.send().await.map_err(|error| kind_of(&error))?;
        if !response.status().is_success() {
            return Err(kind_of_status(response.status()));
        }
        let body = body(response).await?;
        let reply = serde_json::from_slice(&body).map_err(|_| CoreKind::MalformedResponse)?;
        (self.read)(reply).ok_or(CoreKind::MalformedResponse)
    }
}

#[async_trait]
impl Target for HttpTarget {
    fn name(&self) -> &str {
        &self.name
    }

    async fn run(&self, sample: &Sample) -> Outcome {
        self.post(sample).await.unwrap_or_else(|kind| Outcome::failed(kind.code()))
    }
}

async fn body(mut response: Response) -> Result<Vec<u8>, CoreKind> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| kind_of(&error))? {
        if body.len() + chunk.len() > LONGEST_REPLY {
            return Err(CoreKind::MalformedResponse);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn kind_of(error: &reqwest::Error) -> CoreKind {
    if error.is_timeout() { CoreKind::TimedOut } else { CoreKind::Unavailable }
}

fn kind_of_status(status: StatusCode) -> CoreKind {
    match status {
        StatusCode::TOO_MANY_REQUESTS => CoreKind::RateLimited,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => CoreKind::Unauthorized,
        StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => CoreKind::TimedOut,
        status if status.is_client_error() => CoreKind::InvalidInput,
        status if status.is_server_error() => CoreKind::Unavailable,
        _ => CoreKind::MalformedResponse,
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

/// The address without what may be secret.
fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("http://{host}{port}{}", url.path())
}
