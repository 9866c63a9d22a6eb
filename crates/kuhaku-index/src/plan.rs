//! What a batch does to an index: checked, and reduced to the last change of each document.

use std::collections::BTreeMap;
use std::sync::Arc;

use kuhaku_core::DocumentId;

use crate::document::DocumentRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{Fault, Seeded};
use crate::inverted::{Body, Document, Generation};
use crate::write::{ApplyReport, Batch, Change, ChangeOutcome};

/// The effect of a batch.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) report: ApplyReport,
    /// Stored documents that go, by id.
    pub(crate) removed: Vec<DocumentId>,
    /// Documents that come, in the order of the batch.
    pub(crate) stored: Vec<DocumentRecord>,
}

impl Plan {
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a chunk outside its text; nothing is to be done then.
    pub(crate) fn new(current: &Generation, batch: Batch, seeded: Seeded) -> Result<Self> {
        for change in batch.changes() {
            if let Change::Upsert(record) = change {
                check(record)?;
            }
        }
        let mut stored: Vec<Option<DocumentRecord>> = Vec::new();
        // By document: where among `stored` its last version is, or none when it goes.
        let mut pending: BTreeMap<DocumentId, Option<usize>> = BTreeMap::new();
        let mut report = ApplyReport::default();
        for change in batch.into_changes() {
            let (id, outcome) = match change {
                Change::Upsert(mut record) => {
                    let id = record.id.clone();
                    let replaced = match pending.get(&id) {
                        Some(place) => place
                            .and_then(|place| stored.get(place)?.as_ref())
                            .map(|last| (same(&record, &last.content, last), last.tags.clone())),
                        None => current.document(&id).map(|(document, tags)| {
                            let equal = record.content == document.content
                                && record.tags == *tags
                                && record.doc_type == document.doc_type
                                && record.metadata == document.metadata
                                && record.validity == document.validity;
                            (equal, tags.clone())
                        }),
                    };
                    match replaced {
                        Some((true, _)) => (id, ChangeOutcome::Unchanged),
                        other => {
                            if let Some((_, tags)) = &other
                                && seeded.has(Fault::ChangedTagsIgnored)
                            {
                                record.tags = tags.clone();
                            }
                            let place = Some(stored.len());
                            supersede(&mut stored, pending.insert(id.clone(), place));
                            stored.push(Some(*record));
                            let outcome = match other {
                                Some(_) => ChangeOutcome::Updated,
                                None => ChangeOutcome::Added,
                            };
                            (id, outcome)
                        }
                    }
                }
                Change::Remove(id) => {
                    let present = match pending.get(&id) {
                        Some(place) => place.is_some(),
                        None => current.document(&id).is_some(),
                    };
                    if present {
                        supersede(&mut stored, pending.insert(id.clone(), None));
                        (id, ChangeOutcome::Removed)
                    } else {
                        (id, ChangeOutcome::Absent)
                    }
                }
            };
            report.outcomes.push((id, outcome));
        }
        let removed = pending.into_keys().filter(|id| current.document(id).is_some()).collect();
        Ok(Self { report, removed, stored: stored.into_iter().flatten().collect() })
    }

    /// True when there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.stored.is_empty()
    }
}

fn same(record: &DocumentRecord, content: &crate::ContentHash, last: &DocumentRecord) -> bool {
    record.content == *content
        && record.tags == last.tags
        && record.doc_type == last.doc_type
        && record.metadata == last.metadata
        && record.validity == last.validity
}

fn supersede(stored: &mut [Option<DocumentRecord>], before: Option<Option<usize>>) {
    if let Some(slot) = before.flatten().and_then(|place| stored.get_mut(place)) {
        *slot = None;
    }
}

fn check(record: &DocumentRecord) -> Result<()> {
    let text = record.text.as_str();
    let wrong = record.chunks.iter().position(|chunk| text.get(chunk.range.clone()).is_none());
    let Some(ordinal) = wrong else { return Ok(()) };
    Err(Error::new(
        ErrorKind::InvalidInput,
        format!("store chunk {ordinal} of document {}", record.id),
        "its bytes do not lie in the document's text, or cut a character",
    )
    .next("give chunk ranges on character borders of the canonical text"))
}

/// The part of a record that stays in memory.
pub(crate) fn resident(record: &DocumentRecord, body: Body) -> Arc<Document> {
    Arc::new(Document {
        id: record.id.clone(),
        content: record.content,
        doc_type: record.doc_type.clone(),
        metadata: record.metadata.clone(),
        validity: record.validity,
        body,
    })
}
