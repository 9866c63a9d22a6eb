//! Putting a schema into a larger one without breaking its references.

use serde_json::{Map, Value};

/// Where schemas keep what they refer to.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// A schema as it must be written at `place` of a larger one, and the definitions that move to the
/// root of that, where the references into them look for them. Their names get the prefix, which keeps
/// those of several schemas apart.
pub(crate) fn nest(schema: &Value, place: &str, prefix: &str) -> (Value, Map<String, Value>) {
    let mut nested = schema.clone();
    let mut moved = Map::new();
    if let Some(keywords) = nested.as_object_mut() {
        for name in DEFINITIONS {
            if let Some(Value::Object(definitions)) = keywords.remove(name) {
                let prefixed = |(name, schema)| (format!("{prefix}{name}"), schema);
                let definitions = definitions.into_iter().map(prefixed).collect();
                moved.insert(name.into(), Value::Object(definitions));
            }
        }
        keywords.remove("$schema");
        keywords.remove("$id");
    }
    redirect(&mut nested, place, prefix);
    moved.values_mut().for_each(|definitions| redirect(definitions, place, prefix));
    (nested, moved)
}

/// The depth is that of a schema, which is bounded.
fn redirect(schema: &mut Value, place: &str, prefix: &str) {
    match schema {
        Value::Object(keywords) => {
            for (name, value) in keywords {
                match value {
                    Value::String(target) if name == "$ref" => {
                        if let Some(moved) = moved(target, place, prefix) {
                            *target = moved;
                        }
                    }
                    value => redirect(value, place, prefix),
                }
            }
        }
        Value::Array(schemas) => {
            schemas.iter_mut().for_each(|schema| redirect(schema, place, prefix));
        }
        _ => {}
    }
}

/// Where a reference by pointer leads now.
fn moved(target: &str, place: &str, prefix: &str) -> Option<String> {
    let path = target.strip_prefix('#')?;
    for name in DEFINITIONS {
        if let Some(rest) = path.strip_prefix(&format!("/{name}/")) {
            let prefix = prefix.replace('~', "~0").replace('/', "~1");
            return Some(format!("#/{name}/{prefix}{rest}"));
        }
    }
    (path.is_empty() || path.starts_with('/')).then(|| format!("{place}{path}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_lead_where_they_led_before() {
        let schema = json!({
            "properties": {
                "item": {"$ref": "#/$defs/item"},
                "child": {"$ref": "#"},
                "same": {"$ref": "#/properties/item"},
                "named": {"$ref": "#anchor"},
            },
            "$defs": {"item": {"anyOf": [{"$ref": "#/$defs/item"}, {"$ref": "#"}]}},
        });
        let (nested, moved) = nest(&schema, "#/properties/data", "");
        assert_eq!(
            nested,
            json!({"properties": {
                "item": {"$ref": "#/$defs/item"},
                "child": {"$ref": "#/properties/data"},
                "same": {"$ref": "#/properties/data/properties/item"},
                "named": {"$ref": "#anchor"},
            }})
        );
        assert_eq!(
            Value::Object(moved),
            json!({"$defs": {"item": {"anyOf": [
                {"$ref": "#/$defs/item"}, {"$ref": "#/properties/data"},
            ]}}})
        );
    }

    #[test]
    fn definitions_of_several_schemas_stay_apart() {
        let schema = json!({"$ref": "#/definitions/a", "definitions": {"a": {"type": "string"}}});
        let (nested, moved) = nest(&schema, "#/properties/x", "o/1.");
        assert_eq!(nested, json!({"$ref": "#/definitions/o~11.a"}));
        let root = Value::Object(moved);
        assert_eq!(root.pointer("/definitions/o~11.a"), Some(&json!({"type": "string"})));
    }
}
