//! What a request tells while it runs (R7: names, counts and codes, no content): its span, the spans
//! of its stages, and the counter of how it ended. All spans of this crate are here.

use kuhaku_core::{Runtime, Stage, TraceId};
use tracing::Span;
use tracing::field::Empty;

/// Counts requests by the way in which they ended.
const REQUESTS: &str = "extraction_requests_total";

/// Names the span after the stage, and gives it the fields that [`Stage`] records.
macro_rules! stage {
    ($runtime:expr, $name:literal $(, $($fields:tt)+)?) => {
        Stage::begin($runtime, $name, tracing::info_span!(
            concat!("kuhaku.", $name),
            otel.status_code = Empty,
            error.r#type = Empty,
            $($($fields)+)?
        ))
    };
}

/// Finds personal data in all that a model would see.
pub(crate) fn mask(runtime: &Runtime) -> Stage {
    stage!(runtime, "mask", kuhaku.redactions = Empty)
}

/// Looks for an attack.
pub(crate) fn guard(runtime: &Runtime) -> Stage {
    stage!(runtime, "guard", kuhaku.guard = Empty)
}

/// Looks values up in the text.
pub(crate) fn evidence(runtime: &Runtime) -> Stage {
    stage!(runtime, "evidence")
}

/// Chooses the schema of a text.
pub(crate) fn route(runtime: &Runtime) -> Stage {
    stage!(runtime, "route", kuhaku.route = Empty)
}

/// A step of the pipeline takes its turn. The name goes into the span alone: metrics have fixed
/// labels.
pub(crate) fn step(runtime: &Runtime, name: &str) -> Stage {
    stage!(runtime, "extraction_step", kuhaku.step = name)
}

/// What is asked of an extractor or a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Extraction,
    Route,
}

impl Event {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Extraction => "extraction",
            Self::Route => "extraction.route",
        }
    }

    fn stage(self, runtime: &Runtime) -> Stage {
        match self {
            Self::Extraction => {
                stage!(
                    runtime,
                    "extraction",
                    kuhaku.trace_id = Empty,
                    kuhaku.outcome = Empty,
                    kuhaku.schema = Empty,
                    kuhaku.attempts = Empty
                )
            }
            Self::Route => {
                stage!(
                    runtime,
                    "extraction.route",
                    kuhaku.trace_id = Empty,
                    kuhaku.outcome = Empty,
                    kuhaku.schema = Empty,
                    kuhaku.attempts = Empty
                )
            }
        }
    }
}

/// A request from its begin to its end. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Observed {
    runtime: Runtime,
    event: Event,
    stage: Option<Stage>,
    /// Its status or the code of its error, once it has one.
    ended: Option<Result<&'static str, &'static str>>,
}

impl Observed {
    pub(crate) fn begin(runtime: &Runtime, event: Event) -> Self {
        let stage = Some(event.stage(runtime));
        Self { runtime: runtime.clone(), event, stage, ended: None }
    }

    pub(crate) fn span(&self) -> Span {
        self.stage.as_ref().map_or_else(Span::none, |stage| stage.span().clone())
    }

    pub(crate) fn trace_id(&self, id: &TraceId) {
        self.span().record("kuhaku.trace_id", id.as_str());
    }

    /// It has its result.
    pub(crate) fn succeeded(&mut self, status: &'static str, schema: Option<&str>, attempts: u32) {
        self.span().record("kuhaku.schema", schema);
        self.span().record("kuhaku.attempts", attempts);
        self.ended = Some(Ok(status));
    }

    /// It has failed with this code.
    pub(crate) fn failed(&mut self, code: &'static str) {
        self.ended = Some(Err(code));
    }

    /// From a fixed vocabulary.
    fn outcome(&self) -> &'static str {
        match self.ended {
            Some(Ok(status)) => status,
            Some(Err(_)) => "error",
            None if std::thread::panicking() => "panic",
            None => "cancelled",
        }
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        let Some(stage) = self.stage.take() else { return };
        let outcome = self.outcome();
        self.runtime.count(REQUESTS, outcome, 1);
        stage.span().record("kuhaku.outcome", outcome);
        let duration_ms = (stage.elapsed().as_secs_f64() * 1e5).round() / 1e2;
        let event = self.event.as_str();
        let code = self.ended.and_then(Result::err);
        stage.span().in_scope(|| {
            tracing::info!(event, outcome, code, duration_ms, "a request has ended");
        });
        match self.ended {
            Some(Ok(_)) => stage.end(),
            Some(Err(code)) => stage.fail(code),
            None => drop(stage),
        }
    }
}
