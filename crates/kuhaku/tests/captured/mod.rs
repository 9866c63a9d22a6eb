//! A subscriber that keeps every span and event, of every level and crate.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use kuhaku::TraceId;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

pub(crate) type Fields = BTreeMap<String, String>;

#[derive(Debug)]
struct Kept {
    id: u64,
    name: &'static str,
    path: String,
    fields: Fields,
    open: bool,
}

/// What was told, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured {
    spans: Arc<Mutex<Vec<Kept>>>,
    events: Arc<Mutex<Vec<String>>>,
}

impl Captured {
    pub(crate) fn subscriber(&self) -> impl Subscriber + for<'a> LookupSpan<'a> + Send + Sync {
        tracing_subscriber::registry().with(self.clone())
    }

    /// The spans of kuhaku with those around them, in the order of their begin.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.spans.lock().unwrap().iter().map(|span| span.path.clone()).collect()
    }

    /// How many spans have not ended.
    pub(crate) fn open(&self) -> usize {
        self.spans.lock().unwrap().iter().filter(|span| span.open).count()
    }

    /// The fields of the only span of this name.
    pub(crate) fn fields(&self, name: &str) -> Fields {
        let spans = self.spans.lock().unwrap();
        let mut named = spans.iter().filter(|span| span.name == name);
        let fields = named.next().unwrap_or_else(|| panic!("no {name}")).fields.clone();
        assert!(named.next().is_none(), "several {name}");
        fields
    }

    /// A field of all spans of a name.
    pub(crate) fn all(&self, name: &str, field: &str) -> Vec<String> {
        let spans = self.spans.lock().unwrap();
        let named = spans.iter().filter(|span| span.name == name);
        named.filter_map(|span| span.fields.get(field).cloned()).collect()
    }

    pub(crate) fn events(&self) -> Vec<String> {
        self.events.lock().unwrap().clone()
    }

    pub(crate) fn everything(&self) -> String {
        format!("{:?}\n{:?}", self.spans.lock().unwrap(), self.events())
    }
}

struct Reading<'a>(&'a mut Fields);

impl Visit for Reading<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().into(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().into(), value.into());
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Captured {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let scope = context.span_scope(id).unwrap().from_root();
        let path: Vec<&str> = scope.map(|span| span.name()).collect();
        let mut fields = Fields::new();
        attributes.record(&mut Reading(&mut fields));
        let name = attributes.metadata().name();
        let kept = Kept { id: id.into_u64(), name, path: path.join(" > "), fields, open: true };
        self.spans.lock().unwrap().push(kept);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _context: Context<'_, S>) {
        let mut spans = self.spans.lock().unwrap();
        // Ids are used again: the newest is meant.
        let span = spans.iter_mut().rfind(|span| span.id == id.into_u64()).unwrap();
        values.record(&mut Reading(&mut span.fields));
    }

    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut fields = Fields::new();
        event.record(&mut Reading(&mut fields));
        let id = TraceId::current().unwrap_or_else(TraceId::unknown);
        let mut line = format!("trace_id={id} {}", event.metadata().target());
        for (name, value) in fields {
            write!(line, " {name}={value}").unwrap();
        }
        self.events.lock().unwrap().push(line);
    }

    fn on_close(&self, id: Id, _context: Context<'_, S>) {
        let mut spans = self.spans.lock().unwrap();
        spans.iter_mut().rfind(|span| span.id == id.into_u64()).unwrap().open = false;
    }
}
