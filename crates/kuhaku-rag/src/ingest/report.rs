//! What became of each document. For operators: ids, counts and masked names, no content (D10).

use kuhaku_core::{DocumentId, Failure, Kind, Redactions};
use serde::Serialize;

/// The version of the JSON that [`IngestReport`] serialises to.
const JSON_VERSION: u32 = 1;

/// What became of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DocumentOutcome {
    /// It is new.
    Added,
    /// It replaced an earlier version of itself.
    Updated,
    /// It is stored already, with the same bytes, tags and metadata.
    Unchanged,
    /// It was removed.
    Removed,
    /// It could not be read; an earlier version of it stays.
    Failed,
}

/// A code for programs and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Note {
    /// The stable code.
    pub code: &'static str,
    /// The sentence.
    pub message: String,
}

impl Note {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl<K: Kind> From<&Failure<K>> for Note {
    fn from(failure: &Failure<K>) -> Self {
        Self::new(failure.code(), failure.to_string())
    }
}

/// What became of one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DocumentReport {
    /// Its identity; absent when it was not read far enough to have one.
    pub id: Option<DocumentId>,
    /// Where it came from, masked.
    pub source: String,
    /// What became of it.
    pub outcome: DocumentOutcome,
    /// How many chunks were stored.
    pub chunks: usize,
    /// How many of them are held back until an operator releases them.
    pub quarantined: usize,
    /// What was masked.
    pub redactions: Redactions,
    /// What its owner should look at.
    pub warnings: Vec<Note>,
    /// Why it failed.
    pub error: Option<Note>,
}

impl DocumentReport {
    pub(crate) fn new(source: String, outcome: DocumentOutcome) -> Self {
        Self {
            id: None,
            source,
            outcome,
            chunks: 0,
            quarantined: 0,
            redactions: Redactions::default(),
            warnings: Vec::new(),
            error: None,
        }
    }

    pub(crate) fn failed(source: String, error: Note) -> Self {
        Self { error: Some(error), ..Self::new(source, DocumentOutcome::Failed) }
    }
}

/// What became of everything that was to be ingested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IngestReport {
    /// The version of this form, for readers of its JSON.
    pub version: u32,
    /// The documents, in the order in which they were found.
    pub documents: Vec<DocumentReport>,
    /// Files of folders that were passed over because of their format or kind.
    pub skipped: usize,
    /// What concerns no single document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Note>,
}

impl IngestReport {
    pub(crate) fn new() -> Self {
        Self { version: JSON_VERSION, documents: Vec::new(), skipped: 0, warnings: Vec::new() }
    }

    /// How many documents had this outcome.
    pub fn count(&self, outcome: DocumentOutcome) -> usize {
        self.documents.iter().filter(|document| document.outcome == outcome).count()
    }

    /// What was masked in all documents together.
    pub fn redactions(&self) -> Redactions {
        let mut all = Redactions::default();
        self.documents.iter().for_each(|document| all.merge(&document.redactions));
        all
    }

    /// How many chunks are held back.
    pub fn quarantined(&self) -> usize {
        self.documents.iter().map(|document| document.quarantined).sum()
    }
}
