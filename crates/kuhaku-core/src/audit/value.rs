//! The fields that a tool adds to its records.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Serialize;

use super::code::{AuditCode, AuditId};
use crate::masking::Redactions;

/// How many ids a list in a record may have; more are left out.
pub(super) const MAX_IDS: usize = 256;

/// A field of a tool: its name and the type of its values.
///
/// A tool declares its fields as constants; core knows none of them (R1). The type is one that
/// converts into an [`AuditValue`], and there is no conversion from text.
///
/// ```
/// use kuhaku_core::{AuditField, AuditId};
/// const HITS: AuditField<u64> = AuditField::new("hits");
/// const CHUNKS: AuditField<Vec<AuditId>> = AuditField::new("chunks");
/// # assert_eq!((HITS.name(), CHUNKS.name()), ("hits", "chunks"));
/// ```
///
/// ```compile_fail
/// use kuhaku_core::AuditField;
/// const QUESTION: AuditField<String> = AuditField::new("question"); // R7: no raw text
/// ```
#[derive(Debug)]
pub struct AuditField<T> {
    name: &'static str,
    values: PhantomData<fn(T)>,
}

// Derived ones would ask the same of the values.
impl<T> Copy for AuditField<T> {}

impl<T> Clone for AuditField<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Into<AuditValue>> AuditField<T> {
    /// A field; by custom the name is `snake_case`.
    pub const fn new(name: &'static str) -> Self {
        Self { name, values: PhantomData }
    }

    /// The name, as it stands in the records.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

/// The value of a field: a code, counts, a number, or ids. Never text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum AuditValue {
    /// Yes or no.
    Flag(bool),
    /// How many.
    Count(u64),
    /// A score or a share; what is not finite is written as `null`.
    Number(f64),
    /// A code or an id.
    Id(AuditId),
    /// Up to 256 codes or ids; more are left out.
    Ids(Vec<AuditId>),
    /// How many of each, by code.
    Counts(BTreeMap<AuditCode, u64>),
}

impl From<bool> for AuditValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for AuditValue {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<usize> for AuditValue {
    fn from(count: usize) -> Self {
        Self::Count(u64::try_from(count).unwrap_or(u64::MAX))
    }
}

impl From<f64> for AuditValue {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<AuditCode> for AuditValue {
    fn from(code: AuditCode) -> Self {
        Self::Id(code.into())
    }
}

impl From<AuditId> for AuditValue {
    fn from(id: AuditId) -> Self {
        Self::Id(id)
    }
}

impl From<Redactions> for AuditValue {
    fn from(redactions: Redactions) -> Self {
        let count = |(placeholder, count): (&'static str, usize)| {
            (placeholder.into(), u64::try_from(count).unwrap_or(u64::MAX))
        };
        Self::Counts(redactions.iter().map(count).collect())
    }
}

impl From<Vec<AuditId>> for AuditValue {
    fn from(mut ids: Vec<AuditId>) -> Self {
        ids.truncate(MAX_IDS);
        Self::Ids(ids)
    }
}
