//! A model behind the layer.

use std::fmt;

use async_trait::async_trait;
use tokio::time::sleep_until;
use tracing::Instrument;

use super::metering::{CallSpan, ModelAttempt};
use super::policy::Resilience;
use super::stream::{self, Watch, Watched};
use crate::error::Result;
use crate::llm::{Capabilities, ChatRequest, ChatResponse, ChatStream, LlmProvider};

/// A model each of whose calls goes through a [`Resilience`].
///
/// It is what it wraps: an `LlmProvider`, an `Embedder`, a `Reranker`, or several of them. A call of
/// a language model makes one span, keeps the deadline of its request, and adds what its failed
/// attempts used to the usage of its reply. A stream is tried again until its first event, and not
/// after. A language model that is resilient already passes through unchanged.
///
/// ```
/// use kuhaku_core::{LlmProvider, Resilience, Resilient, Runtime};
/// # fn wrap(model: std::sync::Arc<dyn LlmProvider>) -> impl LlmProvider {
/// let resilience = Resilience::new(Runtime::system(), "llm").attempts(3);
/// Resilient::new(model, "https://api.example/v1", resilience)
/// # }
/// ```
pub struct Resilient<M> {
    pub(super) model: M,
    pub(super) endpoint: String,
    pub(super) resilience: Resilience,
}

impl<M: fmt::Debug> fmt::Debug for Resilient<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resilient")
            .field("model", &self.model)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

impl<M> Resilient<M> {
    /// A model at an endpoint. Models at one endpoint share its breaker; errors name the endpoint,
    /// so it holds no secret.
    pub fn new(model: M, endpoint: impl Into<String>, resilience: Resilience) -> Self {
        Self { model, endpoint: endpoint.into(), resilience }
    }
}

#[async_trait]
impl<M: LlmProvider> LlmProvider for Resilient<M> {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { resilient: true, ..self.model.capabilities() }
    }

    async fn chat(&self, request: ChatRequest) -> Result<ChatResponse> {
        if self.model.capabilities().resilient {
            return self.model.chat(request).await;
        }
        let mut span = CallSpan::begin(self.id());
        let deadline = request.deadline;
        let call = self.resilience.run(&self.endpoint, deadline, |_| async {
            let mut attempt = ModelAttempt::begin(self.resilience.runtime(), self.id());
            let outcome = self.model.chat(request.clone()).await;
            match &outcome {
                Ok(response) => attempt.succeeded(response.usage),
                Err(error) => attempt.failed(error),
            }
            outcome
        });
        let outcome = call.instrument(span.span().clone()).await;
        let done = outcome.inspect_err(|error| span.failed(error))?;
        if let Some(permit) = done.permit {
            permit.succeeded();
        }
        let mut response = done.value;
        response.usage = response.usage.plus(done.wasted);
        span.succeeded(&response.model, response.finish, response.usage);
        Ok(response)
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        if self.model.capabilities().resilient {
            return self.model.stream(request).await;
        }
        let mut span = CallSpan::begin(self.id());
        let deadline = request.deadline;
        let call = self.resilience.run(&self.endpoint, deadline, |_| async {
            let mut attempt = ModelAttempt::begin(self.resilience.runtime(), self.id());
            let outcome = match self.model.stream(request.clone()).await {
                Ok(stream) => stream::begin(stream).await,
                Err(error) => Err(error),
            };
            outcome.inspect_err(|error| attempt.failed(error)).map(|begun| (begun, attempt))
        });
        let outcome = call.instrument(span.span().clone()).await;
        let done = outcome.inspect_err(|error| span.failed(error))?;
        let (begun, attempt) = done.value;
        // The circuit is not kept waiting for the end of a long answer.
        let permit = match done.permit {
            Some(permit) if permit.is_probe() => {
                permit.succeeded();
                None
            }
            permit => permit,
        };
        let deadline = deadline.map(|deadline| Box::pin(sleep_until(deadline.into())));
        let endpoint = self.endpoint.clone();
        let watch = Watch { deadline, permit, wasted: done.wasted, span, attempt, endpoint };
        Ok(Box::pin(Watched::new(begun, watch)))
    }
}
