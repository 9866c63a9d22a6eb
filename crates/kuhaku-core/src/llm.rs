//! The contract of text-generating models.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use futures_core::Stream;
use serde_json::Value;

use crate::error::Result;

/// A model that answers messages.
///
/// Implementations are cheap to share, hold no per-call state, and cancel their work when a future
/// or a stream is dropped (R12).
#[async_trait]
pub trait LlmProvider: Send + Sync + fmt::Debug {
    /// Provider and model, written `provider:model`.
    fn id(&self) -> &str;

    /// What the model can do.
    fn capabilities(&self) -> Capabilities;

    /// Answers in one piece.
    async fn chat(&self, request: ChatRequest) -> Result<ChatResponse>;

    /// Answers piece by piece. The pieces concatenate to the text that [`Self::chat`] would give,
    /// and the last event is [`ChatEvent::End`]; a stream without it was cut.
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream>;
}

macro_rules! forward {
    ($pointer:ident) => {
        #[async_trait]
        impl<P: LlmProvider + ?Sized> LlmProvider for $pointer<P> {
            fn id(&self) -> &str {
                (**self).id()
            }

            fn capabilities(&self) -> Capabilities {
                (**self).capabilities()
            }

            async fn chat(&self, request: ChatRequest) -> Result<ChatResponse> {
                (**self).chat(request).await
            }

            async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
                (**self).stream(request).await
            }
        }
    };
}
forward!(Arc);
forward!(Box);

/// A streamed answer.
pub type ChatStream = Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>;

/// What a model can do beyond plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The service itself holds the reply to a JSON Schema.
    pub json_schema: bool,
    /// The longest input in tokens, when known.
    pub context_tokens: Option<u32>,
    /// Deadline, retries and metering are in place. Layers around a model look here, so that
    /// nothing is retried or counted twice.
    pub resilient: bool,
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person, or the program on their behalf.
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Who wrote it.
    pub role: Role,
    /// Its text.
    pub text: String,
}

impl Message {
    /// A message of the person.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, text: text.into() }
    }

    /// An earlier reply of the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, text: text.into() }
    }
}

/// The form that the reply shall have.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum ReplyFormat {
    /// Free text.
    #[default]
    Text,
    /// Any JSON value.
    Json,
    /// JSON that satisfies this schema.
    JsonSchema(Value),
}

/// One call of a model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChatRequest {
    /// Instructions of the program; empty for none.
    pub system: String,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// Randomness, from 0; the provider's default when absent.
    pub temperature: Option<f32>,
    /// The longest reply in tokens; the provider's default when absent.
    pub max_output_tokens: Option<u32>,
    /// Texts at which the reply ends.
    pub stop: Vec<String>,
    /// Makes replies repeatable where the provider can.
    pub seed: Option<u64>,
    /// When the call must have ended: retries, the waits between them and the whole of a stream
    /// included. Past it, the call fails with `TimedOut`.
    pub deadline: Option<Instant>,
    /// The form of the reply.
    pub format: ReplyFormat,
}

impl ChatRequest {
    /// A request with instructions and one question.
    pub fn new(system: impl Into<String>, question: impl Into<String>) -> Self {
        Self { system: system.into(), messages: vec![Message::user(question)], ..Self::default() }
    }

    /// A request with instructions and a conversation, oldest message first.
    pub fn conversation(
        system: impl Into<String>,
        messages: impl IntoIterator<Item = Message>,
    ) -> Self {
        let messages = messages.into_iter().collect();
        Self { system: system.into(), messages, ..Self::default() }
    }

    /// Sets the texts at which the reply ends.
    #[must_use]
    pub fn stop<I>(mut self, texts: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.stop = texts.into_iter().map(Into::into).collect();
        self
    }

    /// Makes the reply repeatable where the provider can.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the form of the reply.
    #[must_use]
    pub fn format(mut self, format: ReplyFormat) -> Self {
        self.format = format;
        self
    }

    /// Sets the randomness.
    #[must_use]
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Limits the reply, in tokens.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets when the call must have ended.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The token limit cut it.
    Length,
    /// A filter of the service removed or cut it.
    ContentFilter,
    /// The model declined.
    Refusal,
}

/// Tokens that a call used. Absent means that the service did not say, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request.
    pub input_tokens: Option<u64>,
    /// Tokens of the reply.
    pub output_tokens: Option<u64>,
}

impl Usage {
    /// Usage as a service reported it.
    pub fn new(input_tokens: Option<u64>, output_tokens: Option<u64>) -> Self {
        Self { input_tokens, output_tokens }
    }

    /// What two calls used together, as far as it is known: absent only if both are.
    ///
    /// ```
    /// use kuhaku_core::Usage;
    /// let known = Usage::new(Some(7), None).plus(Usage::new(Some(3), None));
    /// assert_eq!(known, Usage::new(Some(10), None));
    /// ```
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let plus = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        Self {
            input_tokens: plus(self.input_tokens, other.input_tokens),
            output_tokens: plus(self.output_tokens, other.output_tokens),
        }
    }
}

/// A whole reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatResponse {
    /// The text, trimmed.
    pub text: String,
    /// Why it ended.
    pub finish: Finish,
    /// What it used.
    pub usage: Usage,
    /// The model that answered, as the service names it.
    pub model: String,
}

impl ChatResponse {
    /// A reply that ended by itself, of unknown usage.
    pub fn new(model: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            finish: Finish::Stop,
            usage: Usage::default(),
            model: model.into(),
        }
    }

    /// Sets what the reply used.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Sets why the reply ended.
    #[must_use]
    pub fn finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }
}

/// A piece of a streamed reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatEvent {
    /// More text.
    Text(String),
    /// The end of a complete reply.
    End {
        /// Why it ended.
        finish: Finish,
        /// What it used.
        usage: Usage,
        /// The model that answered, as the service names it.
        model: String,
    },
}
