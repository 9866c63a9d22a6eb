//! Streams: whether they begin, and what becomes of them.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::time::{Instant, Sleep};

use super::breaker::Permit;
use super::metering::{CallSpan, ModelAttempt};
use super::policy::past_deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::{ChatEvent, ChatStream, Usage};

/// A stream whose first event has come. Until then nothing was shown to anybody, so the call could
/// be made again; from then on it cannot.
pub(super) struct Begun {
    first: Option<ChatEvent>,
    rest: ChatStream,
}

/// Waits for the first event.
pub(super) async fn begin(mut stream: ChatStream) -> Result<Begun> {
    match poll_fn(|context| stream.as_mut().poll_next(context)).await {
        Some(Ok(first)) => Ok(Begun { first: Some(first), rest: stream }),
        Some(Err(error)) => Err(error),
        None => Err(Error::new(
            ErrorKind::MalformedResponse,
            "read a streamed reply",
            "it ended before it began",
        )
        .next("check that the address belongs to a service of this kind")),
    }
}

impl Begun {
    pub(super) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<ChatEvent>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(first))),
            None => self.rest.as_mut().poll_next(context),
        }
    }
}

/// What is kept while a stream runs. Dropped in between, the call counts as cancelled: its span and
/// its measurement end, and its breaker hears nothing.
pub(super) struct Watch {
    pub(super) deadline: Option<Pin<Box<Sleep>>>,
    pub(super) permit: Option<Permit>,
    pub(super) wasted: Usage,
    pub(super) span: CallSpan,
    pub(super) attempt: ModelAttempt,
    pub(super) endpoint: String,
}

/// A stream under watch.
pub(super) struct Watched {
    begun: Begun,
    /// Until the end or a failure.
    watch: Option<Watch>,
}

impl Watched {
    pub(super) fn new(begun: Begun, watch: Watch) -> Self {
        Self { begun, watch: Some(watch) }
    }

    fn failed(&mut self, error: Error) -> Error {
        let Some(mut watch) = self.watch.take() else { return error };
        watch.attempt.failed(&error);
        if let Some(permit) = watch.permit.filter(|_| error.is_outage()) {
            permit.failed(Instant::now());
        }
        let usage = watch.wasted.plus(error.usage());
        let error = if usage == error.usage() { error } else { error.with_usage(usage) };
        watch.span.failed(&error);
        error
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(watch) = &self.watch {
            watch.span.used(watch.wasted);
        }
    }
}

impl Stream for Watched {
    type Item = Result<ChatEvent>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(watch) = &mut self.watch else { return Poll::Ready(None) };
        let late = watch.deadline.as_mut().is_some_and(|end| end.as_mut().poll(context).is_ready());
        if late {
            let error = past_deadline(&watch.endpoint);
            return Poll::Ready(Some(Err(self.failed(error))));
        }
        let item = {
            let span = watch.span.span().clone();
            let _entered = span.enter();
            self.begun.poll_next(context)
        };
        Poll::Ready(match std::task::ready!(item) {
            Some(Ok(ChatEvent::End { finish, usage, model })) => {
                let mut total = usage;
                if let Some(mut watch) = self.watch.take() {
                    watch.attempt.succeeded(usage);
                    total = usage.plus(watch.wasted);
                    watch.span.succeeded(&model, finish, total);
                    if let Some(permit) = watch.permit {
                        permit.succeeded();
                    }
                }
                Some(Ok(ChatEvent::End { finish, usage: total, model }))
            }
            Some(Ok(event)) => Some(Ok(event)),
            Some(Err(error)) => Some(Err(self.failed(error))),
            None => Some(Err(self.failed(cut()))),
        })
    }
}

/// A stream that stops without saying that it is complete.
fn cut() -> Error {
    Error::new(ErrorKind::Unavailable, "read a streamed reply", "it ended before its end")
        .next("try again later")
}
