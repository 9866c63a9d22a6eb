//! Rules that hold for every service, each shown with one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::sync::Arc;

use futures_util::TryStreamExt;
use kuhaku_core::{
    ChatEvent, ChatRequest, ErrorKind, Fallback, HttpClient, LlmProvider, ReplyFormat, Resilience,
    Result, Runtime,
};
use kuhaku_llm::{ModelBuilder, Service};
use kuhaku_testkit::transcript::{Reply, TranscriptServer};
use serde_json::{Value, json};

fn model(service: Service, server: &TranscriptServer) -> ModelBuilder {
    ModelBuilder::new(service, "gpt-oss").base_url(server.url()).key("k".to_owned())
}

fn build(builder: ModelBuilder) -> Arc<dyn LlmProvider> {
    let (http, runtime) = (HttpClient::builder().build().unwrap(), Runtime::system());
    let once = Resilience::new(runtime.clone(), "llm").attempts(1);
    builder.resilience(once).build(&http, &runtime).unwrap()
}

async fn serving(reply: Reply) -> TranscriptServer {
    TranscriptServer::start([reply]).await.unwrap()
}

fn answer(content: Value) -> Reply {
    Reply::json(json!({"choices": [{"message": {"content": content}}]}).to_string())
}

fn streamed(content: &str) -> Reply {
    let choice = json!({"index": 0, "delta": {"content": content}, "finish_reason": "stop"});
    let event = json!({"choices": [choice]});
    Reply::stream("text/event-stream").piece(format!("data: {event}\n\ndata: [DONE]\n\n"))
}

fn days() -> ChatRequest {
    let schema = json!({
        "type": "object",
        "properties": {"days": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["days"],
        "additionalProperties": false,
    });
    ChatRequest::new("", "How many days?").format(ReplyFormat::JsonSchema(schema))
}

async fn stream(provider: &dyn LlmProvider, request: ChatRequest) -> Result<Vec<ChatEvent>> {
    provider.stream(request).await?.try_collect().await
}

#[tokio::test]
async fn what_is_too_long_is_not_sent_and_the_error_says_by_how_much() {
    let server = serving(answer("Yes.".into())).await;
    let provider = build(model(Service::OpenAiCompat, &server).context_tokens(1_000));
    assert_eq!(provider.capabilities().context_tokens, Some(1_000));
    let request = ChatRequest::new("", "word ".repeat(1_000)).max_output_tokens(200);
    // 5,000 letters and blanks at 3 to a token, and 8 for the message.
    let wrong = "the input of 1675 tokens is 875 over the limit of 800";
    for error in [
        provider.chat(request.clone()).await.unwrap_err(),
        stream(&*provider, request).await.unwrap_err(),
    ] {
        assert_eq!(*error.kind(), ErrorKind::ContextTooLong);
        assert!(error.wrong().contains(wrong), "{error}");
    }
    assert_eq!(server.requests().len(), 0);
    provider.chat(ChatRequest::new("", "word").max_output_tokens(200)).await.unwrap();
}

/// LLM-04
#[tokio::test]
async fn a_reply_without_text_is_an_error_and_the_next_model_is_asked() {
    let empty = serving(answer(Value::Null)).await;
    let other = serving(answer("Yes.".into())).await;
    let first = build(model(Service::OpenAi, &empty));
    let error = first.chat(ChatRequest::new("", "?")).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::EmptyResponse);
    let models = Fallback::new(first).then(build(model(Service::Groq, &other)));
    assert_eq!(models.chat(ChatRequest::new("", "?")).await.unwrap().text, "Yes.");
}

/// LLM-14
#[tokio::test]
async fn a_reply_that_breaks_the_schema_is_an_error_although_the_service_promised_it() {
    for content in [r#"{"days": "ninety"}"#, r#"{"days": 90, "more": 1}"#, "ninety"] {
        let server = serving(answer(content.into())).await;
        let error = build(model(Service::OpenAi, &server)).chat(days()).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::MalformedResponse, "{content}");
        assert!(!error.to_string().contains("ninety"), "{error}");
        let format = &server.requests()[0].json().unwrap()["response_format"];
        assert_eq!(
            (&format["type"], &format["json_schema"]["strict"]),
            (&json!("json_schema"), &json!(true))
        );
        let server = serving(streamed(content)).await;
        let error = stream(&*build(model(Service::OpenAi, &server)), days()).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::MalformedResponse, "{content}");
    }
}

#[tokio::test]
async fn a_null_that_only_the_wire_form_needed_is_not_given() {
    let content = r#"{"days": 90, "note": null}"#;
    let server = serving(answer(content.into())).await;
    let response = build(model(Service::OpenAi, &server)).chat(days()).await.unwrap();
    assert_eq!(response.text, r#"{"days":90}"#);
    let sent = server.requests()[0].json().unwrap();
    let schema = &sent["response_format"]["json_schema"]["schema"];
    assert_eq!(schema["required"], json!(["days", "note"]));
    let server = serving(streamed(content)).await;
    let events = stream(&*build(model(Service::OpenAi, &server)), days()).await.unwrap();
    assert_eq!(events[0], ChatEvent::Text(r#"{"days":90}"#.into()));
}

#[tokio::test]
async fn json_that_groq_refuses_is_given_if_it_satisfies_the_schema() {
    let refused = |generation: &str| {
        let code = "json_validate_failed";
        let error = json!({"message": "m", "code": code, "failed_generation": generation});
        Reply::new(400)
            .header("content-type", "application/json")
            .piece(json!({ "error": error }).to_string())
    };
    let server = serving(refused("So: {\"days\": 90}.")).await;
    let response = build(model(Service::Groq, &server)).chat(days()).await.unwrap();
    assert_eq!(response.text, r#"{"days":90}"#);
    for (generation, request) in
        [("{\"days\": null}", days()), ("{\"days\": 90}", ChatRequest::new("", "How many days?"))]
    {
        let server = serving(refused(generation)).await;
        let error = build(model(Service::Groq, &server)).chat(request).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::InvalidInput);
    }
}

#[tokio::test]
async fn a_service_that_does_not_stream_is_heard_all_the_same() {
    let server = serving(answer("Yes.".into())).await;
    let provider = build(model(Service::OpenAiCompat, &server));
    let events = stream(&*provider, ChatRequest::new("", "?")).await.unwrap();
    assert_eq!(events[0], ChatEvent::Text("Yes.".into()));
    assert!(matches!(events[1], ChatEvent::End { .. }));
}

#[tokio::test]
async fn a_stream_may_end_without_its_mark_once_the_reason_is_known() {
    let choice = json!({"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"});
    let body = format!("data: {}", json!({"choices": [choice]}));
    let server = serving(Reply::stream("text/event-stream").piece(body)).await;
    let provider = build(model(Service::OpenAiCompat, &server));
    let events = stream(&*provider, ChatRequest::new("", "?")).await.unwrap();
    assert_eq!(events.len(), 2);
}

#[tokio::test]
async fn a_cut_stream_gives_the_text_so_far_and_says_that_it_is_a_part() {
    let choice = json!({"index": 0, "delta": {"content": "Three"}, "finish_reason": null});
    let body = format!("data: {}\n\n", json!({"choices": [choice]}));
    let server = serving(Reply::stream("text/event-stream").piece(body)).await;
    let provider = build(model(Service::OpenAiCompat, &server));
    let mut stream = provider.stream(ChatRequest::new("", "?")).await.unwrap();
    assert_eq!(stream.try_next().await.unwrap(), Some(ChatEvent::Text("Three".into())));
    let error = stream.try_next().await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("the text so far is only a part"), "{error}");
}
