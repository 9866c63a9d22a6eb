//! A language model that follows a script.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use async_trait::async_trait;
use futures_core::Stream;
use kuhaku_core::{
    Capabilities, ChatEvent, ChatRequest, ChatResponse, ChatStream, Error, ErrorKind, LlmProvider,
    Result,
};

/// A provider that gives the replies of a script in order and keeps the requests it was sent.
///
/// When the script is used up, calls fail with [`ErrorKind::Unavailable`].
///
/// ```
/// use kuhaku_testkit::ScriptedLlm;
/// let model = ScriptedLlm::new(["Twenty-five days. [S1]"]);
/// assert_eq!(model.requests().len(), 0);
/// ```
#[derive(Debug, Default)]
pub struct ScriptedLlm {
    script: Mutex<VecDeque<Result<ChatResponse>>>,
    requests: Mutex<Vec<ChatRequest>>,
}

impl ScriptedLlm {
    /// A model that gives these texts in order.
    pub fn new<I>(replies: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        Self::with_outcomes(replies.into_iter().map(|text| Ok(ChatResponse::new("scripted", text))))
    }

    /// A model that gives these replies and failures in order.
    pub fn with_outcomes(script: impl IntoIterator<Item = Result<ChatResponse>>) -> Self {
        Self { script: Mutex::new(script.into_iter().collect()), ..Self::default() }
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn next(&self, request: ChatRequest) -> Result<ChatResponse> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        let next = self.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.unwrap_or_else(|| {
            Err(Error::new(
                ErrorKind::Unavailable,
                "ask the scripted model",
                "its script is used up",
            )
            .next("give the script one reply per call"))
        })
    }
}

#[async_trait]
impl LlmProvider for ScriptedLlm {
    fn id(&self) -> &str {
        "scripted:model"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn chat(&self, request: ChatRequest) -> Result<ChatResponse> {
        self.next(request)
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        let ChatResponse { text, finish, usage, model, .. } = self.next(request)?;
        let words = text.split_inclusive(' ').map(|word| Ok(ChatEvent::Text(word.into())));
        let end = ChatEvent::End { finish, usage, model };
        Ok(Box::pin(Events(words.chain([Ok(end)]).collect())))
    }
}

/// A stream over events that are there already.
struct Events(VecDeque<Result<ChatEvent>>);

impl Stream for Events {
    type Item = Result<ChatEvent>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.pop_front())
    }
}
