//! Requests under their records: one each, from before anything can fail to the end (R8).

use std::time::Duration;

use kuhaku_core::TraceId;
use tracing::Instrument as _;

use crate::answer::{Answer, SearchAnswer};
use crate::engine::RagEngine;
use crate::error::{Adopt as _, Result};
use crate::observed::Event;
use crate::record::{RequestRecord, wait};
use crate::request::AskRequest;
use crate::streaming::{AnswerStream, Outlet};

impl RagEngine {
    /// Answers a question.
    ///
    /// # Errors
    /// Those of the index, of a custom retriever and of the model; with a strict audit, its own when
    /// the record could not be written. Having no answer is no error: see [`Answer::mode`].
    pub async fn ask(&self, request: &AskRequest) -> Result<Answer> {
        self.ask_through(request, None).await
    }

    /// Answers a question piece by piece; otherwise the same as [`ask`](Self::ask), records included.
    ///
    /// The pieces are checked and masked like the whole, so they come some words after the model has
    /// written them. An answer that no model writes comes in one piece, and so does every answer under
    /// a strict audit, whose record comes first.
    ///
    /// Nothing happens before the stream is polled. Dropping it ends the call of the model.
    ///
    /// # Errors
    /// Within the stream, those of [`ask`](Self::ask), and `rag.partial_answer` when the model fails
    /// after some text has been given.
    pub fn ask_stream(&self, request: &AskRequest) -> AnswerStream {
        let (engine, request) = (self.clone(), request.clone());
        AnswerStream::new(|outlet| async move {
            let outlet = (!engine.audit.is_strict()).then_some(&outlet);
            engine.ask_through(&request, outlet).await
        })
    }

    async fn ask_through(&self, request: &AskRequest, outlet: Option<&Outlet>) -> Result<Answer> {
        let mut record = RequestRecord::begin(&self.audit, &self.runtime, Event::Ask, request);
        let id = self.trace_id(request, &mut record);
        let bound = id.as_ref().cloned().unwrap_or_else(|_| TraceId::unknown());
        let asking = async move {
            let span = record.span();
            let answering = async { self.answer(request, id?, &mut record, outlet).await };
            let result = answering.instrument(span).await;
            self.end(record, result).await
        };
        bound.bind(asking).await
    }

    /// Finds chunks without answering.
    ///
    /// # Errors
    /// Those of the index and of a custom retriever; with a strict audit, its own when the record
    /// could not be written.
    pub async fn search(&self, request: &AskRequest) -> Result<SearchAnswer> {
        let mut record = RequestRecord::begin(&self.audit, &self.runtime, Event::Search, request);
        let id = self.trace_id(request, &mut record);
        let bound = id.as_ref().cloned().unwrap_or_else(|_| TraceId::unknown());
        let searching = async move {
            let span = record.span();
            let finding = async { self.find(request, id?, &mut record).await };
            let result = finding.instrument(span).await;
            self.end(record, result).await
        };
        bound.bind(searching).await
    }

    /// The id of a request: the caller's, else that of the work that it is part of, else a new one.
    fn trace_id(&self, request: &AskRequest, record: &mut RequestRecord) -> Result<TraceId> {
        let id = match request.trace_id.clone().or_else(TraceId::current) {
            Some(id) => id,
            None => self.runtime.trace_id().adopt()?,
        };
        record.trace_id(&id);
        Ok(id)
    }

    /// Waits until the records of all requests that have ended are written; `limit` bounds the time
    /// that the audit may take.
    ///
    /// # Errors
    /// `audit.timed_out` when some are not.
    pub async fn flush(&self, limit: Duration) -> Result<()> {
        self.afterwards.done().await;
        let audit = self.audit.clone();
        wait(move || audit.flush(limit)).await.adopt()
    }

    /// Puts the end of a request on record. What was withheld is counted behind the answer; a strict
    /// log has the answer wait for its record, so there it is counted before.
    async fn end<T>(&self, mut record: RequestRecord, result: Result<T>) -> Result<T> {
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => {
                record.fail(&error).await?;
                return Err(error);
            }
        };
        match record.take_withheld() {
            Some(withheld) if !self.audit.is_strict() => {
                record.given();
                let settings = self.settings.clone();
                let work = async move {
                    record.withheld(withheld.count(&settings).await);
                    // Only a strict log has errors, and this is none.
                    let _ = record.finish().await;
                };
                self.afterwards.add(work).await;
            }
            Some(withheld) => {
                record.withheld(withheld.count(&self.settings).await);
                record.finish().await?;
            }
            None => record.finish().await?,
        }
        Ok(answer)
    }
}
