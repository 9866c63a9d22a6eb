//! OpenAI's strict subset of JSON Schema.
//!
//! There every object lists all its properties as required and allows no others, and few keywords
//! exist. What can be said in a description is moved there; what cannot be said at all makes the
//! schema one for the prompt. The reply is checked against the whole schema either way.

use serde_json::{Map, Value, json};

/// Deeper schemas are for the prompt.
pub(super) const DEEPEST: usize = 64;

/// Keywords that the subset has, beside those that need work.
const KEPT: [&str; 14] = [
    "$ref",
    "const",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "title",
    "type",
];

/// Keywords that say nothing about a reply.
const SILENT: [&str; 9] = [
    "$anchor",
    "$comment",
    "$id",
    "$schema",
    "default",
    "deprecated",
    "examples",
    "readOnly",
    "writeOnly",
];

/// Keywords whose meaning a description cannot carry: values would be cut off or invented.
const BEYOND: [&str; 12] = [
    "$dynamicRef",
    "$recursiveRef",
    "allOf",
    "contains",
    "dependentSchemas",
    "else",
    "if",
    "not",
    "patternProperties",
    "prefixItems",
    "then",
    "unevaluatedProperties",
];

/// Formats that the subset has.
const FORMATS: [&str; 9] =
    ["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"];

/// A schema in the subset.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Strict {
    /// The schema to send.
    pub(crate) schema: Value,
    /// The keywords that were moved into descriptions or left out, sorted.
    pub(crate) dropped: Vec<String>,
}

/// Lowers a schema; `None` when the subset cannot express it.
pub(crate) fn strict(schema: &Value) -> Option<Strict> {
    let root = schema.as_object()?;
    // The root must be an object, and a plain one.
    if root.get("type")? != "object" || root.contains_key("anyOf") || root.contains_key("oneOf") {
        return None;
    }
    let mut dropped = Vec::new();
    let schema = lower(schema, &mut dropped, DEEPEST)?;
    dropped.sort_unstable();
    dropped.dedup();
    Some(Strict { schema, dropped })
}

fn lower(schema: &Value, dropped: &mut Vec<String>, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let from = schema.as_object()?;
    let mut to = Map::new();
    let mut said = Vec::new();
    for (name, value) in from {
        match name.as_str() {
            "properties" | "required" | "additionalProperties" => {}
            "items" => {
                to.insert(name.clone(), lower(value, dropped, depth)?);
            }
            "anyOf" | "oneOf" => {
                let schemas = value.as_array()?.iter();
                let lowered: Option<Vec<_>> =
                    schemas.map(|schema| lower(schema, dropped, depth)).collect();
                if to.insert("anyOf".into(), lowered?.into()).is_some() {
                    return None;
                }
                if name == "oneOf" {
                    dropped.push(name.clone());
                }
            }
            "$defs" | "definitions" => {
                let schemas = value.as_object()?.iter();
                let lowered: Option<Map<_, _>> = schemas
                    .map(|(name, schema)| Some((name.clone(), lower(schema, dropped, depth)?)))
                    .collect();
                to.insert(name.clone(), lowered?.into());
            }
            "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => {
                to.insert(name.clone(), value.clone());
            }
            kept if KEPT.contains(&kept) => {
                to.insert(name.clone(), value.clone());
            }
            silent if SILENT.contains(&silent) => dropped.push(name.clone()),
            beyond if BEYOND.contains(&beyond) => return None,
            _ => {
                dropped.push(name.clone());
                said.push(format!("{name} {value}"));
            }
        }
    }
    if is_object(from) {
        close(from, &mut to, dropped, depth)?;
    }
    if !said.is_empty() {
        let described = to.get("description").and_then(Value::as_str).unwrap_or_default();
        let rules = format!("{described} (must satisfy: {})", said.join("; "));
        to.insert("description".into(), rules.trim_start().into());
    }
    Some(to.into())
}

fn is_object(schema: &Map<String, Value>) -> bool {
    let object = match schema.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        _ => false,
    };
    object || schema.contains_key("properties")
}

