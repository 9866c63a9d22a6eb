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
mod page;
mod support;
mod vertex;

use openai::Case;
use page::conforms;

/// LLM-01, LLM-06, LLM-13, LLM-14
#[tokio::test]
async fn openai_conforms() {
    conforms(&Case::openai()).await;
}

/// LLM-05: the part about Groq.
#[tokio::test]
async fn groq_conforms() {
    conforms(&Case::groq()).await;
}

#[tokio::test]
async fn openrouter_conforms() {
    conforms(&Case::openrouter()).await;
}

#[tokio::test]
async fn a_compatible_server_conforms() {
    conforms(&Case::compatible()).await;
}

#[tokio::test]
async fn a_compatible_server_with_the_older_endpoint_conforms() {
    conforms(&Case::completions()).await;
}

#[tokio::test]
async fn text_generation_inference_conforms() {
    conforms(&Case::tgi()).await;
}

#[tokio::test]
async fn text_generation_inference_with_messages_conforms() {
    conforms(&Case::tgi_chat()).await;
}

/// LLM-02, LLM-13, LLM-14
#[tokio::test]
async fn anthropic_conforms() {
    conforms(&anthropic::Anthropic::new()).await;
}

/// LLM-02, LLM-13, LLM-14, HY-61, HY-62, HY-63
#[tokio::test]
async fn ollama_conforms() {
    conforms(&ollama::Ollama::new()).await;
}

#[tokio::test]
async fn vertex_conforms() {
    conforms(&vertex::Vertex::new()).await;
}
