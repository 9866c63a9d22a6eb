//! What a request tells while it runs (R7: names, counts and codes, no content): its span, the spans
//! of its stages, and the counter of how it ended. All spans of this crate are here.

use kuhaku_core::{Runtime, Stage, TraceId};
use tracing::Span;
use tracing::field::Empty;

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

/// Finds personal data in the question.
pub(crate) fn mask(runtime: &Runtime) -> Stage {
    stage!(runtime, "mask", kuhaku.redactions = Empty)
}

/// Looks for an attack in the question.
pub(crate) fn guard(runtime: &Runtime) -> Stage {
    stage!(runtime, "guard", kuhaku.guard = Empty)
}

/// Finds chunks within the scope.
pub(crate) fn retrieve(runtime: &Runtime) -> Stage {
    stage!(runtime, "retrieve", kuhaku.hits = Empty, kuhaku.held_back = Empty)
}

/// Has a model make the vector of the question.
pub(crate) fn embed(runtime: &Runtime) -> Stage {
    stage!(runtime, "embed")
}

/// Has a model judge the best chunks again.
pub(crate) fn rerank(runtime: &Runtime) -> Stage {
    stage!(runtime, "rerank")
}

/// Has a model write the answer.
pub(crate) fn generate(runtime: &Runtime) -> Stage {
    stage!(runtime, "generate")
}

/// Puts an answer together without a model.
pub(crate) fn extract(runtime: &Runtime) -> Stage {
    stage!(runtime, "extract")
}

/// Checks what a model wrote, before it leaves.
pub(crate) fn output_guard(runtime: &Runtime) -> Stage {
    stage!(
        runtime,
        "output_guard",
        kuhaku.held_back = Empty,
        kuhaku.sentences = Empty,
        kuhaku.cited = Empty,
        kuhaku.grounded = Empty
    )
}

/// Checks the citations of an answer.
pub(crate) fn cite(runtime: &Runtime) -> Stage {
    stage!(runtime, "cite", kuhaku.citations = Empty)
}

/// What is asked of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Ask,
    Search,
}

impl Event {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Search => "search",
        }
    }

    /// The counter of requests, by the way in which they ended.
    fn counter(self) -> &'static str {
        match self {
            Self::Ask => "rag_requests_total",
            Self::Search => "rag_searches_total",
        }
    }

    fn stage(self, runtime: &Runtime) -> Stage {
        match self {
            Self::Ask => stage!(runtime, "ask", kuhaku.trace_id = Empty, kuhaku.outcome = Empty),
            Self::Search => {
                stage!(runtime, "search", kuhaku.trace_id = Empty, kuhaku.outcome = Empty)
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
    /// Which of the ways to an outcome it took, if it is a special one.
    reason: Option<&'static str>,
    /// Whether it came to an end, and with which error.
    ended: Option<Result<(), &'static str>>,
}

impl Observed {
    pub(crate) fn begin(runtime: &Runtime, event: Event) -> Self {
        let stage = Some(event.stage(runtime));
        Self { runtime: runtime.clone(), event, stage, reason: None, ended: None }
    }

    pub(crate) fn span(&self) -> Span {
        self.stage.as_ref().map_or_else(Span::none, |stage| stage.span().clone())
    }

    pub(crate) fn trace_id(&self, id: &TraceId) {
        self.span().record("kuhaku.trace_id", id.as_str());
    }

    pub(crate) fn reason(&mut self, reason: &'static str) {
        self.reason = Some(reason);
    }

    /// It has its answer.
    pub(crate) fn succeeded(&mut self) {
        self.ended = Some(Ok(()));
    }

    /// It has failed with this code.
    pub(crate) fn failed(&mut self, code: &'static str) {
        self.ended = Some(Err(code));
    }

    /// From a fixed vocabulary; the reasons are those of the audit.
    fn outcome(&self) -> &'static str {
        match self.ended {
            Some(Ok(())) => self.reason.unwrap_or("ok"),
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
        self.runtime.count(self.event.counter(), outcome, 1);
        stage.span().record("kuhaku.outcome", outcome);
        let duration_ms = (stage.elapsed().as_secs_f64() * 1e5).round() / 1e2;
        let event = self.event.as_str();
        let code = self.ended.and_then(Result::err);
        stage.span().in_scope(|| {
            tracing::info!(event, outcome, code, duration_ms, "a request has ended");
        });
        match self.ended {
            Some(Ok(())) => stage.end(),
            Some(Err(code)) => stage.fail(code),
            None => drop(stage),
        }
    }
}
