//! From a document to a validator, or to the reason why there is none.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ReferencingError, Registry, ValidationError, Validator};
use kuhaku_core::one_line;
use serde_json::Value;

use crate::{Error, ErrorKind, Result};

/// Schemas beyond these limits are attacks or mistakes.
const DEEPEST: usize = 100;
const MOST_PARTS: usize = 200_000;
/// Steps back of a pattern with look-around; other patterns take linear time.
const MOST_BACKTRACKS: usize = 20_000;
/// Bytes that a compiled pattern may take.
const LARGEST_PATTERN: usize = 2 << 20;
const LONGEST_REASON: usize = 300;

/// A version of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Draft {
    /// Draft 4.
    Draft4,
    /// Draft 6.
    Draft6,
    /// Draft 7.
    Draft7,
    /// Draft 2019-09.
    Draft201909,
    /// Draft 2020-12.
    Draft202012,
}

/// How a JSON Schema is read.
///
/// ```
/// use kuhaku_extract::{Draft, SchemaOptions};
/// use serde_json::json;
///
/// # fn main() -> kuhaku_extract::Result<()> {
/// let schema = SchemaOptions::new()
///     .draft(Draft::Draft7)
///     .document("https://shop.example/line.json", json!({"properties": {"n": {"type": "integer"}}}))
///     .read(&json!({"properties": {"line": {"$ref": "https://shop.example/line.json"}}}))?;
/// assert!(!schema.is_valid(&json!({"line": {"n": "many"}})));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SchemaOptions {
    draft: Option<Draft>,
    documents: Vec<(String, Value)>,
    formats: bool,
}

impl SchemaOptions {
    /// The draft that `$schema` names, else 2020-12; no other documents; formats are checked.
    pub fn new() -> Self {
        Self { draft: None, documents: Vec::new(), formats: true }
    }

    /// Sets the draft of schemas that name none.
    pub fn draft(mut self, draft: Draft) -> Self {
        self.draft = Some(draft);
        self
    }

    /// Adds a document that references may lead to. None is ever fetched.
    pub fn document(mut self, address: impl Into<String>, document: Value) -> Self {
        self.documents.push((address.into(), document));
        self
    }

    /// Whether `format` is a rule (the default), or a remark as the later drafts see it.
    pub fn formats(mut self, check: bool) -> Self {
        self.formats = check;
        self
    }

    /// The documents that references may lead to.
    pub(super) fn others(&self) -> Result<Vec<Value>> {
        let others = self.documents.iter().map(|(_, document)| document);
        others.map(|document| bounded(document).map(|()| document.clone())).collect()
    }

    /// The validator of a document.
    pub(super) fn compile(&self, document: &Value) -> Result<Validator> {
        let mut others = Registry::new();
        if let Some(draft) = self.draft {
            others = others.draft(draft.into());
        }
        for (address, document) in &self.documents {
            others = others.add(address, document).map_err(|error| unresolved(&error))?;
        }
        let others = others.prepare().map_err(|error| unresolved(&error))?;
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(MOST_BACKTRACKS)
            .size_limit(LARGEST_PATTERN)
            .dfa_size_limit(LARGEST_PATTERN);
        let mut options = jsonschema::options()
            .offline()
            .should_validate_formats(self.formats)
            .with_pattern_options(patterns)
            .with_registry(&others);
        let names_draft = document.get("$schema").is_some();
        if let Some(draft) = self.draft.filter(|_| !names_draft) {
            options = options.with_draft(draft.into());
        }
        options.build(document).map_err(|error| broken(&error))
    }
}

impl Default for SchemaOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Draft> for jsonschema::Draft {
    fn from(draft: Draft) -> Self {
        match draft {
            Draft::Draft4 => Self::Draft4,
            Draft::Draft6 => Self::Draft6,
            Draft::Draft7 => Self::Draft7,
            Draft::Draft201909 => Self::Draft201909,
            Draft::Draft202012 => Self::Draft202012,
        }
    }
}

/// Refuses documents that would cost too much before anything recursive sees them.
pub(super) fn bounded(document: &Value) -> Result<()> {
    let mut open = vec![(document, 1)];
    let mut parts = 0_usize;
    while let Some((part, depth)) = open.pop() {
        parts += 1;
        if depth > DEEPEST {
            return Err(refused(&format!("it is nested deeper than {DEEPEST} levels")));
        }
        if parts > MOST_PARTS {
            return Err(refused(&format!("it has more than {MOST_PARTS} parts")));
        }
        match part {
            Value::Object(entries) => open.extend(entries.values().map(|part| (part, depth + 1))),
            Value::Array(items) => open.extend(items.iter().map(|part| (part, depth + 1))),
            _ => {}
        }
    }
    Ok(())
}

/// The error of a schema that cannot be used.
pub(super) fn refused(reason: &str) -> Error {
    Error::new(ErrorKind::Schema, "read the schema", one_line(reason, LONGEST_REASON))
        .next("correct the schema")
}

/// The error of references that lead nowhere.
fn unresolved(error: &ReferencingError) -> Error {
    let reason = refused(&referencing(error));
    match error {
        ReferencingError::Unretrievable { .. } => {
            reason.next("give that document along, with SchemaOptions::document")
        }
        _ => reason,
    }
}

fn broken(error: &ValidationError<'_>) -> Error {
    match error.kind() {
        ValidationErrorKind::Referencing(error) => unresolved(error),
        _ => refused(&reason(error)),
    }
}

fn reason(error: &ValidationError<'_>) -> String {
    let place = match error.instance_path().as_str() {
        "" => "the schema".to_owned(),
        path => format!("`{path}`"),
    };
    if let (true, Some(name)) = (place.ends_with("/type`"), error.instance().as_str()) {
        let advice = match json_name(name) {
            Some(right) => format!("write `{right}`"),
            None => "write `string`, `number`, `integer`, `boolean`, `object`, `array` or `null`"
                .to_owned(),
        };
        return format!("{place}: `{name}` is no type of JSON Schema; {advice}");
    }
    format!("{place}: {error}")
}

fn referencing(error: &ReferencingError) -> String {
    match error {
        ReferencingError::Unretrievable { uri, .. } => {
            format!("it refers to `{uri}`, which is outside of it and is not fetched")
        }
        ReferencingError::PointerToNowhere { pointer } => {
            format!("it refers to `#{pointer}`, which is not in it")
        }
        ReferencingError::NoSuchAnchor { anchor } | ReferencingError::InvalidAnchor { anchor } => {
            format!("it refers to the anchor `{anchor}`, which is not in it")
        }
        ReferencingError::UnknownSpecification { specification } => {
            format!("`$schema` names `{specification}`, which is no draft known here")
        }
        other => other.to_string(),
    }
}

/// JSON Schema's name for a type that another language names.
pub(super) fn json_name(name: &str) -> Option<&'static str> {
    match name.to_ascii_lowercase().as_str() {
        "str" | "text" | "char" | "string" => Some("string"),
        "int" | "long" | "byte" | "short" | "bigint" | "integer" => Some("integer"),
        "float" | "double" | "decimal" | "number" => Some("number"),
        "bool" | "boolean" => Some("boolean"),
        "dict" | "map" | "hashmap" | "hashtable" | "object" => Some("object"),
        "list" | "tuple" | "set" | "array" | "arraylist" => Some("array"),
        "none" | "null" | "nonetype" => Some("null"),
        _ => None,
    }
}
