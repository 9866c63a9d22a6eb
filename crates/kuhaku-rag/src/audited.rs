//! Requests under their records: one each, from before anything can fail to the end (R8).

use std::time::Duration;

use crate::answer::{Answer, SearchAnswer};
use crate::engine::RagEngine;
use crate::error::{Adopt as _, Result};
use crate::record::{ASK, RequestRecord, SEARCH, wait};
use crate::request::AskRequest;

impl RagEngine {
    /// Answers a question.
    ///
    /// # Errors
    /// Those of the index, of a custom retriever and of the model; with a strict audit, its own when
    /// the record could not be written. Having no answer is no error: see [`Answer::mode`].
    pub async fn ask(&self, request: &AskRequest) -> Result<Answer> {
        let mut record = RequestRecord::begin(&self.audit, ASK, request);
        let result = self.answer(request, &mut record).await;
        self.end(record, result).await
    }

    /// Finds chunks without answering.
    ///
    /// # Errors
    /// Those of the index and of a custom retriever; with a strict audit, its own when the record
    /// could not be written.
    pub async fn search(&self, request: &AskRequest) -> Result<SearchAnswer> {
        let mut record = RequestRecord::begin(&self.audit, SEARCH, request);
        let result = self.find(request, &mut record).await;
        self.end(record, result).await
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
