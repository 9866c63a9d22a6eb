//! Schemas of functions, as tool descriptions give them.

use serde_json::{Map, Value, json};

use super::Schema;
use super::compile::{bounded, json_name, refused};
use crate::Result;

impl Schema {
    /// The schema of a function's arguments: `{"name", "description", "parameters"}`, the latter a
    /// JSON Schema. Types may have the names that they have in Python or Java (`dict`, `float`,
    /// `tuple`); `any` is no limit.
    ///
    /// ```
    /// use kuhaku_extract::Schema;
    /// use serde_json::json;
    ///
    /// # fn main() -> kuhaku_extract::Result<()> {
    /// let schema = Schema::from_function(&json!({
    ///     "name": "area",
    ///     "parameters": {"type": "dict", "properties": {"base": {"type": "float"}}},
    /// }))?;
    /// assert_eq!(schema.name(), "area");
    /// assert!(!schema.is_valid(&json!({"base": "wide"})));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::Schema`], saying what is wrong and where.
    pub fn from_function(function: &Value) -> Result<Self> {
        bounded(function)?;
        let text = |name| function.get(name).and_then(Value::as_str);
        let name = text("name").ok_or_else(|| refused("`/name`: a function has a name"))?;
        let parameters = function
            .get("parameters")
            .filter(|parameters| parameters.is_object())
            .ok_or_else(|| refused("`/parameters`: must be the schema of the arguments"))?;
        let schema = Self::from_json(&named_as_in_json(parameters))?.named(name)?;
        match text("description").filter(|text| !text.trim().is_empty()) {
            Some(description) => schema.described(description),
            None => Ok(schema),
        }
    }
}

/// A schema with the type names of other languages replaced.
fn named_as_in_json(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut renamed = Map::new();
    for (keyword, value) in keywords {
        let value = match (keyword.as_str(), value) {
            ("type", Value::String(name)) if name.eq_ignore_ascii_case("any") => continue,
            ("type", Value::String(name)) => {
                json_name(name).map_or(json!(name), |name| json!(name))
            }
            ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(all)) => {
                let each = all.iter().map(|(name, part)| (name.clone(), named_as_in_json(part)));
                Value::Object(each.collect())
            }
            ("items" | "additionalProperties" | "not", part) => named_as_in_json(part),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => {
                Value::Array(all.iter().map(named_as_in_json).collect())
            }
            (_, value) => value.clone(),
        };
        renamed.insert(keyword.clone(), value);
    }
    Value::Object(renamed)
}
