//! Words that a record may hold: codes of the program, and ids.

use std::fmt;

use serde::Serialize;

use super::Result;
use super::error::{AuditError, AuditErrorKind};
use crate::ids::{ChunkId, DocumentId};

/// A word from a fixed vocabulary: an event, an outcome, an error code.
///
/// Made of constants of the program only, so that no content can become one (R7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct AuditCode(&'static str);

impl AuditCode {
    /// The request ended as it should.
    pub const OK: Self = Self("ok");
    /// The request ended in an error; the record has its code.
    pub const ERROR: Self = Self("error");
    /// The request was given up before it ended. Written by a guard that is dropped.
    pub const CANCELLED: Self = Self("cancelled");
    /// The request ended in a panic. Written by a guard that is dropped while unwinding.
    pub const PANIC: Self = Self("panic");

    /// A code; by custom `snake_case`, with dots between levels.
    pub const fn new(code: &'static str) -> Self {
        Self(code)
    }

    /// The code as text.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl From<&'static str> for AuditCode {
    fn from(code: &'static str) -> Self {
        Self(code)
    }
}

impl fmt::Display for AuditCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// An id in a record: of a document or chunk, a code, or the plain name of a model or version.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct AuditId(String);

impl AuditId {
    /// A plain name: 1 to 128 ASCII letters, digits, `-`, `_`, `.`, `:`, `/` or `+`.
    ///
    /// # Errors
    /// [`AuditErrorKind::InvalidInput`] for anything else: free text has no place in a record.
    pub fn new(name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/+".contains(c);
        if (1..=128).contains(&name.len()) && name.chars().all(plain) {
            return Ok(Self(name));
        }
        Err(AuditError::new(
            AuditErrorKind::InvalidInput,
            "put the name into an audit record",
            "it is not 1 to 128 letters, digits, `-`, `_`, `.`, `:`, `/` or `+`",
        )
        .next("record a shorter, plainer name, or a count"))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&DocumentId> for AuditId {
    fn from(id: &DocumentId) -> Self {
        Self(id.as_str().to_owned())
    }
}

impl From<&ChunkId> for AuditId {
    fn from(id: &ChunkId) -> Self {
        Self(id.to_string())
    }
}

impl From<AuditCode> for AuditId {
    fn from(code: AuditCode) -> Self {
        Self(code.as_str().to_owned())
    }
}
