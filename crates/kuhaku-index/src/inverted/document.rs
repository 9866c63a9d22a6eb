//! What is kept in memory of each document.

use std::collections::BTreeMap;
use std::sync::Arc;

use kuhaku_core::DocumentId;

use crate::document::{DocumentRecord, Validity};
use crate::identity::ContentHash;
use crate::query::Filter;

/// Where a document's text is.
#[derive(Debug)]
pub(crate) enum Body {
    /// Here.
    Held(Arc<DocumentRecord>),
    /// In the stored row of this number.
    #[cfg(feature = "sqlite")]
    Row(i64),
}

/// A document without its text: what filters and the test for unchanged documents read.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) id: DocumentId,
    pub(crate) content: ContentHash,
    pub(crate) pinned_tags: bool,
    /// How many chunks it has, held-back ones included.
    pub(crate) chunks: u64,
    pub(crate) doc_type: String,
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) validity: Validity,
    pub(crate) body: Body,
}

impl Document {
    /// Whether a filter lets the document through.
    pub(crate) fn passes(&self, filter: &Filter) -> bool {
        filter.valid_on.is_none_or(|day| self.validity.holds_on(day))
            && (filter.doc_types.is_empty() || filter.doc_types.contains(&self.doc_type))
            && filter.metadata.iter().all(|(key, values)| {
                self.metadata.get(key).is_some_and(|value| values.contains(value))
            })
    }
}
