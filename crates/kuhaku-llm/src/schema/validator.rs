//! The check of a reply against the caller's schema.

use jsonschema::Validator as Compiled;
use kuhaku_core::{Error, ErrorKind, Result, one_line};
use serde_json::Value;

use crate::fault::Fault;

/// How many ways in which a reply fails are named.
const MOST_NAMED: usize = 3;

/// A schema ready to check replies. No reference is ever resolved over the network or from a file.
pub(crate) struct Validator(Compiled);

impl Validator {
    /// Prepares a schema.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when it is none.
    pub(crate) fn new(schema: &Value) -> Result<Self> {
        jsonschema::validator_for(schema).map(Self).map_err(|_| {
            Error::new(ErrorKind::InvalidInput, "ask for JSON", "the schema is not a JSON Schema")
                .next("check the schema, and that its references stay inside it")
        })
    }

    /// # Errors
    /// A fault that names where the value breaks which rule, and quotes nothing of it.
    pub(crate) fn check(&self, value: &Value) -> Result<(), Fault> {
        let broken: Vec<String> = self
            .0
            .iter_errors(value)
            .take(MOST_NAMED)
            .map(|error| one_line(&error.schema_path().to_string(), 80))
            .collect();
        if broken.is_empty() {
            return Ok(());
        }
        let wrong = format!("the reply breaks the schema at {}", broken.join(", "));
        Err(Fault::malformed(wrong).next("ask again, or simplify the schema"))
    }
}
