//! Models behind the layer.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use kuhaku_core::{
    BreakerPolicy, ChatEvent, ChatRequest, Embedder, ErrorKind, LlmProvider, Probability, Reranker,
    Resilient, Result, Runtime, Status, Usage,
};
use tokio::time::Instant;

use crate::support::{Metrics, Script, Step, exact, failure, read, seconds, used, within};

fn ask() -> ChatRequest {
    ChatRequest::new("", "How long?")
}

fn wrapped(model: Arc<Script>) -> Resilient<Arc<Script>> {
    Resilient::new(model, "service", exact(&Runtime::system()))
}

fn down() -> Step {
    Step::Fail(failure(ErrorKind::Unavailable))
}

/// LLM-06
#[tokio::test(start_paused = true)]
async fn usage_is_that_of_the_call_and_of_its_failed_attempts_and_is_counted_once() {
    let metrics = Metrics::default();
    let runtime = Runtime::builder().metrics(metrics.clone()).build();
    let costly = failure(ErrorKind::Unavailable).with_usage(Usage::new(Some(5), None));
    let script = Script::new(
        "fake:m",
        [
            Step::Fail(costly),
            Step::Answer("Yes.", used(7, 3)),
            Step::Answer("Yes.", Usage::default()),
            Step::Answer("Yes.", used(1, 1)),
        ],
    );
    let model = Resilient::new(script, "service", exact(&runtime));
    let model = Resilient::new(model, "service", exact(&runtime));
    assert_eq!(model.chat(ask()).await.unwrap().usage, used(12, 3));
    assert_eq!(model.chat(ask()).await.unwrap().usage, Usage::default());
    assert_eq!(read(model.stream(ask()).await.unwrap()).await.1.unwrap(), used(1, 1));
    let by = "gen_ai.operation.name=chat gen_ai.provider.name=fake gen_ai.request.model=m";
    let tokens =
        |kind| metrics.get(&format!("gen_ai.client.token.usage {by} gen_ai.token.type={kind}"));
    assert_eq!([tokens("input"), tokens("output")], [13, 4]);
    let failed = format!("gen_ai.client.operation.duration {by} error.type=core.unavailable");
    assert!(metrics.all().contains_key(&failed), "{:?}", metrics.all());
}

