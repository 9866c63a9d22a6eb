//! What the cases share.

use std::sync::Arc;

use kuhaku_core::{Entropy, HttpClient, LlmProvider, Resilience, Result, Runtime};
use kuhaku_llm::ModelBuilder;
use kuhaku_testkit::providers::Endpoint;
use secrecy::ExposeSecret;
use serde_json::Value;

/// The same bytes every time, so that the borders of a fence are known.
#[derive(Debug)]
struct Rest;

impl Entropy for Rest {
    fn fill(&self, buffer: &mut [u8]) -> Result<()> {
        buffer.fill(7);
        Ok(())
    }
}

/// A runtime whose random bytes are known.
pub(crate) fn resting_runtime() -> Runtime {
    Runtime::builder().entropy(Rest).build()
}

/// The provider for an endpoint of the suite.
pub(crate) fn build(
    builder: ModelBuilder,
    endpoint: &Endpoint,
    http: &HttpClient,
) -> Arc<dyn LlmProvider> {
    let runtime = resting_runtime();
    let resilience = Resilience::new(runtime.clone(), "llm")
        .attempts(endpoint.attempts)
        .backoff(endpoint.backoff, endpoint.backoff);
    builder
        .key(endpoint.key.expose_secret().to_owned())
        .attempt_timeout(endpoint.attempt_timeout)
        .idle_timeout(endpoint.idle_timeout)
        .resilience(resilience)
        .build(http, &runtime)
        .unwrap()
}

/// A server-sent event without a name.
pub(crate) fn event(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}