/// Makes every property required, those that were optional nullable, and allows no others.
fn close(
    from: &Map<String, Value>,
    to: &mut Map<String, Value>,
    dropped: &mut Vec<String>,
    depth: usize,
) -> Option<()> {
    if matches!(from.get("additionalProperties"), Some(Value::Object(_))) {
        return None;
    }
    let empty = Map::new();
    let properties = from.get("properties").map_or(Some(&empty), Value::as_object)?;
    // An object that allows anything would come back empty.
    if properties.is_empty() && from.get("additionalProperties") != Some(&Value::Bool(false)) {
        return None;
    }
    let mut lowered = Map::new();
    for (name, schema) in properties {
        let schema_lowered = lower(schema, dropped, depth)?;
        let optional = !is_required(from, name) && !allows_null(schema);
        lowered.insert(
            name.clone(),
            if optional {
                json!({"anyOf": [schema_lowered, {"type": "null"}]})
            } else {
                schema_lowered
            },
        );
    }
    to.insert("required".into(), lowered.keys().cloned().collect::<Vec<_>>().into());
    to.insert("properties".into(), lowered.into());
    to.insert("additionalProperties".into(), false.into());
    Some(())
}

pub(super) fn is_required(schema: &Map<String, Value>, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

/// Whether the schema itself says that null is a value. References are not followed: at worst a
/// null that was allowed is left out.
pub(super) fn allows_null(schema: &Value) -> bool {
    let null = |value: &Value| value == "null" || value.is_null();
    let listed = |name: &str, is: &dyn Fn(&Value) -> bool| match schema.get(name) {
        Some(Value::Array(values)) => values.iter().any(is),
        Some(value) => is(value),
        None => false,
    };
    listed("type", &null)
        || listed("enum", &Value::is_null)
        || ["anyOf", "oneOf"]
            .iter()
            .any(|name| schema.get(*name).is_some() && listed(name, &allows_null))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LLM-14: the part about lowering.
    #[test]
    fn every_object_is_closed_and_every_property_required() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Who", "minLength": 2},
                "days": {"type": "integer", "minimum": 0},
                "mail": {"type": "string", "format": "email"},
                "link": {"type": "string", "format": "uri"},
                "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "uniqueItems": true},
            },
            "required": ["name", "tags"],
            "$defs": {"tag": {"type": "object", "properties": {"t": {"type": ["string", "null"]}}}},
        });
        let lowered = strict(&schema).unwrap();
        let nullable = |schema: Value| json!({"anyOf": [schema, {"type": "null"}]});
        assert_eq!(
            lowered.schema,
            json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "Who (must satisfy: minLength 2)"},
                    "days": nullable(json!({"type": "integer", "minimum": 0})),
                    "mail": nullable(json!({"type": "string", "format": "email"})),
                    "link": nullable(json!({
                        "type": "string", "description": "(must satisfy: format \"uri\")",
                    })),
                    "tags": {
                        "type": "array",
                        "items": {"$ref": "#/$defs/tag"},
                        "description": "(must satisfy: uniqueItems true)",
                    },
                },
                "required": ["days", "link", "mail", "name", "tags"],
                "additionalProperties": false,
                "$defs": {"tag": {
                    "type": "object",
                    "properties": {"t": {"type": ["string", "null"]}},
                    "required": ["t"],
                    "additionalProperties": false,
                }},
            })
        );
        assert_eq!(lowered.dropped, ["$schema", "format", "minLength", "uniqueItems"]);
    }

    #[test]
    fn what_the_subset_cannot_say_is_for_the_prompt() {
        let within = |schema: Value| json!({"type": "object", "properties": {"a": schema}, "required": ["a"]});
        let mut endless = json!({"type": "string"});
        for _ in 0..100 {
            endless = json!({"type": "array", "items": endless});
        }
        for schema in [
            json!(true),
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"anyOf": [{"type": "object"}]}),
            json!({"type": "object"}),
            within(json!(true)),
            within(json!({"type": "object", "additionalProperties": {"type": "string"}})),
            within(json!({"allOf": [{"type": "string"}]})),
            within(json!({"not": {"type": "string"}})),
            within(json!({"type": "array", "prefixItems": [{"type": "string"}]})),
            within(endless),
        ] {
            assert_eq!(strict(&schema), None, "{schema}");
        }
    }
}
