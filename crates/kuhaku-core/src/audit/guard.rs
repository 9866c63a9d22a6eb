//! The guard of one request: hands over one record, however the request ends (R8).

use super::Result;
use super::code::AuditCode;
use super::log::AuditLog;
use super::record::{Actor, AuditRecord};
use super::value::{AuditField, AuditValue};
use crate::error::{Failure, Kind};
use crate::ids::TraceId;
use crate::masking::Masked;

/// Stands for a request from its begin to its end.
///
/// Finish it with an outcome. A guard that is dropped instead records `cancelled`, or `panic` while
/// its thread unwinds, without waiting even in a strict log; so neither an early return nor a dropped future goes without a record.
///
/// ```
/// use kuhaku_core::{AuditField, AuditKey, AuditLog, AuthContext, Masked, MemorySink, Runtime};
/// use std::time::Duration;
///
/// const HITS: AuditField<u64> = AuditField::new("hits");
///
/// let (sink, runtime) = (MemorySink::default(), Runtime::system());
/// let log = AuditLog::builder(AuditKey::random(&runtime)?, sink.clone()).start()?;
/// let mut guard = log.begin("lookup", &runtime.trace_id()?, &AuthContext::anonymous());
/// guard.input("where is it?", &Masked::replacing("where is it?", Vec::new()));
/// guard.set(HITS, 3);
/// guard.finish("ok")?;
/// log.flush(Duration::from_secs(5))?;
/// assert_eq!(sink.records().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "a guard that is dropped at once records a cancelled request"]
pub struct AuditGuard {
    log: AuditLog,
    /// Taken when the record is handed over; none from the start in a disabled log.
    draft: Option<AuditRecord>,
    /// How the request has ended, when that is known before the record is complete.
    outcome: Option<AuditCode>,
}

impl AuditGuard {
    pub(super) fn new(log: AuditLog, draft: Option<AuditRecord>) -> Self {
        Self { log, draft, outcome: None }
    }

    /// Gives the request its id, when that becomes known after the begin.
    pub fn trace_id(&mut self, trace_id: &TraceId) {
        if let Some(draft) = &mut self.draft {
            draft.set_trace_id(trace_id.clone());
        }
    }

    /// Says who asks, when that becomes known after the begin.
    pub fn actor(&mut self, actor: impl Into<Actor>) {
        if let Some(draft) = &mut self.draft {
            draft.set_actor(actor.into());
        }
    }

    /// Records the input: the keyed hash of `raw`, and the first 100 characters of `masked`.
    pub fn input(&mut self, raw: &str, masked: &Masked) {
        if let (Some(draft), Some((key, _))) = (&mut self.draft, self.log.means()) {
            draft.set_input(key.hash_input(raw), masked);
        }
    }

    /// Sets a field of the tool; the last value counts.
    pub fn set<T: Into<AuditValue>>(&mut self, field: AuditField<T>, value: T) {
        if let Some(draft) = &mut self.draft {
            draft.set_attribute(field.name(), value.into());
        }
    }

    /// Records an error code without ending the request, for example of a part that was done
    /// without; the last one counts.
    pub fn error(&mut self, code: impl Into<AuditCode>) {
        if let Some(draft) = &mut self.draft {
            draft.set_error(code.into());
        }
    }

    /// Says how the request has ended while its record still waits for something: a guard that is
    /// dropped from here on records this outcome.
    pub fn outcome(&mut self, outcome: impl Into<AuditCode>) {
        self.outcome = Some(outcome.into());
    }

    /// Ends the request and hands its record over.
    ///
    /// # Errors
    /// In a strict log only, when the record was not written in time: the request must fail then.
    /// A record that was handed over before that may still be written.
    pub fn finish(mut self, outcome: impl Into<AuditCode>) -> Result<()> {
        self.hand_over(outcome.into(), true)
    }

    /// Ends the request with the outcome `error` and the code of the failure.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn fail<K: Kind>(mut self, failure: &Failure<K>) -> Result<()> {
        self.error(failure.code());
        self.hand_over(AuditCode::ERROR, true)
    }

    fn hand_over(&mut self, outcome: AuditCode, wait: bool) -> Result<()> {
        let (Some(mut record), Some((_, runtime))) = (self.draft.take(), self.log.means()) else {
            return Ok(());
        };
        record.end(outcome, runtime.now());
        self.log.submit(record, wait)
    }
}

impl Drop for AuditGuard {
    fn drop(&mut self) {
        let panicking = std::thread::panicking();
        let unsaid = if panicking { AuditCode::PANIC } else { AuditCode::CANCELLED };
        // Nobody is left to hear of a failure; it is counted.
        let _ = self.hand_over(self.outcome.unwrap_or(unsaid), false);
    }
}
