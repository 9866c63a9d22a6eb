//! What a batch does to an index: checked, and reduced to the last change of each document.

use std::collections::BTreeMap;
use std::sync::Arc;

use kuhaku_core::{AccessTags, DocumentId};

use crate::contract::Rewrite;
use crate::document::{DocumentRecord, Validity};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{Fault, Seeded};
use crate::fingerprint::VectorSpace;
use crate::identity::{ContentHash, IdKey};
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
    /// [`ErrorKind::InvalidInput`] for a chunk outside its text or a vector of another embedder's
    /// dimension; nothing is to be done then.
    pub(crate) fn new(current: &Generation, batch: Batch, seeded: Seeded) -> Result<Self> {
        for change in batch.changes() {
            if let Change::Upsert(record) = change {
                check(record, current.space.as_ref())?;
            }
        }
        let mut draft = Pending { current, records: Vec::new(), last: BTreeMap::new() };
        let mut report = ApplyReport::default();
        for change in batch.into_changes() {
            report.outcomes.push(match change {
                Change::Upsert(record) => (record.id.clone(), draft.store(*record, seeded)),
                Change::Remove(id) => (id.clone(), draft.remove(id)),
            });
        }
        let Pending { records, last, .. } = draft;
        let removed = last.into_keys().filter(|id| current.document(id).is_some()).collect();
        Ok(Self { report, removed, stored: records.into_iter().flatten().collect() })
    }

    /// True when there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.stored.is_empty()
    }
}

/// What makes a document another one (D15). The hash covers all of it when the caller made it as
/// documented; who may see a document does not depend on that.
#[derive(PartialEq)]
struct Version<'a> {
    content: &'a ContentHash,
    tags: &'a AccessTags,
    pinned_tags: bool,
    doc_type: &'a str,
    metadata: &'a BTreeMap<String, String>,
    validity: Validity,
}

impl<'a> Version<'a> {
    fn of_record(record: &'a DocumentRecord) -> Self {
        let DocumentRecord { content, tags, doc_type, metadata, .. } = record;
        let (pinned_tags, validity) = (record.pinned_tags, record.validity);
        Self { content, tags, pinned_tags, doc_type, metadata, validity }
    }

    fn of_stored(document: &'a Document, tags: &'a AccessTags) -> Self {
        let Document { content, doc_type, metadata, .. } = document;
        let (pinned_tags, validity) = (document.pinned_tags, document.validity);
        Self { content, tags, pinned_tags, doc_type, metadata, validity }
    }
}

/// The changes of a batch so far.
struct Pending<'a> {
    current: &'a Generation,
    /// Superseded ones are gone.
    records: Vec<Option<DocumentRecord>>,
    /// By document: where among the records its last version is, or none when it goes.
    last: BTreeMap<DocumentId, Option<usize>>,
}

impl Pending<'_> {
    /// The document as the next change finds it.
    fn find(&self, id: &DocumentId) -> Option<Version<'_>> {
        match self.last.get(id) {
            Some(place) => self.records.get((*place)?)?.as_ref().map(Version::of_record),
            None => {
                let (document, tags) = self.current.document(id)?;
                Some(Version::of_stored(document, tags))
            }
        }
    }

    fn store(&mut self, mut record: DocumentRecord, seeded: Seeded) -> ChangeOutcome {
        let outcome = match self.find(&record.id) {
            Some(before) if before == Version::of_record(&record) => {
                return ChangeOutcome::Unchanged;
            }
            Some(before) => {
                if seeded.has(Fault::ChangedTagsIgnored) {
                    record.tags = before.tags.clone();
                }
                ChangeOutcome::Updated
            }
            None => ChangeOutcome::Added,
        };
        let place = self.records.len();
        self.supersede(record.id.clone(), Some(place));
        self.records.push(Some(record));
        outcome
    }

    fn remove(&mut self, id: DocumentId) -> ChangeOutcome {
        if self.find(&id).is_none() {
            return ChangeOutcome::Absent;
        }
        self.supersede(id, None);
        ChangeOutcome::Removed
    }

    fn supersede(&mut self, id: DocumentId, by: Option<usize>) {
        let before = self.last.insert(id, by).flatten();
        if let Some(slot) = before.and_then(|place| self.records.get_mut(place)) {
            *slot = None;
        }
    }
}

fn check(record: &DocumentRecord, space: Option<&VectorSpace>) -> Result<()> {
    for (ordinal, chunk) in record.chunks.iter().enumerate() {
        if let Some(vector) = &chunk.vector {
            let tried = || format!("store the vector of chunk {ordinal} of document {}", record.id);
            VectorSpace::check(space, vector.dimension(), tried)?;
        }
    }
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

/// A stored document made anew. A vector that was left as it was stays when the embedder does, and what
/// was embedded.
pub(crate) fn rewritten(
    stored: &DocumentRecord,
    rewrite: Rewrite<'_>,
    embedder_stays: bool,
    key: &IdKey,
) -> DocumentRecord {
    let mut record = rewrite(stored.clone());
    let mut chunks = std::mem::take(&mut record.chunks);
    for (ordinal, chunk) in chunks.iter_mut().enumerate() {
        let before = stored.chunks.get(ordinal);
        let is_as_it_was =
            chunk.vector.is_some() && before.map(|b| &b.vector) == Some(&chunk.vector);
        let same_text = || {
            let hash = before.map(|before| stored.embedded_text(before, key));
            hash == Some(record.embedded_text(chunk, key))
        };
        if is_as_it_was && !(embedder_stays && same_text()) {
            chunk.vector = None;
        }
    }
    record.chunks = chunks;
    record
}

/// The part of a record that stays in memory.
pub(crate) fn resident(record: &DocumentRecord, body: Body) -> Arc<Document> {
    Arc::new(Document {
        id: record.id.clone(),
        content: record.content,
        pinned_tags: record.pinned_tags,
        chunks: record.chunks.len() as u64,
        doc_type: record.doc_type.clone(),
        metadata: record.metadata.clone(),
        validity: record.validity,
        body,
    })
}
