//! The log: takes records from requests and writes them on a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::Result;
use super::code::AuditCode;
use super::error::{AuditError, AuditErrorKind, unwritable};
use super::guard::AuditGuard;
use super::key::AuditKey;
use super::queue::{Queue, Refused};
use super::record::{Actor, AuditRecord};
use super::sink::AuditSink;
use crate::ids::TraceId;
use crate::runtime::{Announcement, Runtime};

/// Counts records that a sink has taken, by outcome.
const RECORDS: &str = "audit_records_total";
/// Counts records that were lost, by the code of the error.
const FAILURES: &str = "audit_failures_total";

/// How long the last handle of a log waits for what is still in the queue.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The key of the announcement that records are lost.
const ANNOUNCED: &str = "audit";

const TRIED: &str = "write the audit record";

/// Where requests put their records. Cheap to clone; clones are the same log.
///
/// Records go into a queue of fixed size and from there to the sink, on one thread. A request never
/// waits for the sink, unless the log is strict. When the last handle is dropped, guards included,
/// what is in the queue is still written, for up to five seconds.
#[derive(Clone, Debug, Default)]
pub struct AuditLog(Option<Arc<Parts>>);

#[derive(Debug)]
struct Parts {
    key: AuditKey,
    runtime: Runtime,
    /// How long a strict request waits; `None` when requests do not wait.
    strict: Option<Duration>,
    queue: Arc<Queue<Job>>,
}

#[derive(Debug)]
struct Job {
    record: AuditRecord,
    /// Where a strict request waits for the result.
    written: Option<SyncSender<Result<()>>>,
}

impl AuditLog {
    /// A log that takes no records: it starts no thread and touches no file.
    pub fn disabled() -> Self {
        Self::default()
    }

    /// A log that writes to a sink; `key` hashes the inputs.
    pub fn builder(key: AuditKey, sink: impl AuditSink + 'static) -> AuditLogBuilder {
        AuditLogBuilder {
            key,
            sink: Arc::new(sink),
            runtime: Runtime::system(),
            capacity: 1024,
            strict: None,
        }
    }

    /// Begins a request of the kind `event`. Do this first: from here on there will be a record.
    pub fn begin(
        &self,
        event: impl Into<AuditCode>,
        trace_id: &TraceId,
        actor: impl Into<Actor>,
    ) -> AuditGuard {
        let draft = self
            .0
            .as_ref()
            .map(|_| AuditRecord::begun(event.into(), trace_id.clone(), actor.into()));
        AuditGuard::new(self.clone(), draft)
    }

    /// Whether requests wait for their records, and fail without them.
    pub fn is_strict(&self) -> bool {
        self.0.as_ref().is_some_and(|parts| parts.strict.is_some())
    }

    /// Waits until all records so far have gone to the sink, at most for `limit`.
    ///
    /// # Errors
    /// [`AuditErrorKind::TimedOut`] when some have not.
    pub fn flush(&self, limit: Duration) -> Result<()> {
        match &self.0 {
            Some(parts) if !parts.queue.idle(after(limit)) => Err(late()),
            _ => Ok(()),
        }
    }

    /// The key and the clock, unless the log is disabled.
    pub(super) fn means(&self) -> Option<(&AuditKey, &Runtime)> {
        self.0.as_deref().map(|parts| (&parts.key, &parts.runtime))
    }

    /// Hands a record over. Errors are for strict requests that wait; others have them counted and
    /// announced.
    pub(super) fn submit(&self, record: AuditRecord, wait: bool) -> Result<()> {
        let Some(parts) = self.0.as_deref() else { return Ok(()) };
        match parts.strict {
            Some(limit) if wait => parts.submit_and_wait(record, after(limit)),
            _ => {
                let put = parts.queue.put(Job { record, written: None }, None);
                if let Err(refused) = put {
                    let error = refusal(refused);
                    lost(&parts.runtime, &error);
                    announce(&parts.runtime, &error);
                }
                Ok(())
            }
        }
    }
}

impl Parts {
    fn submit_and_wait(&self, record: AuditRecord, deadline: Instant) -> Result<()> {
        let (written, result) = sync_channel(1);
        if let Err(refused) = self.queue.put(Job { record, written: Some(written) }, Some(deadline))
        {
            let error = refusal(refused);
            lost(&self.runtime, &error);
            return Err(error);
        }
        match result.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => Err(late()),
            Err(RecvTimeoutError::Disconnected) => Err(refusal(Refused::Ended)),
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        self.queue.close();
        self.queue.wait_for_end(after(LAST_WORDS));
    }
}

