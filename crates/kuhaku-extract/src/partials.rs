//! Values while the model writes them.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as TaskContext, Poll};

use futures_core::Stream;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::parts::Core;
use crate::reply::{PartialReply, PieceKind};
use crate::result::Extraction;

/// A part of a result that is being made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExtractionEvent {
    /// A value has become known.
    Field {
        /// Where it belongs: a JSON Pointer into the data.
        path: String,
        /// The value, read leniently; never null.
        value: Value,
        /// Whether it stands in the result. One that is not final is complete and satisfies the
        /// schema by itself; what follows in the reply, another reply, earlier turns, rules and
        /// evidence may still change it.
        is_final: bool,
    },
    /// The end: the whole result. The final values came right before it.
    End(Box<Extraction>),
}

/// A stream of [`ExtractionEvent`]s, made by
/// [`Extractor::extract_stream`](crate::Extractor::extract_stream).
///
/// It ends with [`ExtractionEvent::End`] or with an error, once.
#[must_use = "streams do nothing unless they are polled"]
pub struct ExtractionStream {
    outlet: Outlet,
    /// Until the request has ended.
    work: Option<Pin<Box<dyn Future<Output = Result<Extraction>> + Send>>>,
    end: Option<Result<ExtractionEvent>>,
}

impl fmt::Debug for ExtractionStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ended = self.work.is_none();
        f.debug_struct("ExtractionStream").field("ended", &ended).finish_non_exhaustive()
    }
}

impl ExtractionStream {
    pub(crate) fn new(
        outlet: Outlet,
        work: impl Future<Output = Result<Extraction>> + Send + 'static,
    ) -> Self {
        Self { outlet, work: Some(Box::pin(work)), end: None }
    }

    /// The next event; `None` when it is over.
    pub async fn next(&mut self) -> Option<Result<ExtractionEvent>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl Stream for ExtractionStream {
    type Item = Result<ExtractionEvent>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut TaskContext<'_>,
    ) -> Poll<Option<Self::Item>> {
        if let Some(event) = self.outlet.take() {
            return Poll::Ready(Some(Ok(event)));
        }
        if let Some(work) = &mut self.work {
            let outcome = work.as_mut().poll(context);
            if let Poll::Ready(outcome) = outcome {
                self.work = None;
                if let Ok(result) = &outcome {
                    self.outlet.settle(result);
                }
                let end = outcome.map(|result| ExtractionEvent::End(Box::new(result)));
                self.end = Some(end);
            } else if self.outlet.is_empty() {
                return Poll::Pending;
            }
        }
        Poll::Ready(match self.outlet.take() {
            Some(event) => Some(Ok(event)),
            None => self.end.take(),
        })
    }
}

/// Where values go, from the request that runs within a stream to whoever polls it.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    core: Arc<Core>,
    waiting: Arc<Mutex<VecDeque<ExtractionEvent>>>,
}

impl Outlet {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core, waiting: Arc::default() }
    }

    /// For one reply.
    pub(crate) fn reader(&self) -> PartialFields<'_> {
        PartialFields { outlet: self, reply: PartialReply::default() }
    }

    fn send(&self, path: String, value: Value, is_final: bool) {
        let event = ExtractionEvent::Field { path, value, is_final };
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(event);
    }

    fn take(&self) -> Option<ExtractionEvent> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn is_empty(&self) -> bool {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Sends the values that stand in a result.
    fn settle(&self, result: &Extraction) {
        let Some(state) = &result.state else { return };
        for leaf in self.core.schema.leaves(state).filter(|leaf| !leaf.value.is_null()) {
            self.send(leaf.path, leaf.value.clone(), true);
        }
    }
}

/// The values of one reply, as it arrives.
#[derive(Debug)]
pub(crate) struct PartialFields<'a> {
    outlet: &'a Outlet,
    reply: PartialReply,
}

impl PartialFields<'_> {
    pub(crate) fn push(&mut self, part: &str) {
        for piece in self.reply.push(part) {
            let PieceKind::Scalar(value) = piece.kind else { continue };
            let Some(path) = piece.pointer.strip_prefix("/data/") else { continue };
            if value.is_null() {
                continue;
            }
            let path = format!("/{path}");
            if let Some(value) = self.fitting(&path, value) {
                self.outlet.send(path, value, false);
            }
        }
    }

    /// The value read leniently, if the schema has nothing against it where it stands.
    fn fitting(&self, path: &str, value: Value) -> Option<Value> {
        let core = &self.outlet.core;
        let (alone, place) = alone(path, value);
        let checked = core.schema.check(&alone, &core.coercion);
        let wrong = checked.problems.iter().any(|problem| problem.path == place)
            || !core.schema.unknown_names(&alone).is_empty();
        checked.value.pointer(&place).filter(|_| !wrong).cloned()
    }
}

/// Data with this value and no other, and its place there: the first of each list on the way.
fn alone(path: &str, value: Value) -> (Value, String) {
    let mut place = String::new();
    let mut data = value;
    for token in path.split('/').skip(1).collect::<Vec<_>>().into_iter().rev() {
        let is_index = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        if is_index {
            data = Value::Array(vec![data]);
            place.insert_str(0, "/0");
        } else {
            let name = token.replace("~1", "/").replace("~0", "~");
            data = Value::Object(Map::from_iter([(name, data)]));
            place.insert_str(0, &format!("/{token}"));
        }
    }
    (data, place)
}
