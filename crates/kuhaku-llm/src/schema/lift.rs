//! The way back from the strict subset: nulls that stand for nothing.

use serde_json::{Map, Value};

use super::strict::{DEEPEST, allows_null, is_required};

/// References may lead to each other in ways that never end; real schemas and replies need less.
const MOST_STEPS: u32 = 100_000;

/// Takes out the nulls that stand for absent properties, since the subset has no other way to leave
/// one out. Gives whether the value changed.
pub(crate) fn lift(value: &mut Value, schema: &Value) -> bool {
    let mut lifting = Lifting { root: schema, steps: MOST_STEPS, changed: false };
    lifting.lift(value, schema);
    lifting.changed
}

struct Lifting<'a> {
    root: &'a Value,
    steps: u32,
    changed: bool,
}

impl Lifting<'_> {
    /// A value deeper down starts with the whole depth again: the value's own depth ends it.
    fn lift(&mut self, value: &mut Value, schema: &Value) {
        self.lift_within(value, schema, DEEPEST);
    }

    fn lift_within(&mut self, value: &mut Value, schema: &Value, depth: usize) {
        let (Some(steps), Some(depth)) = (self.steps.checked_sub(1), depth.checked_sub(1)) else {
            return;
        };
        self.steps = steps;
        if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
            let root = self.root;
            if let Some(target) = path.strip_prefix('#').and_then(|path| root.pointer(path)) {
                self.lift_within(value, target, depth);
            }
        }
        for name in ["anyOf", "oneOf"] {
            for branch in schema.get(name).and_then(Value::as_array).into_iter().flatten() {
                self.lift_within(value, branch, depth);
            }
        }
        match value {
            Value::Object(fields) => self.lift_fields(fields, schema),
            Value::Array(values) => {
                if let Some(items) = schema.get("items") {
                    values.iter_mut().for_each(|value| self.lift(value, items));
                }
            }
            _ => {}
        }
    }

    fn lift_fields(&mut self, fields: &mut Map<String, Value>, schema: &Value) {
        let Some(from) = schema.as_object() else { return };
        let properties = from.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let absent = fields.get(name).is_some_and(Value::is_null);
            if absent && !is_required(from, name) && !allows_null(schema) {
                fields.remove(name);
                self.changed = true;
            } else if let Some(field) = fields.get_mut(name) {
                self.lift(field, schema);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nulls_that_stand_for_nothing_are_taken_out_again() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "b": {"type": ["string", "null"]},
                "c": {"type": "string"},
                "list": {"type": "array", "items": {"$ref": "#/$defs/item"}},
                "self": {"$ref": "#"},
            },
            "required": ["c"],
            "$defs": {"item": {"anyOf": [{"$ref": "#/$defs/item"}, {
                "type": "object", "properties": {"d": {"type": "integer"}},
            }]}},
        });
        let mut value = json!({
            "a": null, "b": null, "c": null, "list": [{"d": null}, {"d": 1}], "self": {"a": null},
        });
        assert!(lift(&mut value, &schema));
        assert_eq!(value, json!({"b": null, "c": null, "list": [{}, {"d": 1}], "self": {}}));
        assert!(!lift(&mut value, &schema));
    }
}
