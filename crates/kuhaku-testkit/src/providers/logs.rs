//! What is logged, at every level, so that it can be searched for what must not be there.

use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// A subscriber that keeps every field of every span and event, of every level, as text. Clones
/// keep it together.
///
/// ```
/// use kuhaku_testkit::providers::Logs;
/// let logs = Logs::default();
/// tracing::subscriber::with_default(logs.clone(), || tracing::trace!(tries = 2, "waits"));
/// assert_eq!(logs.text(), "message=waits\ntries=2\n");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Logs {
    text: Arc<Mutex<String>>,
    spans: Arc<AtomicU64>,
}

impl Logs {
    /// A line per field, in the order in which they came.
    pub fn text(&self) -> String {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn write(&self, record: impl FnOnce(&mut dyn Visit)) {
        record(&mut Line(&mut self.text.lock().unwrap_or_else(PoisonError::into_inner)));
    }
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{field}={value:?}");
    }
}

impl Subscriber for Logs {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.write(|line| span.record(line));
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        self.write(|line| values.record(line));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.write(|line| event.record(line));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
