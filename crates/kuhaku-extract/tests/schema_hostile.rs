//! Schemas and values that mean harm: refused with a reason or worked through, in bounded time.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::{Duration, Instant};

use kuhaku_extract::{Coercion, Schema};
use serde_json::{Map, Value, json};

/// Debug builds on busy machines; what is unbounded takes far longer.
const SOON: Duration = Duration::from_secs(20);

fn soon<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let result = run();
    assert!(begun.elapsed() < SOON, "{what} took {:?}", begun.elapsed());
    result
}

fn refusal(document: &Value) -> String {
    soon("a refusal", || Schema::from_json(document).unwrap_err().to_string())
}

fn nested(depth: usize, leaf: Value, wrap: impl Fn(Value) -> Value) -> Value {
    (0..depth).fold(leaf, |inner, _| wrap(inner))
}

#[test]
fn a_schema_that_is_too_deep_is_refused_and_one_at_the_limit_works() {
    let wrap = |inner| json!({"properties": {"a": inner}});
    assert!(refusal(&nested(200, json!({}), wrap)).contains("nested deeper than 100 levels"));
    let deep = Schema::from_json(&nested(49, json!({"type": "integer"}), wrap)).unwrap();
    let value = nested(49, json!("5"), |inner| json!({"a": inner}));
    let checked = deep.check(&value, &Coercion::lenient());
    assert!(checked.is_complete());
    assert_eq!(checked.coercions.len(), 1);
}

#[test]
fn a_value_that_is_too_deep_is_a_problem() {
    let schema = Schema::from_json(&json!({"items": {"$ref": "#"}})).unwrap();
    let deep = nested(129, json!(1), |inner| json!([inner]));
    let checked = soon("a deep value", || schema.check(&deep, &Coercion::lenient()));
    assert_eq!(checked.problems.len(), 1);
    let deep = nested(120, json!(1), |inner| json!([inner]));
    assert!(schema.check(&deep, &Coercion::lenient()).is_complete());
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    for document in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"oneOf": [{"$ref": "#/$defs/b"}]},
            "b": {"not": {"$ref": "#/$defs/a"}}}}),
        json!({"properties": {"a": {"$ref": "#"}}, "required": ["a"]}),
        json!({"$dynamicRef": "#x", "$dynamicAnchor": "x"}),
        json!({"unevaluatedProperties": {"$ref": "#"}, "allOf": [{"$ref": "#/$defs/a"}],
            "$defs": {"a": {"$ref": "#"}}}),
    ] {
        let Ok(schema) = soon("reading", || Schema::from_json(&document)) else { continue };
        for value in [json!({"a": {"a": {"a": 3.0}}}), json!([[["x"]]]), json!("x"), Value::Null] {
            soon("a check", || schema.check(&value, &Coercion::lenient()));
            assert_eq!(schema.leaves(&value).count(), 1);
        }
    }
}

#[test]
fn alternatives_that_double_at_each_level_end() {
    let twice = |inner: Value| json!({"items": {"oneOf": [inner.clone(), inner]}});
    let doubling = json!({"items": {"oneOf": [{"$ref": "#"}, {"$ref": "#"}]}, "type": "array"});
    let any = json!({"items": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, "type": "array"});
    let all = json!({"items": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}, "type": "array"});
    let flat = (1..40).fold(Map::new(), |mut defs, n| {
        let next = format!("#/$defs/d{}", n + 1);
        defs.insert(format!("d{n}"), json!({"allOf": [{"$ref": next}, {"$ref": next}]}));
        defs
    });
    let mut defs = flat;
    defs.insert("d40".into(), json!({"type": "integer"}));
    let flat = json!({"$ref": "#/$defs/d1", "$defs": defs});
    let mut defs = (1..40).fold(Map::new(), |mut defs, n| {
        let next = format!("#/$defs/d{}", n + 1);
        defs.insert(format!("d{n}"), json!({"items": {"allOf": [{"$ref": next}, {"$ref": next}]}}));
        defs
    });
    defs.insert("d40".into(), json!({"items": {}}));
    let down = json!({"$ref": "#/$defs/d1", "$defs": defs});
    let value = nested(60, json!("x"), |inner| json!([inner]));
    let last = nested(60, json!(1), |inner| json!([inner]));
    for (name, document) in [
        ("any", any),
        ("one", doubling),
        ("all", all),
        ("flat", flat),
        ("down", down),
        ("tree", nested(8, json!({}), twice)),
    ] {
        let Ok(schema) = soon(name, || Schema::from_json(&document)) else { continue };
        for value in [&value, &last, &json!(1), &json!("x")] {
            soon(name, || schema.is_valid(value));
            soon(name, || schema.check(value, &Coercion::lenient()));
            soon(name, || schema.leaves(value).count());
        }
    }
}

