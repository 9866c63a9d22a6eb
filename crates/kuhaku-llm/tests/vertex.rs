//! Vertex AI with the credentials of a key file.

#![cfg(feature = "vertex")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::sync::Arc;

use kuhaku_core::{ErrorKind, HttpClient, Runtime};
use kuhaku_llm::{ChatRequest, LlmProvider, ModelBuilder, Service};
use kuhaku_testkit::transcript::{Reply, TranscriptServer};
use serde_json::json;

const PEM: &str = include_str!("../../../fixtures/providers/vertex/test-only-key.pem");

/// A provider whose key file names the server as the place of tokens.
fn provider(server: &TranscriptServer) -> Arc<dyn LlmProvider> {
    let file = json!({
        "type": "service_account", "client_email": "a@p.example", "project_id": "p",
        "private_key": PEM, "token_uri": format!("{}/token", server.url()),
    });
    let builder = ModelBuilder::new(Service::Vertex, "gemini").key(file.to_string());
    let builder = builder.base_url(server.url());
    builder.build(&HttpClient::builder().build().unwrap(), &Runtime::system()).unwrap()
}

fn token(value: &str) -> Reply {
    Reply::json(json!({"access_token": value, "expires_in": 3600}).to_string())
}

fn answer() -> Reply {
    let content = json!({"parts": [{"text": "Yes."}]});
    let candidate = json!({"content": content, "finishReason": "STOP"});
    Reply::json(json!({ "candidates": [candidate] }).to_string())
}

#[tokio::test]
async fn a_token_is_fetched_once_and_anew_when_it_is_refused() {
    let script = [token("planted-one"), answer(), Reply::new(401), token("planted-two"), answer()];
    let server = TranscriptServer::start(script).await.unwrap();
    let provider = provider(&server);
    for _ in 0..2 {
        let response = provider.chat(ChatRequest::new("", "q")).await.unwrap();
        assert_eq!(response.text, "Yes.");
    }
    let requests = server.requests();
    let seen: Vec<_> = requests
        .iter()
        .map(|request| (request.path == "/token", request.header("authorization")))
        .collect();
    assert_eq!(
        seen,
        [
            (true, None),
            (false, Some("Bearer planted-one")),
            (false, Some("Bearer planted-one")),
            (true, None),
            (false, Some("Bearer planted-two")),
        ]
    );
    assert!(requests[1].path.starts_with("/v1/projects/p/locations/us-central1/"));
}

#[tokio::test]
async fn credentials_that_stay_refused_are_an_error_without_them() {
    let refused = json!({"error": {"code": 401, "message": "token planted-one is wrong"}});
    let refused = Reply::new(401).piece(refused.to_string());
    let script = [token("planted-one"), refused.clone(), token("planted-two"), refused];
    let server = TranscriptServer::start(script).await.unwrap();
    let provider = provider(&server);
    let error = provider.chat(ChatRequest::new("", "q")).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unauthorized);
    assert_eq!(server.requests().len(), 4);
    let shown = format!("{error} {error:?} {provider:?}");
    assert!(!shown.contains("planted-") && !shown.contains("MII"), "{shown}");
}
