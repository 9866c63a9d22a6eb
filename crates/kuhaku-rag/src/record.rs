//! What goes on record about a request (R8): codes, counts and ids, no content (R7).

use std::error::Error as _;
use std::time::{Duration, Instant};

use kuhaku_core::{
    AuditCode, AuditError, AuditErrorKind, AuditField, AuditGuard, AuditId, AuditLog, AuthContext,
    GuardFamily, Masked, Redactions, Runtime, TraceId, Usage,
};
use tokio::runtime::Handle;
use tracing::Span;

use crate::answer::{Answer, Mode, SearchAnswer};
use crate::error::{Adopt as _, Error, Result};
use crate::observed::{Event, Observed};
use crate::request::AskRequest;
use crate::retrieve::Hit;
use crate::withheld::Withheld;

const ABSTAINED: AuditField<bool> = AuditField::new("abstained");
const CITED: AuditField<Vec<AuditId>> = AuditField::new("cited");
const GENERATE_MS: AuditField<f64> = AuditField::new("generate_ms");
const GUARD: AuditField<AuditCode> = AuditField::new("guard");
const HITS: AuditField<usize> = AuditField::new("hits");
const INPUT_TOKENS: AuditField<u64> = AuditField::new("input_tokens");
const MODEL: AuditField<AuditId> = AuditField::new("model");
const OUTPUT_TOKENS: AuditField<u64> = AuditField::new("output_tokens");
const REASON: AuditField<AuditCode> = AuditField::new("reason");
const REDACTIONS: AuditField<Redactions> = AuditField::new("redactions");
const RETRIEVED: AuditField<Vec<AuditId>> = AuditField::new("retrieved");
const RETRIEVE_MS: AuditField<f64> = AuditField::new("retrieve_ms");
const TOTAL_MS: AuditField<f64> = AuditField::new("total_ms");
const WITHHELD: AuditField<usize> = AuditField::new("withheld");

/// The record of one request, from before anything can fail to its end. Dropped before that, it
/// says so by itself.
#[derive(Debug)]
pub(crate) struct RequestRecord {
    guard: AuditGuard,
    observed: Option<Observed>,
    begun: Instant,
    outcome: AuditCode,
    strict: bool,
    withheld: Option<Withheld>,
}

impl RequestRecord {
    pub(crate) fn begin(
        log: &AuditLog,
        runtime: &Runtime,
        event: Event,
        request: &AskRequest,
    ) -> Self {
        let caller = AuthContext::new(&request.identity, request.scope.roles().clone());
        let trace_id = request.trace_id.clone().unwrap_or_else(TraceId::unknown);
        let guard = log.begin(AuditCode::new(event.as_str()), &trace_id, &caller);
        Self {
            guard,
            observed: Some(Observed::begin(runtime, event)),
            begun: Instant::now(),
            outcome: AuditCode::ERROR,
            strict: log.is_strict(),
            withheld: None,
        }
    }

    /// When the request began.
    pub(crate) fn begun(&self) -> Instant {
        self.begun
    }

    pub(crate) fn trace_id(&mut self, trace_id: &TraceId) {
        self.guard.trace_id(trace_id);
        self.observe(|observed| observed.trace_id(trace_id));
    }

    /// The span of the request.
    pub(crate) fn span(&self) -> Span {
        self.observed.as_ref().map_or_else(Span::none, Observed::span)
    }

    /// The question as it came, and masked.
    pub(crate) fn question(&mut self, raw: &str, masked: &Masked) {
        self.guard.input(raw, masked);
        self.guard.set(REDACTIONS, masked.redactions().clone());
    }

    /// The attack that the question looks like.
    pub(crate) fn attack(&mut self, family: GuardFamily) {
        self.guard.set(GUARD, AuditCode::new(family.as_str()));
    }

    /// Which of the ways to its outcome the request took.
    pub(crate) fn reason(&mut self, reason: &'static str) {
        self.guard.set(REASON, AuditCode::new(reason));
        self.observe(|observed| observed.reason(reason));
    }

