//! How files are ingested, and who hears of it.

use kuhaku_ingest::WalkOptions;

use crate::ingest::report::DocumentReport;
use crate::ingest::tags::TagRule;

/// How files are ingested.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct IngestOptions {
    /// Who may see the documents.
    pub tags: TagRule,
    /// Which files of a folder are taken. The setting `rag.max_upload_bytes` wins over its size limit.
    pub walk: WalkOptions,
    /// Whether documents go whose files were in one of the folders given and are gone. A file that is
    /// there and not taken, for a pattern or its format, keeps its document. False by default.
    pub sync: bool,
}

/// Hears how far an ingest is.
pub trait IngestProgress: Send {
    /// This many documents will be looked at.
    fn found(&mut self, documents: usize);
    /// One more is done; its chunks may not be durable yet, nor embedded.
    fn done(&mut self, report: &DocumentReport);
    /// Of the texts that are to be embedded before the next documents are stored, so many are.
    fn embedding(&mut self, done: usize, of: usize) {
        let _ = (done, of);
    }
}

/// Hears nothing.
impl IngestProgress for () {
    fn found(&mut self, _documents: usize) {}
    fn done(&mut self, _report: &DocumentReport) {}
}
