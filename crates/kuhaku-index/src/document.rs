//! Documents and chunks as they go in and as they come out.

use std::collections::BTreeMap;
use std::ops::Range;

use kuhaku_core::{AccessTags, CanonicalText, ChunkId, Date, DocumentId};

use crate::identity::{ContentHash, EmbeddedTextHash, FolderHash, IdKey};
use crate::vector::Vector;

/// When a document holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Validity {
    /// The first day on which it holds; absent for "always has".
    pub effective: Option<Date>,
    /// The last day on which it holds; absent for "until further notice".
    pub expires: Option<Date>,
    /// It no longer holds at all.
    pub obsolete: bool,
}

impl Validity {
    /// Always valid.
    pub fn always() -> Self {
        Self::default()
    }

    /// Valid from `effective` to `expires`, both included.
    pub fn between(effective: Option<Date>, expires: Option<Date>) -> Self {
        Self { effective, expires, obsolete: false }
    }

    /// Marks it as obsolete.
    #[must_use]
    pub fn obsolete(mut self, obsolete: bool) -> Self {
        self.obsolete = obsolete;
        self
    }

    /// When this and another hold.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let expires = match (self.expires, other.expires) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Self {
            effective: self.effective.max(other.effective),
            expires,
            obsolete: self.obsolete || other.obsolete,
        }
    }

    /// Whether the document holds on `day`.
    pub fn holds_on(&self, day: Date) -> bool {
        !self.obsolete
            && self.effective.is_none_or(|first| first <= day)
            && self.expires.is_none_or(|last| day <= last)
    }
}

/// A document to be stored, with all of its chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentRecord {
    /// Its identity; a stored document of the same id is replaced.
    pub id: DocumentId,
    /// The hash by which an unchanged document is known (D15).
    pub content: ContentHash,
    /// A title of one line, masked.
    pub title: String,
    /// Where it came from, as shown to people; masked.
    pub source: String,
    /// Its type, for filters.
    pub doc_type: String,
    /// Who may see it.
    pub tags: AccessTags,
    /// The tags were set by the operator, not by the document: an ingestor keeps them when the
    /// document comes again without tags. False by default.
    pub pinned_tags: bool,
    /// Free metadata, masked.
    pub metadata: BTreeMap<String, String>,
    /// When it holds.
    pub validity: Validity,
    /// The folders that its file lies in, sorted; empty for a text that is no file. For maintenance.
    pub folders: Vec<FolderHash>,
    /// Its canonical text.
    pub text: CanonicalText,
    /// Its chunks; their places in this list are their ordinals.
    pub chunks: Vec<ChunkRecord>,
}

impl DocumentRecord {
    /// A document of type `document` without title, tags, metadata or chunks.
    pub fn new(id: DocumentId, content: ContentHash, text: CanonicalText) -> Self {
        Self {
            id,
            content,
            title: String::new(),
            source: String::new(),
            doc_type: "document".into(),
            tags: AccessTags::none(),
            pinned_tags: false,
            metadata: BTreeMap::new(),
            validity: Validity::always(),
            folders: Vec::new(),
            text,
            chunks: Vec::new(),
        }
    }

    /// What is shown and searched of a chunk: its own text, else its bytes of the canonical text;
    /// empty when these do not lie in it.
    pub fn chunk_text<'a>(&'a self, chunk: &'a ChunkRecord) -> &'a str {
        match &chunk.text {
            Some(text) => text,
            None => self.text.as_str().get(chunk.range.clone()).unwrap_or_default(),
        }
    }

    /// The hash of what is embedded of a chunk, by which its vector is known.
    pub fn embedded_text(&self, chunk: &ChunkRecord, key: &IdKey) -> EmbeddedTextHash {
        key.embedded_text(&self.title, &chunk.headings, self.chunk_text(chunk))
    }
}

/// A chunk to be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkRecord {
    /// Its bytes in the document's canonical text.
    pub range: Range<usize>,
    /// What is shown and searched in place of those bytes; absent when they are shown themselves.
    pub text: Option<String>,
    /// The headings above it, outermost first. Searched as the heading field, with the title.
    pub headings: Vec<String>,
    /// Further words to be found by, never shown.
    pub extra: String,
    /// Its page or slide, from 1.
    pub page: Option<u32>,
    /// Why it is held back from readers; absent for an ordinary chunk.
    pub quarantine: Option<String>,
    /// What the index's embedder makes of it; absent when it is found by words alone.
    pub vector: Option<Vector>,
}

impl ChunkRecord {
    /// An ordinary chunk: these bytes of the canonical text.
    pub fn new(range: Range<usize>) -> Self {
        Self { range, ..Self::default() }
    }
}

/// A chunk as a reader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredChunk {
    /// Its identity.
    pub id: ChunkId,
    /// Its text.
    pub text: String,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    /// Its bytes in the document's canonical text.
    pub range: Range<usize>,
    /// Its page or slide, from 1.
    pub page: Option<u32>,
    /// The document's title.
    pub title: String,
    /// Where the document came from.
    pub source: String,
    /// The document's type.
    pub doc_type: String,
    /// Who may see it.
    pub tags: AccessTags,
    /// The document's metadata.
    pub metadata: BTreeMap<String, String>,
    /// When the document holds.
    pub validity: Validity,
}

impl StoredChunk {
    /// A chunk of a custom store.
    pub fn new(id: ChunkId, text: impl Into<String>, tags: AccessTags) -> Self {
        Self {
            id,
            text: text.into(),
            headings: Vec::new(),
            range: 0..0,
            page: None,
            title: String::new(),
            source: String::new(),
            doc_type: "document".into(),
            tags,
            metadata: BTreeMap::new(),
            validity: Validity::always(),
        }
    }
}

/// A document as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct DocumentListing {
    /// Its identity.
    pub id: DocumentId,
    /// Its title.
    pub title: String,
    /// Where it came from.
    pub source: String,
    /// Its type.
    pub doc_type: String,
    /// Who may see it.
    pub tags: AccessTags,
    /// How many chunks it has, held-back ones included.
    pub chunks: u64,
    /// How many of them are held back.
    pub quarantined: u64,
}

/// What an ingestor asks of a stored document before it reads the next version of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredDocument {
    /// The hash by which an unchanged document is known (D15).
    pub content: ContentHash,
    /// Who may see it.
    pub tags: AccessTags,
    /// Whether the tags were set by the operator, as [`DocumentRecord::pinned_tags`].
    pub pinned_tags: bool,
    /// How many chunks it has, held-back ones included.
    pub chunks: u64,
    /// How many of them are held back.
    pub quarantined: u64,
}

/// A held-back chunk as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct QuarantinedChunk {
    /// Its identity.
    pub id: ChunkId,
    /// Where its document came from.
    pub source: String,
    /// Why it is held back.
    pub reason: String,
    /// Its (masked) text.
    pub text: String,
}

/// A chunk without a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkToEmbed {
    /// Its identity.
    pub id: ChunkId,
    /// Its document's title.
    pub title: String,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    /// Its (masked) text.
    pub text: String,
    /// The hash of all three, which comes back with the vector.
    pub hash: EmbeddedTextHash,
}
