//! Spans and metrics of model calls, under the names of the OpenTelemetry conventions for
//! generative AI (D34). Content is never captured.

use tokio::time::Instant;
use tracing::{Span, field};

use crate::error::Error;
use crate::llm::{Finish, Usage};
use crate::runtime::Runtime;

/// The type of error of what ended because nobody waited any more.
const CANCELLED: &str = "core.cancelled";

/// Provider and model of an id written `provider:model`, as the conventions name them.
fn parts(id: &str) -> (&str, &str) {
    match id.split_once(':') {
        Some(("vertex", model)) => ("gcp.vertex_ai", model),
        Some(parts) => parts,
        None => (id, ""),
    }
}

/// The span of one call, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct CallSpan {
    span: Span,
    ended: bool,
}

impl CallSpan {
    /// A span below the current one.
    pub(super) fn begin(id: &str) -> Self {
        let (provider, model) = parts(id);
        let span = tracing::info_span!(
            "chat",
            otel.name = %format_args!("chat {model}"),
            otel.kind = "client",
            otel.status_code = field::Empty,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = provider,
            gen_ai.request.model = model,
            gen_ai.response.model = field::Empty,
            gen_ai.response.finish_reasons = field::Empty,
            gen_ai.usage.input_tokens = field::Empty,
            gen_ai.usage.output_tokens = field::Empty,
            error.r#type = field::Empty,
        );
        Self { span, ended: false }
    }

    pub(super) fn span(&self) -> &Span {
        &self.span
    }

    pub(super) fn succeeded(&mut self, model: &str, finish: Finish, usage: Usage) {
        self.ended = true;
        // What a service says is outside text; the names of models are plain (R7).
        if is_plain(model) {
            self.span.record("gen_ai.response.model", model);
        }
        self.span.record("gen_ai.response.finish_reasons", reason(finish));
        self.used(usage);
    }

    pub(super) fn failed(&mut self, error: &Error) {
        self.ended = true;
        self.span.record("otel.status_code", "ERROR");
        self.span.record("error.type", error.code());
        self.used(error.usage());
    }

    /// What the call used so far.
    pub(super) fn used(&self, usage: Usage) {
        if let Some(tokens) = usage.input_tokens {
            self.span.record("gen_ai.usage.input_tokens", tokens);
        }
        if let Some(tokens) = usage.output_tokens {
            self.span.record("gen_ai.usage.output_tokens", tokens);
        }
    }
}

impl Drop for CallSpan {
    fn drop(&mut self) {
        if !self.ended {
            self.span.record("otel.status_code", "ERROR");
            self.span.record("error.type", CANCELLED);
        }
    }
}

/// Whether a text is a name: 1 to 128 ASCII letters, digits, or a few signs.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@+".contains(c);
    (1..=128).contains(&name.len()) && name.chars().all(plain)
}

fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
        Finish::Refusal => "refusal",
    }
}

/// One attempt to call a model, measured when this is dropped: how long it took, how it ended, what
/// it used. Dropped without an end, it was cancelled or timed out from outside.
#[derive(Debug)]
pub(super) struct ModelAttempt {
    runtime: Runtime,
    id: String,
    started: Instant,
    error: Option<&'static str>,
    usage: Usage,
}

impl ModelAttempt {
    pub(super) fn begin(runtime: &Runtime, id: &str) -> Self {
        Self {
            runtime: runtime.clone(),
            id: id.to_owned(),
            started: Instant::now(),
            error: Some(CANCELLED),
            usage: Usage::default(),
        }
    }

    pub(super) fn succeeded(&mut self, usage: Usage) {
        self.error = None;
        self.usage = usage;
    }

    pub(super) fn failed(&mut self, error: &Error) {
        self.error = Some(error.code());
        self.usage = error.usage();
    }
}

impl Drop for ModelAttempt {
    fn drop(&mut self) {
        let (provider, model) = parts(&self.id);
        let operation = ("gen_ai.operation.name", "chat");
        let by = ("gen_ai.provider.name", provider);
        let of = ("gen_ai.request.model", model);
        let labels = [operation, by, of, ("error.type", self.error.unwrap_or_default())];
        let labels = if self.error.is_some() { &labels[..] } else { &labels[..3] };
        let took = self.started.elapsed().as_secs_f64();
        self.runtime.record("gen_ai.client.operation.duration", labels, took);
        let Usage { input_tokens, output_tokens } = self.usage;
        for (kind, tokens) in [("input", input_tokens), ("output", output_tokens)] {
            if let Some(tokens) = tokens {
                let labels = [operation, by, of, ("gen_ai.token.type", kind)];
                self.runtime.record("gen_ai.client.token.usage", &labels, tokens as f64);
            }
        }
    }
}

/// One attempt of any call, measured when this is dropped.
#[derive(Debug)]
pub(super) struct Attempt<'a> {
    runtime: &'a Runtime,
    service: &'static str,
    started: Instant,
    outcome: &'static str,
}

impl<'a> Attempt<'a> {
    pub(super) fn begin(runtime: &'a Runtime, service: &'static str) -> Self {
        Self { runtime, service, started: Instant::now(), outcome: CANCELLED }
    }

    pub(super) fn ended(mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let labels = [("service", self.service), ("outcome", self.outcome)];
        let took = self.started.elapsed().as_secs_f64();
        self.runtime.record("kuhaku_call_attempt_duration_seconds", &labels, took);
    }
}
