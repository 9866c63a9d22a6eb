//! One model after the other.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use async_trait::async_trait;
use futures_core::Stream;

use super::stream::{self, Begun};
use crate::error::{Error, ErrorKind, Result};
use crate::llm::{
    Capabilities, ChatEvent, ChatRequest, ChatResponse, ChatStream, LlmProvider, Usage,
};

/// Models of which the first that answers is taken.
///
/// Whatever a model fails with, the next one is asked, as long as the deadline has not passed. An
/// answer is never mixed of two: once a stream has begun, its failure is the failure of the call.
/// The usage of an answer, or of the last failure, is the sum over the models that were asked. The
/// response names the model that answered.
///
/// ```
/// use std::sync::Arc;
/// use kuhaku_core::{Fallback, LlmProvider};
/// # fn chain(large: Arc<dyn LlmProvider>, small: Arc<dyn LlmProvider>) -> impl LlmProvider {
/// Fallback::new(large).then(small)
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Fallback {
    /// Never empty.
    models: Vec<Arc<dyn LlmProvider>>,
    id: String,
}

impl Fallback {
    /// Starts with the model to prefer.
    pub fn new(first: Arc<dyn LlmProvider>) -> Self {
        Self { id: first.id().to_owned(), models: vec![first] }
    }

    /// Adds the model to ask when all before have failed.
    pub fn then(mut self, next: Arc<dyn LlmProvider>) -> Self {
        self.models.push(next);
        self
    }
}

/// The models that failed so far.
#[derive(Debug, Default)]
struct Failures {
    wasted: Usage,
    last: Option<Error>,
}

impl Failures {
    fn add(&mut self, error: Error, of: &str) {
        tracing::warn!(model = of, code = error.code(), "a model gave no answer");
        self.wasted = self.wasted.plus(error.usage());
        self.last = Some(error);
    }

    /// Whether nobody waits for another answer.
    fn are_final(&self, deadline: Option<Instant>) -> bool {
        let late = deadline.is_some_and(|at| at <= tokio::time::Instant::now().into_std());
        let error = self.last.as_ref();
        error.is_some_and(|error| late || *error.kind() == ErrorKind::Cancelled)
    }

    fn into_error(self) -> Error {
        let none = || Error::new(ErrorKind::CapabilityUnavailable, "ask a model", "there is none");
        self.last.unwrap_or_else(none).with_usage(self.wasted)
    }
}

#[async_trait]
impl LlmProvider for Fallback {
    /// The id of the model to prefer.
    fn id(&self) -> &str {
        &self.id
    }

    /// What all of the models can do.
    fn capabilities(&self) -> Capabilities {
        let all = self.models.iter().map(|model| model.capabilities());
        all.reduce(|one, other| Capabilities {
            json_schema: one.json_schema && other.json_schema,
            context_tokens: match (one.context_tokens, other.context_tokens) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            },
            resilient: one.resilient && other.resilient,
        })
        .unwrap_or_default()
    }

    async fn chat(&self, request: ChatRequest) -> Result<ChatResponse> {
        let mut failures = Failures::default();
        for model in &self.models {
            if failures.are_final(request.deadline) {
                break;
            }
            match model.chat(request.clone()).await {
                Ok(mut response) => {
                    response.usage = response.usage.plus(failures.wasted);
                    return Ok(response);
                }
                Err(error) => failures.add(error, model.id()),
            }
        }
        Err(failures.into_error())
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        let mut failures = Failures::default();
        for model in &self.models {
            if failures.are_final(request.deadline) {
                break;
            }
            let begun = match model.stream(request.clone()).await {
                Ok(stream) => stream::begin(stream).await,
                Err(error) => Err(error),
            };
            match begun {
                Ok(begun) => return Ok(Box::pin(Chosen { begun, wasted: failures.wasted })),
                Err(error) => failures.add(error, model.id()),
            }
        }
        Err(failures.into_error())
    }
}

/// The stream of the model that answers.
struct Chosen {
    begun: Begun,
    wasted: Usage,
}

impl Stream for Chosen {
    type Item = Result<ChatEvent>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = ready!(self.begun.poll_next(context));
        Poll::Ready(item.map(|event| match event {
            Ok(ChatEvent::End { finish, usage, model }) => {
                Ok(ChatEvent::End { finish, usage: usage.plus(self.wasted), model })
            }
            Err(error) => {
                let usage = self.wasted.plus(error.usage());
                Err(error.with_usage(usage))
            }
            event => event,
        }))
    }
}
