//! Who asks and what they may see: roles, access tags and the scope made of them (R4, R5, D35).

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, ErrorKind, Result};

/// A suggested tag for material that anybody may read. A plain string without special meaning: a
/// chunk that everybody shall see needs no tag at all.
pub const ACCESS_TAG_PUBLIC: &str = "public";
/// A suggested tag for material of the organisation. A plain string without special meaning.
pub const ACCESS_TAG_INTERNAL: &str = "internal";
/// A suggested tag for material of a few. A plain string without special meaning.
pub const ACCESS_TAG_RESTRICTED: &str = "restricted";

/// Trims and NFC-normalises, so that the same word typed on two keyboards is one role.
fn canonical(raw: &str) -> String {
    raw.trim().nfc().collect()
}

/// The roles of a caller: trimmed, NFC-normalised, without duplicates, compared exactly.
///
/// Made from an iterator of names, never from one string, so that `"hr"` cannot become `h` and `r`.
/// Blank names are left out: no tag can be blank, so they could match nothing.
///
/// ```
/// use kuhaku_core::Roles;
/// let roles = Roles::new([" hr ", "hr", "legal"]);
/// assert_eq!(roles.iter().collect::<Vec<_>>(), ["hr", "legal"]);
/// ```
///
/// ```compile_fail
/// let roles = kuhaku_core::Roles::new("hr"); // ING-08: a bare string is not a list of roles
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Roles(BTreeSet<String>);

impl Roles {
    /// Roles from any number of names.
    pub fn new<I>(names: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let names = names.into_iter().map(|name| canonical(name.as_ref()));
        Self(names.filter(|name| !name.is_empty()).collect())
    }

    /// No roles at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// The names in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<S: AsRef<str>> FromIterator<S> for Roles {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self::new(names)
    }
}

/// The access tags of a document: trimmed, NFC-normalised, sorted, without duplicates.
///
/// Empty means visible to everybody. Two documents with equal tags share a visibility class.
///
/// ```
/// use kuhaku_core::AccessTags;
/// let tags = AccessTags::new([" hr ", "legal", "hr"])?;
/// assert_eq!(tags.iter().collect::<Vec<_>>(), ["hr", "legal"]);
/// assert!(AccessTags::new(["  "]).is_err());
/// # Ok::<(), kuhaku_core::Error>(())
/// ```
///
/// ```compile_fail
/// let tags = kuhaku_core::AccessTags::new("hr"); // ING-08: a bare string is not a list of tags
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct AccessTags(BTreeSet<String>);

impl AccessTags {
    /// Tags from any number of names.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when a name is blank: dropping it would widen who may see.
    pub fn new<I>(names: I) -> Result<Self>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut tags = BTreeSet::new();
        for name in names {
            let tag = canonical(name.as_ref());
            if tag.is_empty() {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "use an access tag",
                    "a tag is blank",
                )
                .next("give each tag a name, or no tag at all for what everybody may see"));
            }
            tags.insert(tag);
        }
        Ok(Self(tags))
    }

    /// No tags: visible to everybody.
    pub fn none() -> Self {
        Self::default()
    }

    /// The tags in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// True when there are none, so that everybody sees the document.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl TryFrom<Vec<String>> for AccessTags {
    type Error = Error;

    fn try_from(names: Vec<String>) -> Result<Self> {
        Self::new(names)
    }
}

impl From<AccessTags> for Vec<String> {
    fn from(tags: AccessTags) -> Self {
        tags.0.into_iter().collect()
    }
}

/// Who asks, as the application has established it. kuhaku authenticates nobody.
///
/// Only the roles decide what is visible (D35); identity is for the audit record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthContext {
    /// A name for the audit record; empty for anonymous callers. Never a secret.
    pub identity: String,
    /// The caller's roles.
    pub roles: Roles,
}

impl AuthContext {
    /// A caller of whom nothing is known.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// A caller whom the application has authenticated.
    pub fn new(identity: impl Into<String>, roles: Roles) -> Self {
        Self { identity: identity.into(), roles }
    }

    /// What this caller may see.
    pub fn scope(&self) -> Scope {
        Scope::of(self)
    }
}

/// What a caller may see. Every read handle is made with one, and there is no default (R5).
///
/// ```compile_fail
/// let scope: kuhaku_core::Scope = Default::default(); // R5: a scope is always a decision
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Scope(Roles);

impl Scope {
    /// The scope of an authenticated caller.
    pub fn of(caller: &AuthContext) -> Self {
        Self(caller.roles.clone())
    }

    /// The scope of somebody who holds these roles.
    pub fn with_roles(roles: Roles) -> Self {
        Self(roles)
    }

    /// The scope that sees untagged chunks only.
    pub fn anonymous() -> Self {
        Self(Roles::none())
    }

    /// Whether a chunk with these tags is visible: it has none, or shares one with the roles.
    pub fn sees(&self, tags: &AccessTags) -> bool {
        tags.is_empty() || !tags.0.is_disjoint(&self.0.0)
    }

    /// The roles that make up the scope.
    pub fn roles(&self) -> &Roles {
        &self.0
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_sees_untagged_chunks_and_those_that_share_a_role() {
        let scope = Scope::with_roles(Roles::new(["engineering"]));
        assert!(scope.sees(&AccessTags::none()));
        assert!(scope.sees(&AccessTags::new(["engineering", "hr"]).unwrap()));
        assert!(!scope.sees(&AccessTags::new(["hr"]).unwrap()));
        assert!(!Scope::anonymous().sees(&AccessTags::new(["hr"]).unwrap()));
    }

    #[test]
    fn roles_and_tags_compare_exactly_after_trimming_and_composition() {
        let composed = AccessTags::new(["caf\u{e9}"]).unwrap();
        assert!(Scope::with_roles(Roles::new([" cafe\u{301} "])).sees(&composed));
        assert!(!Scope::with_roles(Roles::new(["CAF\u{c9}"])).sees(&composed));
    }

    /// ING-08
    #[test]
    fn tags_are_trimmed_and_deduplicated_and_a_blank_one_is_an_error() {
        assert!(AccessTags::new([""; 0]).unwrap().is_empty());
        let tags = AccessTags::new(["hr", "hr", " legal "]).unwrap();
        assert_eq!(tags.iter().collect::<Vec<_>>(), ["hr", "legal"]);
        for blank in ["", "  ", "\t\n"] {
            assert_eq!(AccessTags::new([blank]).unwrap_err().code(), "core.invalid_input");
        }
    }
}
