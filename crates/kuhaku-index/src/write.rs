//! Batches of changes and what became of them.

use kuhaku_core::DocumentId;

use crate::document::DocumentRecord;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Stores a document, replacing all chunks of an earlier one of the same id.
    Upsert(Box<DocumentRecord>),
    /// Removes a document.
    Remove(DocumentId),
}

/// Changes that take effect together, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch(Vec<Change>);

impl Batch {
    /// No changes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds storing a document.
    #[must_use]
    pub fn upsert(mut self, document: DocumentRecord) -> Self {
        self.0.push(Change::Upsert(Box::new(document)));
        self
    }

    /// Adds removing a document.
    #[must_use]
    pub fn remove(mut self, id: DocumentId) -> Self {
        self.0.push(Change::Remove(id));
        self
    }

    /// The changes in order.
    pub fn changes(&self) -> &[Change] {
        &self.0
    }

    /// The changes in order.
    pub fn into_changes(self) -> Vec<Change> {
        self.0
    }

    /// True when there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What became of one change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeOutcome {
    /// A new document was stored.
    Added,
    /// A stored document was replaced.
    Updated,
    /// The stored document has the same content hash, tags, type, metadata and validity: nothing
    /// was done.
    Unchanged,
    /// A document was removed.
    Removed,
    /// There was no such document to remove.
    Absent,
}

/// What became of a batch, a line per change and in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApplyReport {
    /// The documents and what became of them.
    pub outcomes: Vec<(DocumentId, ChangeOutcome)>,
}
