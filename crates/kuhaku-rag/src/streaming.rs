//! Answers that come piece by piece.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;

use crate::answer::Answer;
use crate::error::Result;

/// A part of an answer that is being given.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnswerEvent {
    /// More of the text.
    Text(String),
    /// The end: the whole answer.
    End {
        /// With its text, citations, sources and all else.
        answer: Box<Answer>,
        /// The text of the answer is another one than the pieces so far, and stands in their place:
        /// the rest of what the model wrote showed that they should not have been given. Otherwise
        /// the pieces concatenate to it.
        replaces: bool,
    },
}

/// A stream of [`AnswerEvent`]s, made by [`RagEngine::ask_stream`](crate::RagEngine::ask_stream).
///
/// It ends with [`AnswerEvent::End`] or with an error, once.
///
/// ```
/// use kuhaku_rag::{AnswerEvent, AskRequest, RagEngine};
///
/// # async fn print(engine: RagEngine, question: AskRequest) -> kuhaku_rag::Result<()> {
/// let mut stream = engine.ask_stream(&question);
/// while let Some(event) = stream.next().await {
///     match event? {
///         AnswerEvent::Text(text) => print!("{text}"),
///         AnswerEvent::End { answer, replaces: true } => print!("\nrather: {}", answer.text),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless they are polled"]
pub struct AnswerStream {
    outlet: Outlet,
    /// Until the request has ended.
    work: Option<Pin<Box<dyn Future<Output = Result<Answer>> + Send>>>,
    end: Option<Result<AnswerEvent>>,
}

impl fmt::Debug for AnswerStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerStream").field("ended", &self.work.is_none()).finish_non_exhaustive()
    }
}

impl AnswerStream {
    pub(crate) fn new<F>(work: impl FnOnce(Outlet) -> F) -> Self
    where
        F: Future<Output = Result<Answer>> + Send + 'static,
    {
        let outlet = Outlet::default();
        let work = Box::pin(work(outlet.clone()));
        Self { outlet, work: Some(work), end: None }
    }

    /// The next event; `None` when it is over.
    pub async fn next(&mut self) -> Option<Result<AnswerEvent>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl Stream for AnswerStream {
    type Item = Result<AnswerEvent>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(text) = self.outlet.take() {
            return Poll::Ready(Some(Ok(AnswerEvent::Text(text))));
        }
        if let Some(work) = &mut self.work {
            match work.as_mut().poll(context) {
                Poll::Ready(outcome) => {
                    self.work = None;
                    self.end = Some(outcome.map(|answer| self.outlet.end(answer)));
                }
                // Pieces may have come all the same; the rest wakes this task.
                Poll::Pending => {
                    return match self.outlet.take() {
                        Some(text) => Poll::Ready(Some(Ok(AnswerEvent::Text(text)))),
                        None => Poll::Pending,
                    };
                }
            }
        }
        Poll::Ready(match self.outlet.take() {
            Some(text) => Some(Ok(AnswerEvent::Text(text))),
            None => self.end.take(),
        })
    }
}

/// Where the pieces go, from the request that runs within a stream to whoever polls it.
#[derive(Clone, Default)]
pub(crate) struct Outlet(Arc<Mutex<Sent>>);

#[derive(Default)]
struct Sent {
    waiting: VecDeque<String>,
    all: String,
}

impl Outlet {
    fn lock(&self) -> MutexGuard<'_, Sent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn send(&self, text: &str) {
        let mut sent = self.lock();
        sent.all.push_str(text);
        sent.waiting.push_back(text.into());
    }

    /// How many characters were sent.
    pub(crate) fn sent(&self) -> usize {
        self.lock().all.chars().count()
    }

    fn take(&self) -> Option<String> {
        self.lock().waiting.pop_front()
    }

    /// Sends what is left of an answer, unless other text has been sent.
    fn end(&self, answer: Answer) -> AnswerEvent {
        let mut sent = self.lock();
        let rest = answer.text.strip_prefix(sent.all.as_str()).map(str::to_owned);
        let replaces = rest.is_none();
        sent.waiting.extend(rest.filter(|rest| !rest.is_empty()));
        AnswerEvent::End { answer: Box::new(answer), replaces }
    }
}
