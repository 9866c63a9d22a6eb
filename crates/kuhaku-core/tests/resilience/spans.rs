//! One span per call, under the names of the conventions, ended whatever happens.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use kuhaku_core::{ChatRequest, ErrorKind, LlmProvider, Resilient, Runtime};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::support::{Script, Step, exact, failure, read, used};

#[derive(Clone, Debug, Default)]
struct Spans(Arc<Mutex<Vec<Seen>>>);

#[derive(Clone, Debug, Default)]
struct Seen {
    fields: BTreeMap<String, String>,
    handles: usize,
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}").trim_matches('"').to_owned();
        self.fields.insert(field.name().to_owned(), text);
    }
}

impl Spans {
    fn with<T>(&self, id: &Id, act: impl FnOnce(&mut Seen) -> T) -> T {
        let at = usize::try_from(id.into_u64()).unwrap() - 1;
        act(&mut self.0.lock().unwrap()[at])
    }

    /// The fields of the last span, which must have ended.
    fn last(&self) -> BTreeMap<String, String> {
        let seen = self.0.lock().unwrap().last().cloned().unwrap();
        assert_eq!(seen.handles, 0, "the span is still open");
        seen.fields
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span()
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut seen = Seen { handles: 1, ..Seen::default() };
        span.record(&mut seen);
        let mut all = self.0.lock().unwrap();
        all.push(seen);
        Id::from_u64(all.len() as u64)
    }
    fn record(&self, span: &Id, values: &Record<'_>) {
        self.with(span, |seen| values.record(seen));
    }
    fn clone_span(&self, id: &Id) -> Id {
        self.with(id, |seen| seen.handles += 1);
        id.clone()
    }
    fn try_close(&self, id: Id) -> bool {
        self.with(&id, |seen| {
            seen.handles -= 1;
            seen.handles == 0
        })
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// OBS-03: the part about models. R7, R12
#[tokio::test(start_paused = true)]
async fn spans_tell_status_and_usage_and_end_however_the_call_does() {
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
    let question = "planted question";
    let ask = || ChatRequest::new("planted rules", question);
    let script = Script::new(
        "fake:m",
        [
            Step::Answer("planted answer", used(7, 3)),
            Step::Answer("planted answer", used(7, 3)),
            Step::Fail(failure(ErrorKind::Unauthorized).with_usage(used(2, 0))),
            Step::Break("planted answer", failure(ErrorKind::Unavailable)),
            Step::Stall("planted answer"),
            Step::Hang,
        ],
    );
    let model = Resilient::new(script, "service", exact(&Runtime::system()));
    let get = |name: &str| spans.last().get(name).cloned().unwrap_or_default();

    model.chat(ask()).await.unwrap();
    for (name, value) in [
        ("otel.kind", "client"),
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "fake"),
        ("gen_ai.request.model", "m"),
        ("gen_ai.response.model", "fake:m"),
        ("gen_ai.response.finish_reasons", "stop"),
        ("gen_ai.usage.input_tokens", "7"),
        ("gen_ai.usage.output_tokens", "3"),
        ("error.type", ""),
    ] {
        assert_eq!(get(name), value, "{name}");
    }
    read(model.stream(ask()).await.unwrap()).await.1.unwrap();
    assert_eq!((get("gen_ai.usage.output_tokens"), get("error.type")), ("3".into(), "".into()));
    model.chat(ask()).await.unwrap_err();
    assert_eq!(get("error.type"), "core.unauthorized");
    assert_eq!(
        (get("otel.status_code"), get("gen_ai.usage.input_tokens")),
        ("ERROR".into(), "2".into())
    );
    read(model.stream(ask()).await.unwrap()).await.1.unwrap_err();
    assert_eq!(get("error.type"), "core.unavailable");
    let mut stream = model.stream(ask()).await.unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    assert_eq!(get("error.type"), "core.cancelled");
    let left = tokio::time::timeout(std::time::Duration::from_secs(1), model.chat(ask())).await;
    assert!(left.is_err());
    assert_eq!(get("error.type"), "core.cancelled");
    assert_eq!(spans.0.lock().unwrap().len(), 6, "one span per call");
    assert!(!format!("{spans:?}").contains("planted"), "content is in a span");
}

/// OBS-03, R12: what was paid for before the caller left is known, and told.
#[tokio::test(start_paused = true)]
async fn a_dropped_stream_tells_what_was_used_so_far() {
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
    let wasted = failure(ErrorKind::Unavailable).with_usage(used(5, 0));
    let script = Script::new("fake:m", [Step::Fail(wasted), Step::Stall("a beginning")]);
    let model = Resilient::new(script, "service", exact(&Runtime::system()));
    let mut stream = model.stream(ChatRequest::new("", "")).await.unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    let fields = spans.last();
    assert_eq!(fields.get("gen_ai.usage.input_tokens").map(String::as_str), Some("5"));
    assert_eq!(fields.get("error.type").map(String::as_str), Some("core.cancelled"));
}
