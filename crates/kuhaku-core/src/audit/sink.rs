//! Where records go: the contract, and the sinks without files.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::Result;
use super::error::{AuditError, AuditErrorKind};
use super::record::AuditRecord;
use crate::Timestamp;

/// Takes records, one after the other, on the thread of an [`AuditLog`](super::AuditLog).
///
/// Synchronous (D36): it may wait for a disk or a lock, since no request waits for it unless the
/// log is strict.
pub trait AuditSink: Send + Sync + fmt::Debug {
    /// Writes one record. `Ok` means that it survives the end of the process, as far as the sink
    /// has a place that does.
    ///
    /// # Errors
    /// When the record was not written.
    fn write(&self, record: &AuditRecord) -> Result<()>;

    /// Does what no request should wait for, such as removing what is too old. Called on the same
    /// thread after each record has been acknowledged; `now` is the record's time.
    ///
    /// # Errors
    /// When something is left undone. It is logged, and tried again later.
    fn upkeep(&self, _now: Timestamp) -> Result<()> {
        Ok(())
    }

    /// Whether records can be written, as far as can be told without writing; for a check at the
    /// start of a program. Creates nothing.
    ///
    /// # Errors
    /// When the first record would surely fail.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

macro_rules! forward {
    ($pointer:ident) => {
        impl<S: AuditSink + ?Sized> AuditSink for $pointer<S> {
            fn write(&self, record: &AuditRecord) -> Result<()> {
                (**self).write(record)
            }

            fn upkeep(&self, now: Timestamp) -> Result<()> {
                (**self).upkeep(now)
            }

            fn check(&self) -> Result<()> {
                (**self).check()
            }
        }
    };
}
forward!(Arc);
forward!(Box);

/// Keeps records in memory; clones share them. For tests.
#[derive(Clone, Debug, Default)]
pub struct MemorySink(Arc<Mutex<Vec<AuditRecord>>>);

impl MemorySink {
    /// The records so far, oldest first.
    pub fn records(&self) -> Vec<AuditRecord> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl AuditSink for MemorySink {
    fn write(&self, record: &AuditRecord) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record.clone());
        Ok(())
    }
}

/// Sends records into a channel of a fixed size, without waiting.
#[derive(Debug)]
pub struct ChannelSink(SyncSender<AuditRecord>);

impl ChannelSink {
    /// A sink and the other end of its channel, which holds up to `capacity` records.
    pub fn new(capacity: usize) -> (Self, Receiver<AuditRecord>) {
        let (sender, receiver) = sync_channel(capacity);
        (Self(sender), receiver)
    }
}

impl AuditSink for ChannelSink {
    /// # Errors
    /// [`AuditErrorKind::Full`] when the channel is, [`AuditErrorKind::Write`] when nobody listens.
    fn write(&self, record: &AuditRecord) -> Result<()> {
        const TRIED: &str = "send the audit record";
        self.0.try_send(record.clone()).map_err(|refused| match refused {
            TrySendError::Full(_) => {
                AuditError::new(AuditErrorKind::Full, TRIED, "the channel has no room")
                    .next("receive faster, or give the channel more room")
            }
            TrySendError::Disconnected(_) => {
                AuditError::new(AuditErrorKind::Write, TRIED, "nobody receives any more")
                    .next("keep the receiver as long as the log")
            }
        })
    }
}

/// Gives records to a function.
pub struct CallbackSink<F>(F);

impl<F> CallbackSink<F>
where
    F: Fn(&AuditRecord) -> Result<(), AuditError> + Send + Sync,
{
    /// A sink that calls `write` with each record.
    pub fn new(write: F) -> Self {
        Self(write)
    }
}

impl<F> fmt::Debug for CallbackSink<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackSink(..)")
    }
}

impl<F> AuditSink for CallbackSink<F>
where
    F: Fn(&AuditRecord) -> Result<(), AuditError> + Send + Sync,
{
    fn write(&self, record: &AuditRecord) -> Result<()> {
        (self.0)(record)
    }
}