    /// What was found within the scope, and how long that took.
    pub(crate) fn found<'a>(&mut self, hits: impl Iterator<Item = &'a Hit>, took: Duration) {
        let ids: Vec<AuditId> = hits.map(|hit| AuditId::from(&hit.chunk.id)).collect();
        self.guard.set(HITS, ids.len());
        self.guard.set(RETRIEVED, ids);
        self.guard.set(RETRIEVE_MS, milliseconds(took));
    }

    /// The model that is about to be called; one with a name that is free text goes unnamed.
    pub(crate) fn model(&mut self, id: &str) {
        if let Ok(id) = AuditId::new(id) {
            self.guard.set(MODEL, id);
        }
    }

    pub(crate) fn usage(&mut self, usage: Usage) {
        if let Some(tokens) = usage.input_tokens {
            self.guard.set(INPUT_TOKENS, tokens);
        }
        if let Some(tokens) = usage.output_tokens {
            self.guard.set(OUTPUT_TOKENS, tokens);
        }
    }

    /// A call of the model has failed: what it used, and why, when the failure of the request is
    /// another.
    pub(crate) fn failed_call(&mut self, error: &Error) {
        self.usage(error.usage());
        if let Some(cause) = error.source().and_then(|cause| cause.downcast_ref::<Error>()) {
            self.reason(cause.code());
        }
    }

    pub(crate) fn generated(&mut self, took: Duration) {
        self.guard.set(GENERATE_MS, milliseconds(took));
    }

    /// The answer as it will be given.
    pub(crate) fn answered(&mut self, answer: &Answer) {
        self.guard.set(ABSTAINED, answer.abstained);
        let cited = answer.citations.iter().map(|citation| AuditId::from(&citation.chunk));
        self.guard.set(CITED, cited.collect());
        self.ended(AuditCode::new(answer.mode.as_str()));
    }

    /// The hits as they will be given.
    pub(crate) fn searched(&mut self, answer: &SearchAnswer) {
        let refused = answer.skipped.iter().any(|skipped| skipped.reason == "refused");
        self.ended(match (refused, answer.hits.is_empty()) {
            (true, _) => AuditCode::new(Mode::Refused.as_str()),
            (false, true) => AuditCode::new(Mode::Empty.as_str()),
            (false, false) => AuditCode::OK,
        });
    }

    fn ended(&mut self, outcome: AuditCode) {
        self.guard.set(TOTAL_MS, milliseconds(self.begun.elapsed()));
        self.outcome = outcome;
        if outcome != AuditCode::ERROR {
            self.observe(Observed::succeeded);
        }
    }

    fn observe(&mut self, observe: impl FnOnce(&mut Observed)) {
        self.observed.as_mut().map(observe);
    }

    /// Has what is withheld counted when the answer is there.
    pub(crate) fn count_withheld(&mut self, withheld: Withheld) {
        self.withheld = Some(withheld);
    }

    pub(crate) fn take_withheld(&mut self) -> Option<Withheld> {
        self.withheld.take()
    }

    /// The answer goes out before the record: whatever comes now, this is how the request ended.
    pub(crate) fn given(&mut self) {
        self.guard.outcome(self.outcome);
        self.observed = None;
    }

    /// How many chunks would have counted for somebody who sees everything.
    pub(crate) fn withheld(&mut self, count: Result<usize>) {
        match count {
            Ok(count) => self.guard.set(WITHHELD, count),
            Err(error) => self.guard.error(error.code()),
        }
    }

    /// Hands over the record of a request that has its answer. An error only in a strict log.
    pub(crate) async fn finish(self) -> Result<()> {
        let Self { guard, outcome, strict, .. } = self;
        if strict {
            wait(move || guard.finish(outcome)).await.adopt()
        } else {
            guard.finish(outcome).adopt()
        }
    }

    /// Hands over the record of a request that has failed. An error only in a strict log.
    pub(crate) async fn fail(mut self, error: &Error) -> Result<()> {
        self.guard.error(error.code());
        self.observe(|observed| observed.failed(error.code()));
        self.ended(AuditCode::ERROR);
        self.finish().await
    }
}

/// As the answers say it: to the microsecond.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Waits for the audit on a thread for such things; on this one outside of a runtime.
pub(crate) async fn wait<F>(work: F) -> Result<(), AuditError>
where
    F: FnOnce() -> Result<(), AuditError> + Send + 'static,
{
    let Ok(runtime) = Handle::try_current() else { return work() };
    runtime.spawn_blocking(work).await.unwrap_or_else(|ended| {
        Err(AuditError::new(
            AuditErrorKind::Write,
            "wait for the audit",
            "the runtime ended meanwhile",
        )
        .next("keep the runtime as long as requests are answered")
        .caused_by(ended))
    })
}
