//! What a check of a value against a schema found.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Kind;

/// A value as far as it fits its schema.
///
/// Paths are JSON Pointers (RFC 6901) into [`Self::value`]. A path repeats keys of the value, and
/// nothing else here quotes what it holds (R7).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Checked {
    /// The value with coercions and defaults. A null that stood for an optional value which cannot
    /// be null is gone; one that stood for a required value stays.
    pub value: Value,
    /// What was read as something else than was written.
    pub coercions: Vec<Coerced>,
    /// Paths of the values that the schema gave.
    pub defaults: Vec<String>,
    /// What the schema requires and the value lacks, each path once.
    pub missing: Vec<Missing>,
    /// What is there and wrong.
    pub problems: Vec<Problem>,
}

impl Checked {
    /// Whether nothing is missing and nothing wrong: then the schema accepts [`Self::value`].
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.problems.is_empty()
    }
}

/// A value that was read leniently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Coerced {
    /// Where.
    pub path: String,
    /// What was written.
    pub from: Kind,
    /// What it was read as.
    pub to: Kind,
}

/// A required value that is absent, or null where null is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Missing {
    /// Where it belongs.
    pub path: String,
    /// The last name on the path; for an item of a list, the list's.
    pub name: String,
    /// What the schema says about it.
    pub description: Option<String>,
}

impl Missing {
    /// What to ask for: the description, else the name.
    pub fn label(&self) -> &str {
        self.description.as_deref().unwrap_or(&self.name)
    }
}

/// A value that breaks the schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// Where.
    pub path: String,
    /// `schema_error`.
    pub code: &'static str,
    /// What the schema asks for; quotes nothing of the value.
    pub message: String,
}

impl Problem {
    /// The code of every problem that a schema finds.
    pub const SCHEMA_ERROR: &'static str = "schema_error";

    pub(crate) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), code: Self::SCHEMA_ERROR, message: message.into() }
    }
}
