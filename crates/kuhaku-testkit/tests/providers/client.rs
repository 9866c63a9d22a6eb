//! A small client of a simple service, sound unless it is given a fault.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::unfold;
use kuhaku_core::{
    Capabilities, ChatRequest, ChatResponse, ChatStream, Error, ErrorKind, Finish, LlmProvider,
    ReplyFormat, Result, Role, Status, Timestamp, Usage,
};
use kuhaku_testkit::providers::Endpoint;
use reqwest::redirect::Policy;
use reqwest::{Response, StatusCode};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::client_stream::events;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    AcceptsCut,
    SwallowsErrorEvents,
    DecodesPieces,
    FollowsRedirects,
    ZeroUsage,
    KeepsUsage,
    KeyInErrors,
    KeyInDebug,
    KeyInLogs,
    QuestionInLogs,
    QuotesReplies,
    IgnoresErrorsInSuccess,
    EmptyIsFine,
    NeverSaysWhy,
    IgnoresWaits,
    RetriesEverything,
    NeverRetries,
    ForgetsOptions,
    SendsNulls,
    TrimsWholeRepliesOnly,
    EndsTwice,
    ReadsEverything,
    Detaches,
    NoLimits,
    StopsAtEmptyPieces,
    BlursStatuses,
    TakesNetworkForPermanent,
}

/// The most that is read of one reply.
const MOST: usize = 1 << 20;

/// What the suite calls too late.
const LATE: Duration = Duration::from_secs(6);

#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) endpoint: Endpoint,
    pub(crate) fault: Option<Fault>,
    http: reqwest::Client,
    usage: std::sync::Arc<Mutex<Usage>>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")?;
        match self.fault {
            Some(Fault::KeyInDebug) => f.write_str(self.endpoint.key.expose_secret()),
            _ => Ok(()),
        }
    }
}

pub(crate) fn error(kind: ErrorKind, wrong: impl Into<String>) -> Error {
    Error::new(kind, "ask simple", wrong.into()).next("look at the service")
}

pub(crate) fn body(request: &ChatRequest, streaming: bool, fault: Option<Fault>) -> Value {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!(["system", request.system]));
    }
    for message in &request.messages {
        let role = if message.role == Role::User { "user" } else { "assistant" };
        messages.push(json!([role, message.text]));
    }
    let mut body = json!({
        "stream": streaming,
        "messages": messages,
        "temperature": request.temperature,
        "most": request.max_output_tokens,
        "seed": request.seed,
        "stop": (!request.stop.is_empty()).then_some(&request.stop),
        "format": match &request.format {
            ReplyFormat::JsonSchema(schema) => schema.clone(),
            ReplyFormat::Json => "json".into(),
            _ => Value::Null,
        },
    });
    let fields = body.as_object_mut().unwrap();
    if fault != Some(Fault::SendsNulls) {
        fields.retain(|_, value| !value.is_null());
    }
    if fault == Some(Fault::ForgetsOptions) {
        fields.retain(|name, _| !["seed", "format"].contains(&name.as_str()));
    }
    body
}

