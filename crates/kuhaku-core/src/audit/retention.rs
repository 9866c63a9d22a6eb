//! When it is time to look for records that are too old.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::SignedDuration;

use crate::Timestamp;

const LOOK_AGAIN: SignedDuration = SignedDuration::from_hours(1);

/// How long a sink keeps records, and when it last looked for older ones, which clones share.
#[derive(Clone, Debug, Default)]
pub struct AuditRetention {
    keep: Option<Duration>,
    looked: Arc<Mutex<Option<Timestamp>>>,
}

impl AuditRetention {
    /// Keeps records for so long; for ever without it.
    pub fn new(keep: Option<Duration>) -> Self {
        Self { keep, looked: Arc::default() }
    }

    /// The time before which records are too old, when it is time to look: at the first call, and
    /// then once an hour.
    pub fn due(&self, now: Timestamp) -> Option<Timestamp> {
        let keep = self.keep?;
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.is_some_and(|at| now.duration_since(at) < LOOK_AGAIN) {
            return None;
        }
        *looked = Some(now);
        // Nothing is older than the beginning of time.
        now.checked_sub(keep).ok()
    }
}
