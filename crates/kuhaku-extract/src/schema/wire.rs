//! The schema as a model is shown it, or held to it.
//!
//! A model that must fill a field invents what to fill it with. Hence every named value may be null
//! here, and every name must be written: nothing is left out in silence either. Rules that null
//! would turn around (`not`, conditions, dependencies) are left out; the check of the reply has
//! them all.

use serde_json::{Value, json};

use super::ordered::Ordered;

/// Keywords that are no use to a model, or harm: a default would be copied as if the text said it.
const LEFT_OUT: [&str; 19] = [
    "$comment",
    "$schema",
    "$vocabulary",
    "contains",
    "default",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "maxContains",
    "minContains",
    "minProperties",
    "not",
    "propertyNames",
    "required",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// The wire form of a schema document.
pub(super) fn wire(document: &Ordered) -> Ordered {
    let Ordered::Object(keywords) = document else { return document.clone() };
    let mut on_wire: Vec<(String, Ordered)> = Vec::new();
    let mut names = None;
    for (keyword, value) in keywords {
        let value = match (keyword.as_str(), value) {
            (left_out, _) if LEFT_OUT.contains(&left_out) => continue,
            ("properties", Ordered::Object(all)) => {
                names = Some(all.iter().map(|(name, _)| Ordered::text(name)).collect());
                each(all, |schema| nullable(wire(schema)))
            }
            ("patternProperties", Ordered::Object(all)) => {
                each(all, |schema| nullable(wire(schema)))
            }
            ("additionalProperties", schema) => nullable(wire(schema)),
            ("$defs" | "definitions", Ordered::Object(all)) => each(all, wire),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Ordered::List(all)) => {
                Ordered::List(all.iter().map(wire).collect())
            }
            ("items" | "additionalItems", schema) => wire(schema),
            (_, value) => value.clone(),
        };
        on_wire.push((keyword.clone(), value));
    }
    // Alternatives that may be null fit several at once.
    if document.get("anyOf").is_none() {
        for (keyword, _) in on_wire.iter_mut().filter(|(keyword, _)| keyword == "oneOf") {
            *keyword = "anyOf".into();
        }
    } else {
        on_wire.retain(|(keyword, _)| keyword != "oneOf");
    }
    if let Some(names) = names {
        on_wire.push(("required".into(), Ordered::List(names)));
    }
    Ordered::Object(on_wire)
}

fn each(all: &[(String, Ordered)], change: impl Fn(&Ordered) -> Ordered) -> Ordered {
    Ordered::Object(all.iter().map(|(name, schema)| (name.clone(), change(schema))).collect())
}

/// The same schema, or null.
fn nullable(schema: Ordered) -> Ordered {
    let Ordered::Object(mut keywords) = schema else { return schema };
    let limits = ["$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "const"];
    let simple = !keywords.iter().any(|(keyword, _)| limits.contains(&keyword.as_str()));
    if simple {
        for (keyword, value) in &mut keywords {
            match keyword.as_str() {
                "type" => admit(value, "null".into()),
                "enum" => admit(value, Value::Null),
                _ => {}
            }
        }
        return Ordered::Object(keywords);
    }
    // What describes the value stays on top, where a model looks for it.
    let describes = |(keyword, _): &(String, Ordered)| keyword == "description";
    let described = keywords.iter().position(describes).map(|place| keywords.remove(place));
    let null = Ordered::from(&json!({"type": "null"}));
    let either = Ordered::List(vec![Ordered::Object(keywords), null]);
    let on_top = described.into_iter().chain([("anyOf".to_owned(), either)]);
    Ordered::Object(on_top.collect())
}

/// Adds a value to a list of them, or makes one value a list of two.
fn admit(values: &mut Ordered, more: Value) {
    let more = Ordered::Scalar(more);
    match values {
        Ordered::List(all) if all.contains(&more) => {}
        Ordered::List(all) => all.push(more),
        one if *one == more => {}
        one => *one = Ordered::List(vec![one.clone(), more]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_wire(document: &str) -> String {
        let document: Ordered = serde_json::from_str(document).unwrap();
        serde_json::to_string(&wire(&document)).unwrap()
    }

    #[test]
    fn every_name_is_asked_for_in_its_order_and_may_be_null() {
        assert_eq!(
            on_wire(
                r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
                "properties":{"z":{"type":"string","default":"x"},"a":{"type":["integer","null"]},
                "size":{"type":"string","enum":["s","m"]}},"required":["z"]}"#
            ),
            concat!(
                r#"{"type":"object","properties":{"z":{"type":["string","null"]},"#,
                r#""a":{"type":["integer","null"]},"#,
                r#""size":{"type":["string","null"],"enum":["s","m",null]}},"#,
                r#""required":["z","a","size"]}"#,
            )
        );
    }

    #[test]
    fn a_reference_or_a_fixed_value_may_be_null_too_and_keeps_its_description_on_top() {
        assert_eq!(
            on_wire(
                r##"{"properties":{"a":{"$ref":"#/$defs/x","description":"which"},"k":{"const":1}},
                "$defs":{"x":{"oneOf":[{"type":"string"},{"type":"integer"}],"not":{"const":3}}}}"##
            ),
            concat!(
                r##"{"properties":{"a":{"description":"which","anyOf":[{"$ref":"#/$defs/x"},"##,
                r##"{"type":"null"}]},"k":{"anyOf":[{"const":1},{"type":"null"}]}},"##,
                r##""$defs":{"x":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"##,
                r##""required":["a","k"]}"##,
            )
        );
    }

    #[test]
    fn the_items_of_a_list_are_not_null_and_their_names_are() {
        assert_eq!(
            on_wire(r#"{"properties":{"l":{"type":"array","items":{"properties":{"n":{}}}}}}"#),
            concat!(
                r#"{"properties":{"l":{"type":["array","null"],"#,
                r#""items":{"properties":{"n":{}},"required":["n"]}}},"required":["l"]}"#,
            )
        );
    }
}
