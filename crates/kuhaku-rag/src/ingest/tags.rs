//! Who may see a document: what the caller says, what it states itself, what held before.

use kuhaku_core::AccessTags;
use kuhaku_index::StoredDocument;

/// What a caller says about the access tags of a document.
///
/// Ingesting a document again never widens who may see it by accident: tags that a caller set stay
/// until a caller sets others or resets them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TagRule {
    /// Tags that a caller set earlier stay; otherwise the document's front matter counts, and
    /// everybody sees a document that states none.
    #[default]
    Keep,
    /// These tags count, whatever the document states, now and when it comes again.
    Set(AccessTags),
    /// The document's front matter counts, whatever a caller set earlier.
    Reset,
}

impl TagRule {
    /// [`TagRule::Set`]; without tags [`TagRule::Keep`], for an empty list is no restriction.
    pub fn set(tags: AccessTags) -> Self {
        if tags.is_empty() { Self::Keep } else { Self::Set(tags) }
    }

    /// The tags that are set from outside the document, by this rule or by an earlier one.
    pub(super) fn pinned(&self, stored: Option<&StoredDocument>) -> Option<AccessTags> {
        match self {
            Self::Set(tags) => Some(tags.clone()),
            Self::Reset => None,
            Self::Keep => stored.filter(|it| it.pinned_tags).map(|it| it.tags.clone()),
        }
    }
}
