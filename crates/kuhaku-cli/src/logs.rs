//! Log lines on standard error: as text, or one JSON value a line.
//!
//! Both forms hold the fields of [`FIELDS`] alone, so that what somebody adds to an event by mistake,
//! in this repository or in a library, is not logged by mistake (R7).

use std::fmt::{self, Debug, Write as _};
use std::io;
use std::sync::{Mutex, PoisonError};

use kuhaku::core::{Masker as _, PiiMasker, Timestamp, TraceId};
use kuhaku::one_line;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::Context;

use crate::console::plain;

/// What a line may hold beside its time, level, source, message and trace id: codes, names from fixed
/// vocabularies, numbers, and errors, which hold no content by contract.
const FIELDS: [&str; 8] =
    ["code", "duration_ms", "error", "event", "kind", "outcome", "reason", "stage"];

/// The longest text in a line, in characters; the rest is cut off.
const LONGEST: usize = 200;

/// How lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One JSON value a line
    Json,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogLevel {
    /// Nothing
    Off,
    /// What was lost
    Error,
    /// And what is not as it should be
    #[default]
    Warn,
    /// And each request, as it ends
    Info,
    /// And each stage of a request
    Debug,
    /// Everything
    Trace,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::OFF,
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}

/// Writes the events of kuhaku's crates.
pub(crate) struct Logs<W> {
    format: LogFormat,
    masker: PiiMasker,
    to: Mutex<W>,
}

impl<W: io::Write + Send + 'static> Logs<W> {
    /// A layer that takes events up to a level, of no other code than kuhaku's.
    pub(crate) fn layer<S>(format: LogFormat, level: LogLevel, to: W) -> impl Layer<S>
    where
        S: Subscriber + for<'span> tracing_subscriber::registry::LookupSpan<'span>,
    {
        let level = LevelFilter::from(level);
        let ours = move |metadata: &Metadata<'_>| {
            metadata.is_event()
                && *metadata.level() <= level
                && metadata.target().starts_with("kuhaku")
        };
        Self { format, masker: PiiMasker::new(), to: Mutex::new(to) }
            .with_filter(filter_fn(ours).with_max_level_hint(level))
    }
}

impl<S: Subscriber, W: io::Write + Send + 'static> Layer<S> for Logs<W> {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut line = Line { masker: &self.masker, message: String::new(), fields: Map::new() };
        event.record(&mut line);
        let metadata = event.metadata();
        let id = TraceId::current().unwrap_or_else(TraceId::unknown);
        let text = match self.format {
            LogFormat::Text => line.text(metadata, &id),
            LogFormat::Json => line.json(metadata, &id),
        };
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody can be told when this fails.
        let _ = writeln!(to, "{text}");
    }
}

/// One line in the making.
struct Line<'a> {
    masker: &'a PiiMasker,
    message: String,
    fields: Map<String, Value>,
}

impl Line<'_> {
    /// A text as it may be logged.
    fn masked(&self, text: &str) -> String {
        self.masker.mask(&one_line(text, LONGEST)).into_parts().0
    }

    fn keep(&mut self, field: &Field, value: impl Into<Value>) {
        if FIELDS.contains(&field.name()) {
            self.fields.insert(field.name().into(), value.into());
        }
    }

    fn json(self, metadata: &Metadata<'_>, id: &TraceId) -> String {
        let mut line = Map::new();
        line.insert("timestamp".into(), Timestamp::now().to_string().into());
        line.insert("level".into(), metadata.level().as_str().to_ascii_lowercase().into());
        line.insert("target".into(), metadata.target().into());
        line.insert("message".into(), self.message.into());
        line.insert("trace_id".into(), id.as_str().into());
        line.extend(self.fields);
        Value::Object(line).to_string()
    }

    fn text(self, metadata: &Metadata<'_>, id: &TraceId) -> String {
        let level = metadata.level().as_str().to_ascii_lowercase();
        let mut line = format!("{level}: {}", self.message);
        for (name, value) in &self.fields {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = write!(line, " {name}={value}");
        }
        let _ = write!(line, " [{id}]");
        plain(&line).into_owned()
    }
}

impl Visit for Line<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.keep(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.keep(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.keep(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.keep(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let value = self.masked(value);
        self.keep(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let value = self.masked(&format!("{value:?}"));
        if field.name() == "message" {
            self.message = value;
        } else {
            self.keep(field, value);
        }
    }
}

impl<W> fmt::Debug for Logs<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logs").field("format", &self.format).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[derive(Clone, Debug, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(format: LogFormat, level: LogLevel, work: impl FnOnce()) -> String {
        let to = Written::default();
        let layer = Logs::layer(format, level, to.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
        let bytes = to.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    /// OBS-02
    #[test]
    fn a_field_that_is_not_on_the_list_is_not_logged_and_an_absent_one_is_left_out() {
        for format in [LogFormat::Text, LogFormat::Json] {
            let line = written(format, LogLevel::Trace, || {
                let question = "where is the falcon?";
                let code: Option<&str> = None;
                tracing::info!(question, path = %"/somewhere/falcon", code, outcome = "ok", "ended");
            });
            assert!(!line.contains("falcon"), "{line}");
            assert!(!line.contains("null") && !line.contains("code"), "{line}");
            assert!(line.contains("ended") && line.contains("outcome"), "{line}");
        }
    }

    #[test]
    fn a_json_line_has_these_names_and_its_numbers_are_numbers() {
        let line = written(LogFormat::Json, LogLevel::Info, || {
            tracing::warn!(duration_ms = 1.5, stage = "mask", "a stage has ended");
        });
        let value: Value = serde_json::from_str(&line).unwrap();
        let names: Vec<&String> = value.as_object().unwrap().keys().collect();
        let expected =
            ["duration_ms", "level", "message", "stage", "target", "timestamp", "trace_id"];
        assert!(expected.iter().all(|name| names.contains(&&name.to_string())), "{names:?}");
        assert_eq!(names.len(), expected.len());
        assert_eq!((&value["duration_ms"], &value["trace_id"]), (&1.5.into(), &"-".into()));
        assert_eq!((&value["level"], &value["stage"]), (&"warn".into(), &"mask".into()));
    }

    /// OBS-02: what an error quotes by mistake is masked and cut off.
    #[test]
    fn texts_are_masked_cut_off_and_cannot_steer_a_terminal() {
        let mistake = format!("ada@example.com said \u{1b}[2J {}", "so ".repeat(200));
        for format in [LogFormat::Text, LogFormat::Json] {
            let line = written(format, LogLevel::Warn, || {
                tracing::error!(error = %mistake, "a reply was not read: {mistake}");
            });
            assert!(line.contains("[EMAIL]") && !line.contains("ada@"), "{line}");
            assert!(line.len() < 700 && line.lines().count() == 1, "{line}");
            assert!(!line.trim_end().chars().any(char::is_control), "{line:?}");
        }
    }

    #[test]
    fn other_code_and_lower_levels_are_not_heard() {
        let written = written(LogFormat::Text, LogLevel::Info, || {
            tracing::info!(target: "kuhaku_rag::engine", "ours");
            tracing::debug!(target: "kuhaku_rag::engine", "too much");
            tracing::error!(target: "sqlx::query", "theirs");
        });
        assert_eq!(written, "info: ours [-]\n");
    }
}
