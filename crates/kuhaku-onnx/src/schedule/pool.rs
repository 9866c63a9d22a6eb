//! The threads that work for a model (R12): a session each, a bounded queue before them.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use ort::session::RunOptions;
use tokio::sync::{Semaphore, oneshot};

use super::job::Job;
use super::plan::{Grouping, batches};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Row, Session};

/// Who goes first. Within one urgency, callers take turns by the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// Someone waits: a query.
    Interactive,
    /// Many texts: an ingest.
    Bulk,
}

/// How many callers may be in the queue per urgency; others wait before it.
const PLACES: usize = 64;

/// The threads of one model.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    stops: Vec<Arc<RunOptions>>,
    interactive: Arc<Semaphore>,
    bulk: Arc<Semaphore>,
    budget: usize,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    filled: Condvar,
}

#[derive(Default)]
struct Queue {
    interactive: VecDeque<Task>,
    bulk: VecDeque<Task>,
    closed: bool,
}

enum Task {
    /// Something short, with the session or beside it: texts to tokens.
    Short(Box<dyn FnOnce(&mut Session) + Send>),
    /// Rows for the session.
    Infer(Arc<Job>),
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("sessions", &self.threads.len())
            .field("batch_tokens", &self.budget)
            .finish_non_exhaustive()
    }
}

impl Pool {
    /// A thread per session, and at most `budget` tokens per batch.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] when the system gives no thread.
    pub(crate) fn new(sessions: Vec<Session>, budget: usize) -> Result<Self> {
        let mut pool = Self {
            shared: Arc::default(),
            threads: Vec::new(),
            stops: sessions.iter().map(Session::stop).collect(),
            interactive: Arc::new(Semaphore::new(PLACES)),
            bulk: Arc::new(Semaphore::new(PLACES)),
            budget,
        };
        for session in sessions {
            let shared = Arc::clone(&pool.shared);
            let thread = Builder::new()
                .name("kuhaku-onnx".into())
                .spawn(move || work(&shared, session))
                .map_err(|source| {
                    Error::new(ErrorKind::OutOfMemory, "run a model", "the system gave no thread")
                        .next("let the process have more threads, or run fewer sessions")
                        .caused_by(source)
                })?;
            pool.threads.push(thread);
        }
        Ok(pool)
    }

    /// Does something short on a thread of the pool: at most one row with the session.
    ///
    /// # Errors
    /// What it fails with, and [`ErrorKind::Inference`] when it panics.
    pub(crate) async fn short<T: Send + 'static>(
        &self,
        urgency: Urgency,
        work: impl FnOnce(&mut Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let place = self.places(urgency).acquire_owned().await.map_err(|_| gone())?;
        let (caller, answer) = oneshot::channel();
        let task = Task::Short(Box::new(move |session| {
            if !caller.is_closed() {
                let _ = caller.send(work(session));
            }
            drop(place);
        }));
        self.shared.push(urgency, task);
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    /// What a model gives for rows, in their order. When the caller drops the future, no further
    /// batch of it begins.
    ///
    /// # Errors
    /// As for [`Session::run`].
    pub(crate) async fn infer(
        &self,
        urgency: Urgency,
        rows: Vec<Row>,
        grouping: Grouping,
    ) -> Result<Vec<Vec<f32>>> {
        let lengths: Vec<usize> = rows.iter().map(Row::len).collect();
        self.infer_in(urgency, rows, batches(&lengths, self.budget, grouping)).await
    }

    /// [`infer`](Self::infer) in batches that are given, whatever the budget.
    ///
    /// # Errors
    /// As for [`Session::run`].
    pub(crate) async fn infer_in(
        &self,
        urgency: Urgency,
        rows: Vec<Row>,
        batches: Vec<Vec<usize>>,
    ) -> Result<Vec<Vec<f32>>> {
        if batches.is_empty() {
            return Ok(Vec::new());
        }
        let place = self.places(urgency).acquire_owned().await.map_err(|_| gone())?;
        let (caller, answer) = oneshot::channel();
        let job = Arc::new(Job::new(rows, batches, caller, place));
        self.shared.push(urgency, Task::Infer(job));
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    fn places(&self, urgency: Urgency) -> Arc<Semaphore> {
        Arc::clone(match urgency {
            Urgency::Interactive => &self.interactive,
            Urgency::Bulk => &self.bulk,
        })
    }
}

/// Ends the batches under way at their next operator and waits for the threads: the runtime must
/// not be at work when the process ends.
impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.close();
        for stop in &self.stops {
            let _ = stop.terminate();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn push(&self, urgency: Urgency, task: Task) {
        self.queue().lane(urgency).push_back(task);
        self.filled.notify_one();
    }

    /// The next task, the urgent ones first. None when the pool is closed.
    fn pop(&self) -> Option<(Urgency, Task)> {
        let mut queue = self.queue();
        loop {
            if queue.closed {
                return None;
            }
            for urgency in [Urgency::Interactive, Urgency::Bulk] {
                if let Some(task) = queue.lane(urgency).pop_front() {
                    return Some((urgency, task));
                }
            }
            queue = self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What waits is dropped, so its callers learn that the pool is gone.
    fn close(&self) {
        let mut queue = self.queue();
        queue.closed = true;
        let waiting = (std::mem::take(&mut queue.interactive), std::mem::take(&mut queue.bulk));
        drop(queue);
        drop(waiting);
        self.filled.notify_all();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn lane(&mut self, urgency: Urgency) -> &mut VecDeque<Task> {
        match urgency {
            Urgency::Interactive => &mut self.interactive,
            Urgency::Bulk => &mut self.bulk,
        }
    }
}

fn work(shared: &Shared, mut session: Session) {
    while let Some((urgency, task)) = shared.pop() {
        match task {
            // A panic drops the sender, which the caller hears as an error.
            Task::Short(work) => drop(catch_unwind(AssertUnwindSafe(|| work(&mut session)))),
            Task::Infer(job) => {
                let Some((batch, more)) = job.claim() else { continue };
                if more {
                    shared.push(urgency, Task::Infer(Arc::clone(&job)));
                }
                let rows = job.rows(batch);
                let run = catch_unwind(AssertUnwindSafe(|| session.run(&rows)));
                job.finish(batch, run.unwrap_or_else(|_| Err(gone())));
            }
        }
    }
}

fn gone() -> Error {
    Error::new(ErrorKind::Inference, "run the model", "its thread ended before it answered")
        .next("open the model again")
}
