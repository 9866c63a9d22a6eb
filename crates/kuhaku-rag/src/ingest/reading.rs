//! An ingest under way: what was read, and what is to be stored.

use kuhaku_core::DocumentId;
use kuhaku_index::{
    ApplyReport, ChangeOutcome, ContentHash, DocumentRecord, Fingerprint, FolderHash,
};
use kuhaku_ingest::Source;

use crate::ingest::embedding::Vectors;
use crate::ingest::report::{DocumentOutcome, IngestReport};
use crate::ingest::tags::TagRule;

/// A batch is applied when it holds this many documents …
const BATCH_DOCUMENTS: usize = 128;
/// … or this many bytes of text.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Documents that are ready, and the places of their reports.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) records: Vec<DocumentRecord>,
    pub(super) places: Vec<usize>,
    bytes: usize,
    chunks: usize,
}

/// A document on its way in.
pub(super) struct Item<'a> {
    pub(super) id: DocumentId,
    pub(super) hash: ContentHash,
    pub(super) name: &'a str,
    pub(super) source: Source,
    pub(super) tags: &'a TagRule,
    /// Sorted; empty for a text.
    pub(super) folders: Vec<FolderHash>,
}

/// An ingest under way.
pub(super) struct Reading<'a> {
    pub(super) report: IngestReport,
    pub(super) pending: Pending,
    /// What the documents are stored under.
    pub(super) fingerprint: &'a Fingerprint,
    /// Documents go into the index as they come, and those that are there already are left alone;
    /// otherwise all are collected.
    pub(super) stepwise: bool,
    /// What is done about vectors.
    pub(super) vectors: Vectors<'a>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(fingerprint: &'a Fingerprint, stepwise: bool, vectors: Vectors<'a>) -> Self {
        let (report, pending) = (IngestReport::new(), Pending::default());
        Self { report, pending, fingerprint, stepwise, vectors }
    }

    /// Adds a document that is ready; its line is the last of the report.
    pub(super) fn push(&mut self, record: DocumentRecord) {
        let pending = &mut self.pending;
        pending.bytes += record.text.as_str().len();
        pending.chunks += record.chunks.len();
        pending.places.push(self.report.documents.len().saturating_sub(1));
        pending.records.push(record);
    }

    /// Whether what is pending should be stored now.
    pub(super) fn is_due(&self) -> bool {
        let Pending { places, bytes, chunks, .. } = &self.pending;
        // What was embedded is soon safe, so that a process that is killed has to do little again.
        let many = *chunks >= self.vectors.chunks_at_a_time();
        self.stepwise && (places.len() >= BATCH_DOCUMENTS || *bytes >= BATCH_BYTES || many)
    }

    /// Corrects the report by what the index says.
    pub(super) fn note(&mut self, places: Vec<usize>, applied: &ApplyReport) {
        for (place, (_, outcome)) in places.into_iter().zip(&applied.outcomes) {
            if let Some(line) = self.report.documents.get_mut(place) {
                line.outcome = match outcome {
                    ChangeOutcome::Updated => DocumentOutcome::Updated,
                    ChangeOutcome::Unchanged => DocumentOutcome::Unchanged,
                    _ => DocumentOutcome::Added,
                };
            }
        }
    }
}
