//! Masking stored documents again, when the masker has learned more (D15).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use kuhaku_core::{Masker, Redactions, mask_field};
use kuhaku_index::{ChunkIndex, ChunkRecord, DocumentRecord};

use crate::error::{Adopt as _, Result};

/// What became of an index that was masked again.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct RemaskReport {
    /// Documents in the index.
    pub documents: usize,
    /// Those in which more was masked.
    pub changed: usize,
    /// What was masked that was not before.
    pub redactions: Redactions,
    /// The masker that had shaped the text, by its id.
    pub from: String,
    /// The masker that has shaped it now.
    pub to: String,
}

/// Masks everything stored with another masker; does nothing when it is the same one. Chunks keep their places; nothing is read but the
/// index, so what an earlier masker took out stays out.
pub(crate) async fn remask(index: &dyn ChunkIndex, masker: &dyn Masker) -> Result<RemaskReport> {
    let stored = index.fingerprint();
    let mut report = RemaskReport {
        from: stored.masker.clone(),
        to: masker.id().into(),
        ..RemaskReport::default()
    };
    if report.from == report.to {
        let totals = index.maintenance().statistics().await.adopt()?;
        report.documents = usize::try_from(totals.documents).unwrap_or(usize::MAX);
        return Ok(report);
    }
    let mut fingerprint = stored;
    fingerprint.masker = report.to.clone();
    let changed = AtomicUsize::new(0);
    let redactions = Mutex::new(Redactions::default());
    let rewrite = |record: DocumentRecord| {
        let mut masking = Again { masker, redactions: Redactions::default() };
        let record = masking.document(record);
        if !masking.redactions.is_empty() {
            changed.fetch_add(1, Ordering::Relaxed);
            redactions.lock().unwrap_or_else(PoisonError::into_inner).merge(&masking.redactions);
        }
        record
    };
    let applied = index.maintenance().rewrite(fingerprint, &rewrite).await.adopt()?;
    report.documents = applied.outcomes.len();
    report.changed = changed.into_inner();
    report.redactions = redactions.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(report)
}

/// One document on its way through the masker.
struct Again<'m> {
    masker: &'m dyn Masker,
    redactions: Redactions,
}

impl Again<'_> {
    fn text(&mut self, text: &str) -> String {
        let masked = self.masker.mask(text);
        self.redactions.merge(masked.redactions());
        masked.text().to_owned()
    }

    fn document(&mut self, mut record: DocumentRecord) -> DocumentRecord {
        let text = self.masker.mask(record.text.as_str());
        self.redactions.merge(text.redactions());
        for chunk in &mut record.chunks {
            // A chunk whose border lay within a value takes the whole placeholder.
            chunk.range = text.map().to_output(chunk.range.clone());
            self.chunk(chunk);
        }
        record.text = text.canonical();
        record.title = self.text(&record.title);
        record.source = self.text(&record.source);
        record.doc_type = self.text(&record.doc_type);
        record.metadata = std::mem::take(&mut record.metadata)
            .into_iter()
            .map(|(key, value)| {
                let (value, redactions) = mask_field(self.masker, &key, &value);
                self.redactions.merge(&redactions);
                (self.text(&key), value)
            })
            .collect::<BTreeMap<_, _>>();
        record
    }

    fn chunk(&mut self, chunk: &mut ChunkRecord) {
        chunk.text = chunk.text.take().map(|text| self.text(&text));
        chunk.extra = self.text(&chunk.extra);
        for heading in &mut chunk.headings {
            *heading = self.text(heading);
        }
    }
}