#[tokio::test(start_paused = true)]
async fn a_failure_tells_what_all_of_its_attempts_used() {
    let costly = || Step::Fail(failure(ErrorKind::Unavailable).with_usage(used(5, 1)));
    let model = wrapped(Script::new("fake:m", [costly(), costly(), costly()]));
    let error = model.chat(ask()).await.unwrap_err();
    assert_eq!(error.usage(), used(15, 3));
    assert_eq!(error.status(), Status::Persistent);
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_tried_again_until_its_first_event_and_not_after() {
    let broken = || failure(ErrorKind::Unavailable);
    let model = wrapped(Script::new(
        "fake:m",
        [down(), Step::Break("", broken()), Step::Answer("Twenty-five.", used(7, 3))],
    ));
    let (text, end) = read(model.stream(ask()).await.unwrap()).await;
    assert_eq!((text.as_str(), end.unwrap()), ("Twenty-five.", used(7, 3)));

    let script = Script::new("fake:m", [Step::Break("Twenty", broken()), down()]);
    let (text, end) = read(wrapped(script.clone()).stream(ask()).await.unwrap()).await;
    assert_eq!(text, "Twenty");
    assert_eq!(*end.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(script.left(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_an_end_is_an_error() {
    let model = wrapped(Script::new("fake:m", [Step::Cut("Twenty"), Step::Cut("")]));
    let (text, end) = read(model.stream(ask()).await.unwrap()).await;
    assert_eq!(text, "Twenty");
    assert!(end.unwrap_err().to_string().contains("before its end"));
    let error = model.stream(ask()).await.err().unwrap();
    assert_eq!(*error.kind(), ErrorKind::MalformedResponse);
}

/// LLM-13
#[tokio::test(start_paused = true)]
async fn a_deadline_ends_calls_and_streams_to_the_millisecond() {
    let limit = Duration::from_millis(100);
    let steps = [Step::Hang, Step::Hang, Step::Stall("Twenty")];
    let model = wrapped(Script::new("fake:m", steps));
    let started = Instant::now();
    let error = model.chat(ask().deadline(within(limit))).await.unwrap_err();
    assert_eq!((*error.kind(), started.elapsed()), (ErrorKind::TimedOut, limit));
    let error = model.stream(ask().deadline(within(limit))).await.err().unwrap();
    assert_eq!((*error.kind(), started.elapsed()), (ErrorKind::TimedOut, limit * 2));
    let (text, end) = read(model.stream(ask().deadline(within(limit))).await.unwrap()).await;
    assert_eq!(text, "Twenty");
    assert_eq!(*end.unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(started.elapsed(), limit * 3);
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_at_its_deadline_although_it_never_pauses() {
    #[derive(Debug)]
    struct Endless;
    #[async_trait]
    impl LlmProvider for Endless {
        fn id(&self) -> &str {
            "fake:endless"
        }
        fn capabilities(&self) -> kuhaku_core::Capabilities {
            Default::default()
        }
        async fn chat(&self, _: ChatRequest) -> Result<kuhaku_core::ChatResponse> {
            unreachable!()
        }
        async fn stream(&self, _: ChatRequest) -> Result<kuhaku_core::ChatStream> {
            let texts = futures_util::stream::repeat_with(|| Ok(ChatEvent::Text("a".into())));
            Ok(Box::pin(texts))
        }
    }
    let model = Resilient::new(Endless, "service", exact(&Runtime::system()));
    let mut stream = model.stream(ask().deadline(within(seconds(1)))).await.unwrap();
    for _ in 0..100 {
        assert!(matches!(stream.next().await, Some(Ok(ChatEvent::Text(_)))));
    }
    tokio::time::advance(seconds(1)).await;
    let ended = stream.next().await.unwrap();
    assert_eq!(*ended.unwrap_err().kind(), ErrorKind::TimedOut);
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn streams_that_break_open_the_circuit_and_dropped_ones_do_not() {
    let runtime = Runtime::system();
    let layer = exact(&runtime).attempts(1).breaker(BreakerPolicy::new(2, seconds(60), 1));
    let broken = || Step::Break("Twenty", failure(ErrorKind::Unavailable));
    let steps = [Step::Stall("a"), Step::Stall("a"), broken(), broken()];
    let model = Resilient::new(Script::new("fake:m", steps), "service", layer);
    for _ in 0..2 {
        let mut stream = model.stream(ask()).await.unwrap();
        stream.next().await.unwrap().unwrap();
    }
    for _ in 0..2 {
        read(model.stream(ask()).await.unwrap()).await.1.unwrap_err();
    }
    assert_eq!(*model.stream(ask()).await.err().unwrap().kind(), ErrorKind::CircuitOpen);
}

/// Fails once, then answers.
#[derive(Debug, Default)]
struct Shaky(std::sync::atomic::AtomicBool);

impl Shaky {
    fn answer<T>(&self, value: T) -> Result<T> {
        if self.0.swap(true, std::sync::atomic::Ordering::Relaxed) {
            return Ok(value);
        }
        Err(failure(ErrorKind::Unavailable))
    }
}

#[async_trait]
impl Embedder for Shaky {
    fn fingerprint(&self) -> &str {
        "shaky"
    }
    async fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        self.answer(vec![vec![1.0]; texts.len()])
    }
    async fn embed_query(&self, _: &str) -> Result<Vec<f32>> {
        self.answer(vec![1.0])
    }
}

#[async_trait]
impl Reranker for Shaky {
    fn id(&self) -> &str {
        "shaky"
    }
    async fn rerank(&self, _: &str, texts: &[&str]) -> Result<Vec<Probability>> {
        self.answer(vec![Probability::ONE; texts.len()])
    }
}

#[tokio::test(start_paused = true)]
async fn embedders_and_rerankers_are_tried_again_too() {
    let shaky = || Resilient::new(Shaky::default(), "service", exact(&Runtime::system()));
    assert_eq!(shaky().embed_query("a").await.unwrap(), [1.0]);
    assert_eq!(shaky().embed_documents(&["a", "b"]).await.unwrap().len(), 2);
    assert_eq!(shaky().rerank("a", &["b"]).await.unwrap(), [Probability::ONE]);
    assert_eq!((shaky().fingerprint(), Reranker::id(&shaky())), ("shaky", "shaky"));
}
