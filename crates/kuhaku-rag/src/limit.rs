//! How long a request may take (R12).

use std::future::Future;
use std::time::{Duration, Instant};

use kuhaku_core::ErrorKind as CoreErrorKind;
use tokio::runtime::Handle;

use crate::error::{Error, ErrorKind, Result};

/// When a request must have ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// None when it lies beyond what the clock can count.
    deadline: Option<Instant>,
    seconds: f64,
}

impl Limit {
    pub(crate) fn new(begun: Instant, seconds: f64) -> Self {
        let time = Duration::try_from_secs_f64(seconds).ok();
        Self { deadline: time.and_then(|time| begun.checked_add(time)), seconds }
    }

    /// For the call of a model, and for retrieval.
    pub(crate) fn deadline(self) -> Option<Instant> {
        self.deadline
    }

    /// Ends some work at the limit. Outside of a runtime there is nothing to wake it up, and it runs
    /// to its end.
    pub(crate) async fn of<T>(self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let Some(deadline) = self.deadline.filter(|_| Handle::try_current().is_ok()) else {
            return work.await;
        };
        match tokio::time::timeout_at(deadline.into(), work).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.passed()),
        }
    }

    fn passed(self) -> Error {
        let kind = ErrorKind::Core(CoreErrorKind::TimedOut);
        let wrong = format!("the time for a request, {} s, is over", self.seconds);
        Error::new(kind, "answer in time", wrong)
            .next("ask again, choose a faster model, or raise rag.request_timeout_seconds")
    }
}

/// The outcome of some work that may take so long, and no longer than to the deadline; `None` when it
/// took longer. Outside of a runtime there is nothing to wake it up, and it runs to its end.
pub(crate) async fn before<T>(
    deadline: Option<Instant>,
    timeout: Duration,
    work: impl Future<Output = T>,
) -> Option<T> {
    if Handle::try_current().is_err() {
        return Some(work.await);
    }
    let own = tokio::time::Instant::now().checked_add(timeout);
    let end = own.into_iter().chain(deadline.map(Into::into)).min();
    match end {
        Some(end) => tokio::time::timeout_at(end, work).await.ok(),
        None => Some(work.await),
    }
}
