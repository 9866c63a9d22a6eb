//! One model after the other.

use kuhaku_core::{
    ChatRequest, ErrorKind, Fallback, LlmProvider, Resilient, Runtime, Status, Usage,
};

use crate::support::{Script, Step, exact, failure, read, seconds, used, within};

fn ask() -> ChatRequest {
    ChatRequest::new("", "How long?")
}

/// LLM-04: a model without an answer, as a null content is.
#[tokio::test(start_paused = true)]
async fn whatever_a_model_fails_with_the_next_one_is_asked_and_usage_is_summed() {
    for kind in [
        ErrorKind::EmptyResponse,
        ErrorKind::Unavailable,
        ErrorKind::Unauthorized,
        ErrorKind::ContextTooLong,
        ErrorKind::CircuitOpen,
    ] {
        let costly = failure(kind).with_usage(used(5, 1));
        let first = Script::new("fake:a", [Step::Fail(costly)]);
        let second = Script::new("fake:b", [Step::Answer("Yes.", used(7, 3))]);
        let response = Fallback::new(first).then(second).chat(ask()).await.unwrap();
        assert_eq!((response.model.as_str(), response.usage), ("fake:b", used(12, 4)), "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn when_all_are_down_the_last_failure_is_told_with_what_all_used() {
    let costly = |input| Step::Fail(failure(ErrorKind::Unavailable).with_usage(used(input, 0)));
    let layered = |id, inputs: [u64; 3]| {
        let script = Script::new(id, inputs.map(costly));
        Resilient::new(script, id, exact(&Runtime::system()))
    };
    let first = std::sync::Arc::new(layered("fake:a", [1, 2, 3]));
    let second = std::sync::Arc::new(layered("fake:b", [10, 20, 30]));
    let chain = Fallback::new(first).then(second);
    assert!(chain.capabilities().resilient);
    let error = chain.chat(ask()).await.unwrap_err();
    assert_eq!((*error.kind(), error.status()), (ErrorKind::Unavailable, Status::Persistent));
    assert_eq!(error.usage(), used(66, 0));
}

#[tokio::test(start_paused = true)]
async fn a_stream_falls_back_until_it_has_begun() {
    let broken = || failure(ErrorKind::Unavailable).with_usage(used(5, 1));
    let first = Script::new("fake:a", [Step::Break("", broken()), Step::Break("Twenty", broken())]);
    let second = Script::new("fake:b", [Step::Answer("Yes.", used(7, 3)), Step::Hang]);
    let chain = Fallback::new(first).then(second.clone());
    let (text, end) = read(chain.stream(ask()).await.unwrap()).await;
    assert_eq!((text.as_str(), end.unwrap()), ("Yes.", used(12, 4)));
    let (text, end) = read(chain.stream(ask()).await.unwrap()).await;
    assert_eq!((text.as_str(), end.unwrap_err().usage()), ("Twenty", used(5, 1)));
    assert_eq!(second.left(), 1, "nothing of another model is mixed in");
}

#[tokio::test(start_paused = true)]
async fn nobody_else_is_asked_when_nobody_waits_any_more() {
    let second = Script::new("fake:b", [Step::Answer("Yes.", Usage::default())]);
    let slow =
        Resilient::new(Script::new("fake:a", [Step::Hang]), "service", exact(&Runtime::system()));
    let chain = Fallback::new(std::sync::Arc::new(slow)).then(second.clone());
    let error = chain.chat(ask().deadline(within(seconds(1)))).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::TimedOut);
    let cancelled = Script::new("fake:a", [Step::Fail(failure(ErrorKind::Cancelled))]);
    Fallback::new(cancelled).then(second.clone()).chat(ask()).await.unwrap_err();
    assert_eq!(second.left(), 1);
}
