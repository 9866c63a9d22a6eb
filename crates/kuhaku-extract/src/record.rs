//! What goes on record about a request (R8): codes, counts and ids, no content (R7).

use std::collections::BTreeSet;
use std::time::Instant;

use kuhaku_core::{
    AuditCode, AuditError, AuditErrorKind, AuditField, AuditGuard, AuditId, AuthContext, Roles,
    TraceId,
};
use tokio::runtime::Handle;
use tracing::Span;

use crate::error::{Adopt as _, Error, Result};
use crate::observed::{Event, Observed};
use crate::parts::Core;
use crate::result::Extraction;

const ATTEMPTS: AuditField<u64> = AuditField::new("attempts");
const INPUT_TOKENS: AuditField<u64> = AuditField::new("input_tokens");
const ISSUES: AuditField<Vec<AuditId>> = AuditField::new("issues");
const LLM: AuditField<AuditId> = AuditField::new("llm");
const OUTPUT_TOKENS: AuditField<u64> = AuditField::new("output_tokens");
const SCHEMA: AuditField<AuditId> = AuditField::new("schema");
const STATUS: AuditField<AuditCode> = AuditField::new("status");
const TOTAL_MS: AuditField<f64> = AuditField::new("total_ms");

/// The record of one request, from before anything can fail to its end. Dropped before that, it
/// says so by itself.
#[derive(Debug)]
pub(crate) struct RequestRecord {
    guard: AuditGuard,
    observed: Observed,
    begun: Instant,
    strict: bool,
    /// Whether anybody keeps it.
    kept: bool,
}

impl RequestRecord {
    pub(crate) fn begin(
        core: &Core,
        event: Event,
        identity: &str,
        trace_id: Option<&TraceId>,
    ) -> Self {
        let log = core.audit.log(&core.runtime);
        let caller = AuthContext::new(identity, Roles::default());
        let trace_id = trace_id.cloned().unwrap_or_else(TraceId::unknown);
        Self {
            guard: log.begin(AuditCode::new(event.as_str()), &trace_id, &caller),
            observed: Observed::begin(&core.runtime, event),
            begun: Instant::now(),
            strict: log.is_strict(),
            kept: core.audit.is_on(),
        }
    }

    /// When the request began.
    pub(crate) fn begun(&self) -> Instant {
        self.begun
    }

    pub(crate) fn trace_id(&mut self, trace_id: &TraceId) {
        self.guard.trace_id(trace_id);
        self.observed.trace_id(trace_id);
    }

    /// The span of the request.
    pub(crate) fn span(&self) -> Span {
        self.observed.span()
    }

    /// The text as it came. On record it is masked, whether or not the model sees it so.
    pub(crate) fn text(&mut self, core: &Core, text: &str) {
        if self.kept {
            self.guard.input(text, &core.masking.get().mask(text));
        }
    }

    pub(crate) fn schema(&mut self, name: &str) {
        // A name that is free text has no place in a record.
        if let Ok(id) = AuditId::new(name) {
            self.guard.set(SCHEMA, id);
        }
    }

    /// Hands over the record of a request that has its result. An error only in a strict log.
    pub(crate) async fn finish(mut self, result: &Extraction) -> Result<()> {
        if let Some(schema) = &result.schema {
            self.schema(schema);
        }
        if let Some(llm) = result.llm.as_deref().and_then(|llm| AuditId::new(llm).ok()) {
            self.guard.set(LLM, llm);
        }
        let status = result.status.as_str();
        self.guard.set(STATUS, AuditCode::new(status));
        let codes: BTreeSet<&str> = result.issues.iter().map(|issue| &*issue.code).collect();
        let codes = codes.into_iter().filter_map(|code| AuditId::new(code).ok());
        self.guard.set(ISSUES, codes.collect::<Vec<_>>());
        self.guard.set(ATTEMPTS, u64::from(result.attempts));
        self.usage(result.usage);
        self.observed.succeeded(status, result.schema.as_deref(), result.attempts);
        self.hand_over(AuditCode::new(status)).await
    }

    /// Hands over the record of a request that has failed. An error only in a strict log.
    pub(crate) async fn fail(mut self, error: &Error) -> Result<()> {
        self.guard.error(error.code());
        self.guard.set(STATUS, AuditCode::ERROR);
        self.usage(error.usage());
        self.observed.failed(error.code());
        self.hand_over(AuditCode::ERROR).await
    }

    fn usage(&mut self, usage: kuhaku_core::Usage) {
        if let Some(tokens) = usage.input_tokens {
            self.guard.set(INPUT_TOKENS, tokens);
        }
        if let Some(tokens) = usage.output_tokens {
            self.guard.set(OUTPUT_TOKENS, tokens);
        }
    }

    async fn hand_over(mut self, outcome: AuditCode) -> Result<()> {
        let took = (self.begun.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        self.guard.set(TOTAL_MS, took);
        let Self { guard, strict, .. } = self;
        if strict { wait(move || guard.finish(outcome)).await } else { guard.finish(outcome) }
            .adopt()
    }
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
