//! Metrics that are kept, failures to order, and models that follow a script.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use kuhaku_core::{
    Capabilities, ChatEvent, ChatRequest, ChatResponse, ChatStream, Error, ErrorKind, Finish,
    LlmProvider, MetricsSink, Resilience, Result, Runtime, Usage,
};

#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics(Arc<Mutex<BTreeMap<String, u64>>>);

impl Metrics {
    pub(crate) fn get(&self, name: &str) -> u64 {
        self.0.lock().unwrap().get(name).copied().unwrap_or_default()
    }

    /// Attempts, successes and failures of retries.
    pub(crate) fn retries(&self) -> [u64; 3] {
        ["attempts", "successes", "failures"]
            .map(|what| self.get(&format!("kuhaku_retry_{what}_total llm")))
    }

    /// The names and labels of what was recorded, with their sums.
    pub(crate) fn all(&self) -> BTreeMap<String, u64> {
        self.0.lock().unwrap().clone()
    }
}

impl MetricsSink for Metrics {
    fn count(&self, name: &'static str, label: &str, by: u64) {
        *self.0.lock().unwrap().entry(format!("{name} {label}")).or_default() += by;
    }

    fn record(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64) {
        let labels: Vec<_> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let key = format!("{name} {}", labels.join(" "));
        *self.0.lock().unwrap().entry(key).or_default() += value as u64;
    }
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A layer without jitter and without a breaker: waits of 1, 2, 4 seconds and so on.
pub(crate) fn exact(runtime: &Runtime) -> Resilience {
    Resilience::new(runtime.clone(), "llm").without_jitter().without_breaker()
}

pub(crate) fn failure(kind: ErrorKind) -> Error {
    Error::new(kind, "ask the service", "the script says so").next("read the script")
}

/// A deadline on the paused clock.
pub(crate) fn within(limit: Duration) -> std::time::Instant {
    (tokio::time::Instant::now() + limit).into_std()
}

/// What a scripted model does when it is asked.
#[derive(Debug)]
pub(crate) enum Step {
    /// It answers, with this usage.
    Answer(&'static str, Usage),
    /// It fails.
    Fail(Error),
    /// It streams this text and fails then.
    Break(&'static str, Error),
    /// It streams this text and stops without an end.
    Cut(&'static str),
    /// It never answers.
    Hang,
    /// It streams this text and falls silent.
    Stall(&'static str),
}

#[derive(Debug)]
pub(crate) struct Script {
    id: String,
    steps: Mutex<VecDeque<Step>>,
}

impl Script {
    pub(crate) fn new(id: &str, steps: impl IntoIterator<Item = Step>) -> Arc<Self> {
        Arc::new(Self { id: id.to_owned(), steps: Mutex::new(steps.into_iter().collect()) })
    }

    pub(crate) fn left(&self) -> usize {
        self.steps.lock().unwrap().len()
    }
}

#[async_trait]
impl LlmProvider for Script {
    fn id(&self) -> &str {
        &self.id
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn chat(&self, _: ChatRequest) -> Result<ChatResponse> {
        let step = self.steps.lock().unwrap().pop_front();
        match step.expect("the script is used up") {
            Step::Answer(text, usage) => Ok(ChatResponse::new(&self.id, text).usage(usage)),
            Step::Fail(error) | Step::Break(_, error) => Err(error),
            Step::Cut(_) => Err(failure(ErrorKind::Unavailable)),
            Step::Hang | Step::Stall(_) => std::future::pending().await,
        }
    }

    async fn stream(&self, _: ChatRequest) -> Result<ChatStream> {
        let step = self.steps.lock().unwrap().pop_front();
        let text = |text: &'static str| Ok(ChatEvent::Text(text.to_owned()));
        let events = match step.expect("the script is used up") {
            Step::Answer(answer, usage) => {
                let model = self.id.clone();
                vec![text(answer), Ok(ChatEvent::End { finish: Finish::Stop, usage, model })]
            }
            Step::Fail(error) => return Err(error),
            Step::Break("", error) => vec![Err(error)],
            Step::Break(begun, error) => vec![text(begun), Err(error)],
            Step::Cut("") => vec![],
            Step::Cut(begun) => vec![text(begun)],
            Step::Hang => return Ok(Box::pin(stream::pending())),
            Step::Stall(begun) => {
                return Ok(Box::pin(stream::iter([text(begun)]).chain(stream::pending())));
            }
        };
        Ok(Box::pin(stream::iter(events)))
    }
}

/// The text of a stream, and how it ended.
pub(crate) async fn read(mut stream: ChatStream) -> (String, Result<Usage>) {
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(ChatEvent::Text(piece)) => text.push_str(&piece),
            Ok(ChatEvent::End { usage, .. }) => return (text, Ok(usage)),
            Ok(_) => {}
            Err(error) => return (text, Err(error)),
        }
    }
    (text, Err(failure(ErrorKind::MalformedResponse)))
}

pub(crate) fn used(input: u64, output: u64) -> Usage {
    Usage::new(Some(input), Some(output))
}