#[test]
fn a_reference_that_leads_outside_is_refused_and_nothing_is_fetched() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}/schema.json", listener.local_addr().unwrap());
    let error = Schema::from_json(&json!({"properties": {"a": {"$ref": address}}})).unwrap_err();
    assert!(error.to_string().contains("outside of it and is not fetched"), "{error}");
    assert!(error.next_step().unwrap().contains("SchemaOptions::document"));
    for address in ["file:///etc/passwd", "other.json", "urn:example:x"] {
        assert!(refusal(&json!({"$ref": address})).contains("is not fetched"), "{address}");
    }
    assert!(listener.accept().is_err());
    assert!(refusal(&json!({"$ref": "#/$defs/none"})).contains("which is not in it"));
    assert!(refusal(&json!({"$ref": "#none"})).contains("which is not in it"));
    assert!(refusal(&json!({"$schema": "https://example.com/my-draft"})).contains("my-draft"));
}

#[test]
fn a_huge_choice_works_and_is_not_listed_whole() {
    let options: Vec<String> = (0..50_000).map(|n| format!("option {n}")).collect();
    let document = json!({"properties": {"a": {"enum": options}}});
    let schema = soon("reading", || Schema::from_json(&document).unwrap());
    let checked =
        soon("a choice", || schema.check(&json!({"a": "OPTION 49999"}), &Coercion::lenient()));
    assert_eq!(checked.value, json!({"a": "option 49999"}));
    let checked = soon("no choice", || schema.check(&json!({"a": "x"}), &Coercion::lenient()));
    assert!(checked.problems[0].message.len() < 2_000);
    assert!(checked.problems[0].message.ends_with("or 49980 others"));
}

#[test]
fn a_schema_of_too_many_parts_is_refused() {
    assert!(refusal(&json!({"enum": vec![1; 300_000]})).contains("more than 200000 parts"));
}

#[test]
fn patterns_that_cannot_be_used_are_refused_and_slow_ones_are_cut_off() {
    let of = |pattern: &str| json!({"properties": {"a": {"pattern": pattern}}});
    for pattern in ["(", "[z-a]", "(?<n", "\\p{None}"] {
        let error = refusal(&of(pattern));
        assert!(error.contains("/properties/a"), "{pattern}: {error}");
    }
    let text = format!("{}!", "a".repeat(5_000));
    for pattern in [
        "a{1000}{1000}{1000}",
        "^(a+)+$",
        "^(a|aa)+$",
        "^(a|a)*\\1b",
        "^(?=(a+)+$)(a+)+$",
        "(a*)*(?!b)c",
    ] {
        let Ok(schema) = Schema::from_json(&of(pattern)) else { continue };
        let value = json!({"a": text});
        let checked = soon(pattern, || schema.check(&value, &Coercion::lenient()));
        assert_eq!(checked.problems.len(), 1, "{pattern}");
    }
}

#[test]
fn a_large_value_that_is_wrong_everywhere_is_told_in_part() {
    let schema = Schema::from_json(&json!({"items": {"type": "integer"}})).unwrap();
    let value = Value::Array(vec![json!("x"); 100_000]);
    let checked = soon("a large value", || schema.check(&value, &Coercion::lenient()));
    assert_eq!(checked.problems.len(), 1_000);
}
