//! What each vendor sends, in its own words: the files under `fixtures/providers`.

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
    ChatEvent, ChatRequest, ChatResponse, ErrorKind, Finish, HttpClient, LlmProvider, Resilience,
    Result, Runtime, Usage,
};
use kuhaku_llm::{ModelBuilder, Service};
use kuhaku_testkit::transcript::{Reply, TranscriptServer};

macro_rules! fixture {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../fixtures/providers/", $name)))
    };
}

async fn serve(
    reply: Reply,
    service: Service,
    path: &str,
) -> (TranscriptServer, Arc<dyn LlmProvider>) {
    let server = TranscriptServer::start([reply]).await.unwrap();
    let (http, runtime) = (HttpClient::builder().build().unwrap(), Runtime::system());
    let provider = ModelBuilder::new(service, "m")
        .base_url(format!("{}{path}", server.url()))
        .key("k".to_owned())
        .resilience(Resilience::new(runtime.clone(), "llm").attempts(1))
        .build(&http, &runtime);
    (server, provider.unwrap())
}

/// One call, streamed when the fixture is a stream.
async fn call(name: &str, status: u16, body: &str, service: Service) -> Result<ChatResponse> {
    let path = if name.contains("completion.json") { "/v1/completions" } else { "" };
    let streamed = name.ends_with(".sse");
    let kind = if streamed { "text/event-stream" } else { "application/json" };
    let reply = Reply::new(status).header("content-type", kind).piece(body);
    let (_server, provider) = serve(reply, service, path).await;
    let request = ChatRequest::new("", "How long is the notice period?");
    if !streamed {
        return provider.chat(request).await;
    }
    let events: Vec<_> = provider.stream(request).await?.try_collect().await?;
    let mut text = String::new();
    for event in events {
        match event {
            ChatEvent::Text(piece) => text.push_str(&piece),
            ChatEvent::End { finish, usage, model } => {
                return Ok(ChatResponse::new(model, text).finish(finish).usage(usage));
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("{name} has no end");
}

#[tokio::test]
async fn answers_are_read_as_they_were_meant() {
    let usage = |input, output| Usage::new(Some(input), Some(output));
    let table = [
        (fixture!("openai/chat.json"), Service::OpenAi, Finish::Stop, usage(41, 4)),
        (fixture!("openai/stream.sse"), Service::OpenAi, Finish::Stop, usage(41, 4)),
        (fixture!("groq/stream.sse"), Service::Groq, Finish::Stop, usage(80, 21)),
        (fixture!("openrouter/stream.sse"), Service::OpenRouter, Finish::Length, usage(30, 4)),
        (fixture!("vllm/chat.json"), Service::OpenAiCompat, Finish::Stop, usage(33, 12)),
        (fixture!("lm_studio/stream.sse"), Service::OpenAiCompat, Finish::Stop, Usage::default()),
        (
            fixture!("llama_cpp/completion.json"),
            Service::OpenAiCompat,
            Finish::Length,
            usage(20, 4),
        ),
        (
            fixture!("huggingface/generate.json"),
            Service::HuggingFace,
            Finish::Stop,
            Usage::new(None, Some(4)),
        ),
        (fixture!("huggingface/stream.sse"), Service::HuggingFace, Finish::Stop, usage(18, 3)),
    ];
    for ((name, body), service, finish, usage) in table {
        let response = call(name, 200, body, service).await.unwrap();
        assert_eq!(response.text, "Three months.", "{name}");
        assert_eq!((response.finish, response.usage), (finish, usage), "{name}");
    }
    let (name, body) = fixture!("openai/refusal.json");
    let refused = call(name, 200, body, Service::OpenAi).await.unwrap();
    assert_eq!(
        (refused.text.as_str(), refused.finish),
        ("I cannot help with that.", Finish::Refusal)
    );
}

#[tokio::test]
async fn failures_are_read_as_they_were_meant() {
    let (openrouter, compatible) = (Service::OpenRouter, Service::OpenAiCompat);
    let table = [
        (fixture!("openrouter/error_in_success.json"), 200, openrouter, ErrorKind::RateLimited, ""),
        (fixture!("lm_studio/error.sse"), 200, compatible, ErrorKind::Unavailable, "has crashed"),
        (fixture!("vllm/too_long.json"), 400, compatible, ErrorKind::ContextTooLong, "is 904 over"),
        (fixture!("llama_cpp/too_long.json"), 400, compatible, ErrorKind::ContextTooLong, ""),
        (fixture!("groq/json_refused.json"), 400, Service::Groq, ErrorKind::InvalidInput, ""),
    ];
    for ((name, body), status, service, kind, said) in table {
        let error = call(name, status, body, service).await.unwrap_err();
        assert_eq!(*error.kind(), kind, "{name}: {error}");
        assert!(error.to_string().contains(said), "{name}: {error}");
    }
}
