//! The extractor: one schema, one pipeline.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kuhaku_core::{LlmProvider, TraceId};
use serde_json::Value;
use tracing::Instrument as _;

use crate::builder::ExtractorBuilder;
use crate::context::{Context, Given};
use crate::error::{Adopt as _, Result};
use crate::limit::Limit;
use crate::observed::Event;
use crate::partials::{ExtractionStream, Outlet};
use crate::parts::Core;
use crate::prompt::Preview;
use crate::record::{RequestRecord, wait};
use crate::request::ExtractRequest;
use crate::result::Extraction;
use crate::schema::Schema;

/// Takes values out of texts, in the shape of one schema. Cheap to clone; keeps nothing of what it
/// reads.
///
/// Polled within a runtime of Tokio, it needs the timer of the runtime. Dropping a future ends the call
/// of its model.
#[derive(Clone, Debug)]
pub struct Extractor {
    pub(crate) core: Arc<Core>,
}

impl Extractor {
    /// An extractor with default parts.
    pub fn builder(schema: impl Into<Schema>, model: Arc<dyn LlmProvider>) -> ExtractorBuilder {
        ExtractorBuilder::new(schema.into(), model)
    }

    /// What it extracts.
    pub fn schema(&self) -> &Schema {
        &self.core.schema
    }

    /// Extracts from one text. A result that is not complete is no error; see
    /// [`Extraction::status`].
    ///
    /// # Errors
    /// When no model replied at all, that of the last one; when the request contradicts the
    /// extractor, `extract.configuration`; when a step or rule of the application fails, its own or
    /// `extract.component`; with a strict audit, its own when the record could not be written.
    pub async fn extract(&self, request: impl Into<ExtractRequest>) -> Result<Extraction> {
        self.extract_through(&request.into(), None).await
    }

    /// The same, with values while the model writes them.
    ///
    /// Nothing happens before the stream is polled. Dropping it ends the call of the model.
    pub fn extract_stream(&self, request: impl Into<ExtractRequest>) -> ExtractionStream {
        let (extractor, request) = (self.clone(), request.into());
        let outlet = Outlet::new(self.core.clone());
        let work = {
            let outlet = outlet.clone();
            async move { extractor.extract_through(&request, Some(outlet)).await }
        };
        ExtractionStream::new(outlet, work)
    }

    /// The first prompt of a request, without a call of the model: for the model to prefer, but for the
    /// random digits of the borders exactly as it would be sent.
    ///
    /// # Errors
    /// As for [`extract`](Self::extract) before the model is called.
    pub async fn preview(&self, request: impl Into<ExtractRequest>) -> Result<Preview> {
        let request = request.into();
        let limit = Limit::new(Instant::now(), self.core.settings.request_timeout_seconds);
        let trace_id = request.trace_id.clone().unwrap_or_else(TraceId::unknown);
        let mut context = Context::new(&self.core, &request, limit, trace_id)?;
        limit.of(self.core.pipeline.prepare(&mut context)).await?;
        context.prompt().preview(&self.core.runtime, self.core.is_native())
    }

    /// The data extracted from a text, as evaluations compare them with a label.
    ///
    /// # Errors
    /// As for [`extract`](Self::extract).
    pub async fn evaluate_sample(&self, text: &str) -> Result<Value> {
        let result = self.extract(text).await?;
        Ok(result.data.unwrap_or(Value::Null))
    }

    /// Waits until the records of all requests that have ended are written; `limit` bounds the time
    /// that the audit may take.
    ///
    /// # Errors
    /// `audit.timed_out` when some are not.
    pub async fn flush(&self, limit: Duration) -> Result<()> {
        if !self.core.audit.is_on() {
            return Ok(());
        }
        let audit = self.core.audit.log(&self.core.runtime);
        wait(move || audit.flush(limit)).await.adopt()
    }

    async fn extract_through(
        &self,
        request: &ExtractRequest,
        outlet: Option<Outlet>,
    ) -> Result<Extraction> {
        let core = &self.core;
        let (mut record, id) = begin(core, Event::Extraction, request);
        let bound = id.as_ref().cloned().unwrap_or_else(|_| TraceId::unknown());
        let extracting = async move {
            let span = record.span();
            let working = async {
                record.text(core, &request.text);
                record.schema(core.schema.name());
                let limit = Limit::new(record.begun(), core.settings.request_timeout_seconds);
                let given = Given { outlet, ..Given::default() };
                limit.of(self.work(request, limit, id?, given)).await
            };
            let outcome = working.instrument(span).await;
            end(record, outcome).await
        };
        bound.bind(extracting).await
    }

    /// The whole pipeline.
    pub(crate) async fn work(
        &self,
        request: &ExtractRequest,
        limit: Limit,
        trace_id: TraceId,
        given: Given,
    ) -> Result<Extraction> {
        let mut context = Context::new(&self.core, request, limit, trace_id)?;
        context.given = given;
        self.core.pipeline.prepare(&mut context).await?;
        self.run(context).await
    }

    /// What comes after the preparation.
    pub(crate) async fn run(&self, mut context: Context) -> Result<Extraction> {
        match self.core.pipeline.run(&mut context).await {
            Ok(()) => Ok(context.finish()),
            // The usage of a failed call is in its error, that of earlier ones in the context.
            Err(error) => {
                let used = context.usage().plus(error.usage());
                Err(error.with_usage(used))
            }
        }
    }
}

/// The record of a request, and its id: the caller's, else that of the work that it is part of, else a
/// new one.
pub(crate) fn begin(
    core: &Core,
    event: Event,
    request: &ExtractRequest,
) -> (RequestRecord, Result<TraceId>) {
    let given = request.trace_id.as_ref();
    let mut record = RequestRecord::begin(core, event, &request.identity, given);
    let id = match given.cloned().or_else(TraceId::current) {
        Some(id) => Ok(id),
        None => core.runtime.trace_id().adopt(),
    };
    if let Ok(id) = &id {
        record.trace_id(id);
    }
    (record, id)
}

/// Puts the end of a request on record.
pub(crate) async fn end(record: RequestRecord, outcome: Result<Extraction>) -> Result<Extraction> {
    match &outcome {
        Ok(result) => record.finish(result).await?,
        Err(error) => record.fail(error).await?,
    }
    outcome
}

impl Core {
    /// Whether the model to prefer holds replies to a schema by itself.
    pub(crate) fn is_native(&self) -> bool {
        self.models.first().is_some_and(|model| model.capabilities().json_schema)
    }
}