/// Without a configuration, reqwest looks for a provider of the whole process, which there is not.
fn trusting_nobody() -> rustls::ClientConfig {
    let ring = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

impl Client {
    pub(crate) fn new(endpoint: Endpoint, fault: Option<Fault>) -> Self {
        let follows = fault == Some(Fault::FollowsRedirects);
        let policy = if follows { Policy::limited(3) } else { Policy::none() };
        let http = reqwest::Client::builder().tls_backend_preconfigured(trusting_nobody());
        let http = http.no_proxy().redirect(policy).build().unwrap();
        Self { endpoint, fault, http, usage: Default::default() }
    }

    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// A failure of the network.
    fn broken(&self, wrong: &str) -> Error {
        let permanent = self.has(Fault::TakesNetworkForPermanent);
        let status = if permanent { Status::Permanent } else { Status::Temporary };
        error(ErrorKind::Unavailable, wrong).with_status(status)
    }

    /// A limit, or far too long a one.
    pub(crate) fn limit(&self, limit: Duration) -> Duration {
        if self.has(Fault::NoLimits) { LATE } else { limit }
    }

    /// The time that is left until a deadline.
    pub(crate) fn left(&self, deadline: Option<Instant>) -> Duration {
        let left = deadline.map_or(Duration::from_secs(3600), |deadline| {
            deadline.saturating_duration_since(Instant::now())
        });
        self.limit(left)
    }

    pub(crate) async fn send(&self, request: &ChatRequest, streaming: bool) -> Result<Response> {
        let key = self.endpoint.key.expose_secret();
        if self.has(Fault::KeyInLogs) {
            tracing::debug!(key, "sending");
        }
        if self.has(Fault::QuestionInLogs) {
            tracing::info_span!("chat", question = request.messages[0].text);
        }
        let url = format!("{}/v1/chat", self.endpoint.base_url);
        let call = self.http.post(url).header("x-key", key);
        let call = call.body(body(request, streaming, self.fault).to_string());
        let response = call.send().await;
        let response = response.map_err(|_| self.broken("no answer"))?;
        let status = response.status();
        if status == StatusCode::OK {
            return Ok(response);
        }
        let wait = wait_of(&response);
        // A body that cannot be read is one without a message.
        let text = self.read(response).await.unwrap_or_default();
        let reply: Value = serde_json::from_slice(&text).unwrap_or_default();
        let kind = match status.as_u16() {
            _ if self.has(Fault::BlursStatuses) => ErrorKind::InvalidInput,
            400 if reply["error"] == "too_long" => ErrorKind::ContextTooLong,
            401 | 403 => ErrorKind::Unauthorized,
            408 => ErrorKind::TimedOut,
            413 => ErrorKind::ContextTooLong,
            429 => ErrorKind::RateLimited,
            500.. => ErrorKind::Unavailable,
            _ => ErrorKind::InvalidInput,
        };
        let quoted =
            if self.has(Fault::KeyInErrors) { reply["error"].to_string() } else { "".into() };
        let hint = reply["retry_in"].as_u64().map(Duration::from_secs);
        let error = error(kind, format!("status {status} {quoted}"));
        match wait.or(hint).filter(|_| !self.has(Fault::IgnoresWaits)) {
            Some(wait) => Err(error.with_retry_after(wait)),
            None => Err(error),
        }
    }

    pub(crate) async fn read(&self, mut response: Response) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        let torn = |_| self.broken("the reply ended early");
        while let Some(piece) = response.chunk().await.map_err(torn)? {
            body.extend_from_slice(&piece);
            if body.len() > MOST && !self.has(Fault::ReadsEverything) {
                return Err(error(ErrorKind::MalformedResponse, "the reply is too long"));
            }
        }
        Ok(body)
    }

    /// Tries until it works, an error stays, or no attempt or time is left.
    async fn retry<T, F>(&self, deadline: Option<Instant>, attempt: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let tries = async {
            let mut tried = 0;
            loop {
                let limit = self.limit(self.endpoint.attempt_timeout);
                let outcome = tokio::time::timeout(limit, attempt()).await;
                let late = || Err(error(ErrorKind::TimedOut, "no answer in time"));
                let error = match outcome.unwrap_or_else(|_| late()) {
                    Ok(value) => return Ok(value),
                    Err(error) => error,
                };
                tried += 1;
                let temporary = error.status() != Status::Permanent;
                if !(temporary || self.has(Fault::RetriesEverything))
                    || self.endpoint.attempts == 1
                    || self.has(Fault::NeverRetries)
                {
                    return Err(error);
                }
                if tried == self.endpoint.attempts {
                    return Err(error.with_status(Status::Persistent));
                }
                tokio::time::sleep(error.retry_after().unwrap_or(self.endpoint.backoff)).await;
            }
        };
        let over = || error(ErrorKind::TimedOut, "the deadline has passed");
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(over());
        }
        tokio::time::timeout(self.left(deadline), tries).await.unwrap_or_else(|_| Err(over()))
    }

    fn decode(&self, body: &[u8]) -> Result<ChatResponse> {
        let quoted = String::from_utf8_lossy(body);
        let wrong = if self.has(Fault::QuotesReplies) { &quoted } else { "another shape" };
        let malformed = || error(ErrorKind::MalformedResponse, wrong);
        let reply: Value = serde_json::from_slice(body).map_err(|_| malformed())?;
        if !reply["error"].is_null() && !self.has(Fault::IgnoresErrorsInSuccess) {
            return Err(error(ErrorKind::Unavailable, "it reports a failure"));
        }
        if !reply.is_object() {
            return Err(malformed());
        }
        let text = reply["text"].as_str().unwrap_or_default().trim();
        let response = ChatResponse::new(reply["model"].as_str().unwrap_or_default(), text)
            .finish(self.finish(&reply))
            .usage(self.usage(&reply));
        let silent = response.text.is_empty() && response.finish == Finish::Stop;
        if silent && !self.has(Fault::EmptyIsFine) {
            return Err(error(ErrorKind::EmptyResponse, "there is no text"));
        }
        Ok(response)
    }

    pub(crate) fn finish(&self, reply: &Value) -> Finish {
        match reply["finish"].as_str() {
            _ if self.has(Fault::NeverSaysWhy) => Finish::Stop,
            Some("length") => Finish::Length,
            Some("filter") => Finish::ContentFilter,
            Some("refusal") => Finish::Refusal,
            _ => Finish::Stop,
        }
    }

    pub(crate) fn usage(&self, reply: &Value) -> Usage {
        let [input, output] = ["in", "out"].map(|name| {
            let count = reply["usage"][name].as_u64();
            if self.has(Fault::ZeroUsage) { count.or(Some(0)) } else { count }
        });
        let mut kept = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        if input.is_none() && self.has(Fault::KeepsUsage) {
            return *kept;
        }
        *kept = Usage::new(input, output);
        *kept
    }

    async fn answer(&self, request: ChatRequest) -> Result<ChatResponse> {
        let attempt = || async {
            let response = self.send(&request, false).await?;
            self.decode(&self.read(response).await?)
        };
        self.retry(request.deadline, attempt).await
    }
}

fn wait_of(response: &Response) -> Option<Duration> {
    let header = response.headers().get("retry-after")?.to_str().ok()?;
    if let Ok(seconds) = header.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = header.replace("GMT", "+0000");
    let date = Timestamp::strptime("%a, %d %b %Y %H:%M:%S %z", date).ok()?;
    Duration::try_from(date.duration_since(Timestamp::now())).ok()
}

#[async_trait]
impl LlmProvider for Client {
    fn id(&self) -> &str {
        "simple:m"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn chat(&self, request: ChatRequest) -> Result<ChatResponse> {
        if !self.has(Fault::Detaches) {
            return self.answer(request).await;
        }
        let client = self.clone();
        tokio::spawn(async move { client.answer(request).await }).await.unwrap()
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        let attempt = || self.send(&request, true);
        let response = self.retry(request.deadline, attempt).await?;
        let events = events(self.clone(), response, request);
        if !self.has(Fault::Detaches) {
            return Ok(events);
        }
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(events.for_each(move |event| {
            // That the receiver has gone is what the fault passes over.
            let _ = sender.send(event);
            std::future::ready(())
        }));
        Ok(Box::pin(unfold(receiver, |mut receiver| async {
            let event = receiver.recv().await?;
            Some((event, receiver))
        })))
    }
}
