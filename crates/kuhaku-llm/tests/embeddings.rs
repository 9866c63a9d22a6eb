//! Embeddings over HTTP, against a server that follows a script.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::sync::Arc;
use std::time::Duration;

use kuhaku_core::{Embedder, ErrorKind, HttpClient, Resilience, Runtime};
use kuhaku_llm::{EmbedderBuilder, Service};
use kuhaku_testkit::transcript::{Reply, TranscriptServer};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const KEY: &str = "planted-key-5up3r53cr3t";

fn build(builder: EmbedderBuilder, server: &TranscriptServer) -> Arc<dyn Embedder> {
    let runtime = Runtime::system();
    let resilience = Resilience::new(runtime.clone(), "embedding")
        .attempts(2)
        .backoff(Duration::from_millis(1), Duration::from_millis(1));
    let builder = builder.base_url(server.url()).key(KEY.to_owned()).resilience(resilience);
    builder.build(&HttpClient::builder().build().unwrap(), &runtime).unwrap()
}

fn ollama(server: &TranscriptServer) -> Arc<dyn Embedder> {
    build(EmbedderBuilder::new(Service::Ollama, "bge-m3"), server)
}

fn vectors(vectors: Value) -> Reply {
    Reply::json(json!({ "embeddings": vectors }).to_string())
}

/// Answers each request with a vector per text that tells which it is, the first batch last.
async fn tell(listener: TcpListener) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::spawn(async move {
            let mut seen = Vec::new();
            let input = loop {
                stream.read_buf(&mut seen).await.unwrap();
                let text = String::from_utf8_lossy(&seen);
                let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
                if let Ok(Value::Object(body)) = serde_json::from_str(body) {
                    break body["input"].clone();
                }
            };
            let texts = input.as_array().unwrap().iter();
            let numbers: Vec<f64> =
                texts.map(|text| text.as_str().unwrap().parse().unwrap()).collect();
            if numbers.contains(&0.0) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            let vectors: Vec<_> = numbers.iter().map(|n| json!([1.0, n])).collect();
            let body = json!({ "embeddings": vectors }).to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all((head + &body).as_bytes()).await.unwrap();
        });
    }
}

#[tokio::test]
async fn texts_come_back_in_their_order_whichever_batch_is_first() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(tell(listener));
    let texts: Vec<String> = (0..150).map(|n| n.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let builder = EmbedderBuilder::new(Service::Ollama, "bge-m3").base_url(url);
    let embedder =
        builder.build(&HttpClient::builder().build().unwrap(), &Runtime::system()).unwrap();
    let vectors = embedder.embed_documents(&texts).await.unwrap();
    assert_eq!(vectors.len(), texts.len());
    for (n, vector) in vectors.iter().enumerate() {
        assert!((vector[1] / vector[0] - n as f32).abs() < 1e-2, "{n}: {vector:?}");
    }
    assert!(embedder.embed_documents(&[]).await.unwrap().is_empty());
    server.abort();
}

#[tokio::test]
async fn vectors_are_of_length_one_and_of_the_dimension() {
    let server = TranscriptServer::start([vectors(json!([[3.0, 4.0]]))]).await.unwrap();
    assert_eq!(ollama(&server).embed_query("q").await.unwrap(), [0.6, 0.8]);
    let of_three = EmbedderBuilder::new(Service::Ollama, "bge-m3").dimension(3);
    let error = build(of_three, &server).embed_query("q").await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::MalformedResponse);
    assert!(error.to_string().contains("2 numbers, not 3"), "{error}");
}

#[tokio::test]
async fn a_failure_is_tried_again_and_shows_neither_key_nor_text() {
    let busy = Reply::new(503).piece(json!({"error": format!("{KEY} planted text")}).to_string());
    let script = [busy.clone(), vectors(json!([[1.0]]))];
    let server = TranscriptServer::start(script).await.unwrap();
    assert_eq!(ollama(&server).embed_query("q").await.unwrap(), [1.0]);
    assert_eq!(server.requests().len(), 2);

    let server = TranscriptServer::start([busy]).await.unwrap();
    let embedder = ollama(&server);
    let error = embedder.embed_documents(&["planted text"]).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unavailable);
    let shown = format!("{error} {error:?} {embedder:?} {}", embedder.fingerprint());
    assert!(!shown.contains(KEY) && !shown.contains("planted text"), "{shown}");
}

#[tokio::test]
async fn a_text_that_is_too_long_is_an_error_and_is_sent_once() {
    let body = json!({"error": "the input length exceeds the context length"}).to_string();
    let server = TranscriptServer::start([Reply::new(400).piece(body)]).await.unwrap();
    let error = ollama(&server).embed_query("long").await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::ContextTooLong);
    assert_eq!(server.requests().len(), 1);
}

#[cfg(feature = "vertex")]
#[tokio::test]
async fn vertex_embeds_one_text_at_a_time_where_the_model_takes_one() {
    let one = json!({"predictions": [{"embeddings": {"values": [0.0, 2.0]}}]}).to_string();
    let server = TranscriptServer::start([Reply::json(one)]).await.unwrap();
    let builder = EmbedderBuilder::new(Service::Vertex, "gemini-embedding-001").project("p");
    let embedder = build(builder, &server);
    let vectors = embedder.embed_documents(&["a", "b"]).await.unwrap();
    assert_eq!(vectors, [[0.0, 1.0], [0.0, 1.0]]);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let bearer = format!("Bearer {KEY}");
    assert!(requests.iter().all(|request| request.header("authorization") == Some(&bearer)));
}

#[tokio::test]
async fn a_compatible_server_may_answer_in_any_order_and_length() {
    let reply = r#"{"data": [
        {"index": 1, "embedding": [0.0, 2.0]},
        {"index": 0, "embedding": [3.0, 4.0]}
    ]}"#;
    let server = TranscriptServer::start([Reply::json(reply)]).await.unwrap();
    let builder = EmbedderBuilder::new(Service::OpenAiCompat, "e5")
        .base_url(format!("{}/v1/embeddings", server.url()))
        .key("k".to_owned())
        .dimension(2);
    let embedder = builder.build(&HttpClient::builder().build().unwrap(), &Runtime::system());
    let vectors = embedder.unwrap().embed_documents(&["a", "b"]).await.unwrap();
    assert_eq!(vectors, [[0.6, 0.8], [0.0, 1.0]]);
    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/embeddings");
    assert_eq!(requests[0].header("authorization"), Some("Bearer k"));
}
