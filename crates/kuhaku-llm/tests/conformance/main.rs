//! The suite of the testkit, run for every provider.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod anthropic;
mod ollama;
mod openai;
mod support;
#[cfg(feature = "vertex")]
mod vertex;

use kuhaku_testkit::providers::conformance;
use openai::Case;

/// LLM-01, LLM-06, LLM-13, LLM-14
#[tokio::test]
async fn openai_conforms() {
    conformance(&Case::openai()).await.assert_conforms();
}

/// LLM-05: the part about Groq.
#[tokio::test]
async fn groq_conforms() {
    conformance(&Case::groq()).await.assert_conforms();
}

#[tokio::test]
async fn openrouter_conforms() {
    conformance(&Case::openrouter()).await.assert_conforms();
}

#[tokio::test]
async fn a_compatible_server_conforms() {
    conformance(&Case::compatible()).await.assert_conforms();
}

#[tokio::test]
async fn a_compatible_server_with_the_older_endpoint_conforms() {
    conformance(&Case::completions()).await.assert_conforms();
}

#[tokio::test]
async fn text_generation_inference_conforms() {
    conformance(&Case::tgi()).await.assert_conforms();
}

#[tokio::test]
async fn text_generation_inference_with_messages_conforms() {
    conformance(&Case::tgi_chat()).await.assert_conforms();
}

/// LLM-02, LLM-13, LLM-14
#[tokio::test]
async fn anthropic_conforms() {
    conformance(&anthropic::Anthropic::new()).await.assert_conforms();
}

/// LLM-02, LLM-13, LLM-14
#[tokio::test]
async fn ollama_conforms() {
    conformance(&ollama::Ollama::new()).await.assert_conforms();
}

#[cfg(feature = "vertex")]
#[tokio::test]
async fn vertex_conforms() {
    conformance(&vertex::Vertex::new()).await.assert_conforms();
}
