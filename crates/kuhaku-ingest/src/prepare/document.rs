//! A document that is ready to be indexed.

use std::collections::BTreeMap;

use kuhaku_core::{AccessTags, CanonicalText, Date, Redactions};

use crate::chunk::Chunk;
use crate::warning::Warning;

/// A document ready to be indexed. All of its text has passed the masker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreparedDocument {
    /// A title of one line.
    pub title: String,
    /// The name it was given under.
    pub source_name: String,
    /// Its type, for filters.
    pub doc_type: String,
    /// Its canonical text.
    pub text: CanonicalText,
    /// Its chunks in the order of the text.
    pub chunks: Vec<Chunk>,
    /// The values of its front matter that have no meaning of their own; lists joined by `, `.
    pub metadata: BTreeMap<String, String>,
    /// The access tags that it states. Absent when it states none, so that the caller decides.
    pub tags: Option<AccessTags>,
    /// When it holds, as it states.
    pub validity: StatedValidity,
    /// What was masked in its text, name and metadata.
    pub redactions: Redactions,
    /// What its owner should look at.
    pub warnings: Vec<Warning>,
}

impl PreparedDocument {
    /// The text of a chunk.
    pub fn chunk_text(&self, chunk: &Chunk) -> &str {
        self.text.as_str().get(chunk.range.clone()).unwrap_or_default()
    }

    /// How many chunks are to be held back.
    pub fn quarantined(&self) -> usize {
        self.chunks.iter().filter(|chunk| chunk.quarantine.is_some()).count()
    }
}

/// What a document says about when it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatedValidity {
    /// The first day on which it holds.
    pub effective: Option<Date>,
    /// The last day on which it holds.
    pub expires: Option<Date>,
    /// It no longer holds at all.
    pub obsolete: bool,
}