/// A limit too long for the clock is a day.
fn after(limit: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(limit).unwrap_or(now + Duration::from_secs(86_400))
}

fn refusal(refused: Refused) -> AuditError {
    match refused {
        Refused::Full => {
            AuditError::new(AuditErrorKind::Full, TRIED, "too many records wait for the sink")
                .next("see what slows the sink down, or give the log a larger capacity")
        }
        Refused::Ended => AuditError::new(AuditErrorKind::Write, TRIED, "the log has ended")
            .next("keep the log as long as requests are answered"),
    }
}

fn late() -> AuditError {
    AuditError::new(AuditErrorKind::TimedOut, TRIED, "the sink has not taken it in time")
        .next("see what slows the sink down, or allow it more time")
}

fn lost(runtime: &Runtime, error: &AuditError) {
    runtime.count(FAILURES, error.code(), 1);
    tracing::error!(code = error.code(), "an audit record was lost");
}

/// Where no request can be told of a loss, a person is, once.
fn announce(runtime: &Runtime, error: &AuditError) {
    runtime.announce(&Announcement::new(ANNOUNCED, format!("an audit record was lost: {error}")));
}

/// Says that the thread has ended, even when it unwinds.
struct Ending(Arc<Queue<Job>>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end();
    }
}

fn run(queue: Arc<Queue<Job>>, sink: Arc<dyn AuditSink>, runtime: &Runtime) {
    let ending = Ending(queue);
    // Dropped before the end is told, so that what it has open is closed by then.
    let sink = sink;
    while let Some(Job { record, written }) = ending.0.take() {
        // A sink is foreign code: its panic costs its record, not the log.
        let result = catch_unwind(AssertUnwindSafe(|| {
            let result = sink.write(&record);
            match &result {
                Ok(()) => runtime.count(RECORDS, record.outcome().as_str(), 1),
                Err(error) => lost(runtime, error),
            }
            result
        }));
        let result = result.unwrap_or_else(|_| {
            let error = AuditError::new(AuditErrorKind::Write, TRIED, "the sink panicked")
                .next("report this to those who wrote the sink");
            // The sink of the metrics may be what panicked.
            let _ = catch_unwind(AssertUnwindSafe(|| lost(runtime, &error)));
            Err(error)
        });
        match (written, result) {
            // The request may have given up waiting.
            (Some(written), result) => drop(written.send(result)),
            (None, Err(error)) => {
                let _ = catch_unwind(AssertUnwindSafe(|| announce(runtime, &error)));
            }
            (None, Ok(())) => {}
        }
        let kept = catch_unwind(AssertUnwindSafe(|| sink.upkeep(record.time())));
        if let Ok(Err(error)) = kept {
            tracing::warn!(code = error.code(), "the audit log was not kept in order");
        }
    }
}

/// Makes an [`AuditLog`] of chosen parts.
#[derive(Clone, Debug)]
#[must_use]
pub struct AuditLogBuilder {
    key: AuditKey,
    sink: Arc<dyn AuditSink>,
    runtime: Runtime,
    capacity: usize,
    strict: Option<Duration>,
}

impl AuditLogBuilder {
    /// Takes clock and metrics from this handle: `audit_records_total` by outcome,
    /// `audit_failures_total` by the code of the error.
    pub fn runtime(mut self, runtime: Runtime) -> Self {
        self.runtime = runtime;
        self
    }

    /// How many records may wait for the sink; 1024 unless set, at least 1. When there is no room, a
    /// record is dropped and counted, or, in a strict log, its request waits and fails.
    pub fn capacity(mut self, records: usize) -> Self {
        self.capacity = records;
        self
    }

    /// Makes every request wait until its record is written, at most for `limit`; one whose record
    /// could not be written fails. The thread of the request is held meanwhile, so that asynchronous
    /// code finishes its guards on a thread for blocking work.
    pub fn strict(mut self, limit: Duration) -> Self {
        self.strict = Some(limit);
        self
    }

    /// Starts the thread of the log.
    ///
    /// # Errors
    /// [`AuditErrorKind::Write`] when the system gives no thread.
    pub fn start(self) -> Result<AuditLog> {
        let Self { key, sink, runtime, capacity, strict } = self;
        let queue = Arc::new(Queue::new(capacity));
        let theirs = (Arc::clone(&queue), runtime.clone());
        thread::Builder::new()
            .name("kuhaku-audit".into())
            .spawn(move || run(theirs.0, sink, &theirs.1))
            .map_err(|source| unwritable("start the audit log", source))?;
        Ok(AuditLog(Some(Arc::new(Parts { key, runtime, strict, queue }))))
    }
}
