//! JSON Schemas in the subset that a service understands.
//!
//! What a service does not know is left out: the reply is checked against the whole schema
//! afterwards, so a looser one costs a retry at worst.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The subset of a service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subset {
    /// Keywords that are sent. Those whose values are schemas are lowered too.
    pub(crate) keywords: &'static [&'static str],
    /// Whether every object must forbid properties that are not named.
    pub(crate) closed: bool,
    /// Whether a schema may refer to itself.
    pub(crate) recursive: bool,
}

/// Deeper schemas are not lowered: no service takes them.
const DEEPEST: usize = 64;

/// The schema in the subset; `None` when it would then say something else (an object with arbitrary
/// keys where objects must be closed, a recursive one where that is not allowed).
pub(crate) fn lower(schema: &Value, subset: Subset) -> Option<Value> {
    let lowered = lowered(schema, subset, DEEPEST)?;
    let recursive =
        || References { root: &lowered, open: Vec::new(), done: BTreeSet::new() }.recur(&lowered);
    if !subset.recursive && recursive() {
        return None;
    }
    Some(lowered)
}

fn lowered(schema: &Value, subset: Subset, left: usize) -> Option<Value> {
    let Value::Object(keywords) = schema else {
        // `true` allows anything; only a subset with open objects can say that.
        return (!subset.closed && schema == &Value::Bool(true)).then(|| json!({}));
    };
    let left = left.checked_sub(1)?;
    if subset.closed && is_open(keywords) {
        return None;
    }
    let mut out = Map::new();
    for (keyword, value) in keywords {
        let (keyword, value) = renamed(keyword, value, subset);
        if !subset.keywords.contains(&keyword) {
            continue;
        }
        let value = match keyword {
            "properties" | "$defs" | "definitions" => each_property(&value, subset, left)?,
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => each_item(&value, subset, left)?,
            "items" => lowered(&value, subset, left)?,
            "additionalProperties" if value.is_object() => lowered(&value, subset, left)?,
            _ => value,
        };
        out.insert(keyword.to_owned(), value);
    }
    if subset.closed && is_object(&out) {
        out.insert("additionalProperties".into(), false.into());
    }
    Some(Value::Object(out))
}

/// The nearest keyword that the subset has.
fn renamed<'a>(keyword: &'a str, value: &Value, subset: Subset) -> (&'a str, Value) {
    let has = |wanted: &str| subset.keywords.contains(&wanted);
    match keyword {
        "const" if !has("const") => ("enum", json!([value])),
        "oneOf" if !has("oneOf") => ("anyOf", value.clone()),
        _ => (keyword, value.clone()),
    }
}

fn each_property(value: &Value, subset: Subset, left: usize) -> Option<Value> {
    let pairs = value.as_object()?.iter();
    let lowered = pairs.map(|(name, schema)| Some((name.clone(), lowered(schema, subset, left)?)));
    lowered.collect::<Option<Map<_, _>>>().map(Value::Object)
}

fn each_item(value: &Value, subset: Subset, left: usize) -> Option<Value> {
    let items = value.as_array()?.iter();
    items.map(|schema| lowered(schema, subset, left)).collect::<Option<Vec<_>>>().map(Value::Array)
}

fn is_object(schema: &Map<String, Value>) -> bool {
    let named = match schema.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        _ => false,
    };
    named || schema.contains_key("properties")
}

/// Whether closing the object would forbid what it is for: keys that are not named.
fn is_open(schema: &Map<String, Value>) -> bool {
    let keys = match schema.get("additionalProperties") {
        Some(Value::Object(_)) => true,
        Some(Value::Bool(allowed)) => *allowed,
        _ => !schema.contains_key("properties"),
    };
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    is_object(schema) && !closed && (keys || schema.contains_key("patternProperties"))
}

/// A walk along references.
struct References<'a> {
    root: &'a Value,
    /// Those that the walk is within.
    open: Vec<&'a str>,
    /// Those that it has left.
    done: BTreeSet<&'a str>,
}

impl<'a> References<'a> {
    /// Whether a reference leads back to a schema that it stands in.
    fn recur(&mut self, schema: &'a Value) -> bool {
        match schema {
            Value::Object(keywords) => {
                let target = keywords.get("$ref").and_then(Value::as_str);
                if target.is_some_and(|target| self.follow(target)) {
                    return true;
                }
                let definitions = ["$defs", "definitions"];
                let parts =
                    keywords.iter().filter(|(name, _)| !definitions.contains(&name.as_str()));
                parts.map(|(_, part)| part).any(|part| self.recur(part))
            }
            Value::Array(parts) => parts.iter().any(|part| self.recur(part)),
            _ => false,
        }
    }

    fn follow(&mut self, target: &'a str) -> bool {
        if self.open.contains(&target) || self.open.len() >= DEEPEST {
            return true;
        }
        let place = target.strip_prefix('#').and_then(|place| self.root.pointer(place));
        let Some(place) = place.filter(|_| self.done.insert(target)) else { return target == "#" };
        self.open.push(target);
        let found = self.recur(place);
        self.open.pop();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSED: Subset = Subset {
        keywords: &["type", "properties", "required", "items", "anyOf", "$ref", "$defs"],
        closed: true,
        recursive: false,
    };
    const OPEN: Subset = Subset {
        keywords: &["type", "properties", "enum", "items", "additionalProperties"],
        closed: false,
        recursive: true,
    };

    #[test]
    fn keywords_outside_of_the_subset_go_and_properties_of_the_same_name_stay() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "minLength": {"type": "string", "minLength": 3},
                "days": {"type": "array", "items": {"type": "integer", "minimum": 1}},
                "one": {"oneOf": [{"type": "string"}, {"type": "null"}]},
            },
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "minLength": {"type": "string"},
                "days": {"type": "array", "items": {"type": "integer"}},
                "one": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            "additionalProperties": false,
        });
        assert_eq!(lower(&schema, CLOSED), Some(expected));
    }

    #[test]
    fn a_constant_becomes_a_choice_of_one() {
        let schema = json!({"type": "string", "const": "invoice"});
        assert_eq!(lower(&schema, OPEN), Some(json!({"type": "string", "enum": ["invoice"]})));
    }

    #[test]
    fn what_closing_would_change_is_not_lowered() {
        for schema in [
            json!({"type": "object"}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "properties": {"a": {}}, "additionalProperties": true}),
            json!({"type": "array", "items": {"type": ["object", "null"]}}),
            json!({"type": "array", "items": true}),
        ] {
            assert_eq!(lower(&schema, CLOSED), None, "{schema}");
            assert!(lower(&schema, OPEN).is_some(), "{schema}");
        }
        let empty = json!({"type": "object", "additionalProperties": false});
        assert_eq!(lower(&empty, CLOSED), Some(empty));
    }

    #[test]
    fn recursion_is_seen_through_several_references() {
        let schema = |end: Value| {
            json!({
                "$ref": "#/$defs/a",
                "$defs": {
                    "a": {"type": "array", "items": {"$ref": "#/$defs/b"}},
                    "b": {"anyOf": [{"type": "string"}, end]},
                },
            })
        };
        assert_eq!(lower(&schema(json!({"$ref": "#/$defs/a"})), CLOSED), None);
        assert!(lower(&schema(json!({"type": "integer"})), CLOSED).is_some());
    }

    #[test]
    fn a_schema_of_any_depth_ends() {
        let mut schema = json!({"type": "string"});
        for _ in 0..100 {
            schema = json!({"type": "array", "items": schema});
        }
        assert_eq!(lower(&schema, OPEN), None);
    }
}
