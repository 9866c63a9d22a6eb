//! A document that a program hands in as text.

use std::collections::BTreeMap;

use kuhaku_core::{AccessTags, DocumentId};
use kuhaku_ingest::Format;

use crate::ingest::tags::TagRule;

/// A document as text, with what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextDocument {
    /// Its name: shown to people, decides the format by its suffix (plain text without a known
    /// one), and its identity unless there is a key.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its identity, used as given: no personal data in keys (D17).
    pub key: Option<DocumentId>,
    /// Its format, whatever the name says.
    pub format: Option<Format>,
    /// Who may see it.
    pub tags: TagRule,
    /// Its metadata; wins over that of its front matter.
    pub metadata: BTreeMap<String, String>,
}

impl TextDocument {
    /// A document that everybody may see, unless its front matter or an earlier ingest says else.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            key: None,
            format: None,
            tags: TagRule::Keep,
            metadata: BTreeMap::new(),
        }
    }

    /// Restricts who may see it: [`TagRule::set`].
    #[must_use]
    pub fn tags(mut self, tags: AccessTags) -> Self {
        self.tags = TagRule::set(tags);
        self
    }

    /// Forgets the tags that an earlier ingest set: [`TagRule::Reset`].
    #[must_use]
    pub fn reset_tags(mut self) -> Self {
        self.tags = TagRule::Reset;
        self
    }

    /// Sets its identity.
    #[must_use]
    pub fn key(mut self, key: DocumentId) -> Self {
        self.key = Some(key);
        self
    }

    /// Sets its format.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Adds a metadata value.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }
}
