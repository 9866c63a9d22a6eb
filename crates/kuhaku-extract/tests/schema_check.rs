//! What is read leniently, what is missing and what is wrong.

#![allow(clippy::unwrap_used, reason = "tests")]

use kuhaku_extract::{Checked, Coerced, Coercion, Fields, Kind, Missing, NumberFormat, Schema};
use serde_json::{Value, json};

fn check(document: &Value, value: &Value) -> Checked {
    Schema::from_json(document).unwrap().check(value, &Coercion::lenient())
}

fn property(kind: Value) -> Value {
    json!({"type": "object", "properties": {"q": kind}, "required": ["q"]})
}

fn missing(checked: &Checked) -> Vec<&str> {
    checked.missing.iter().map(|missing| missing.path.as_str()).collect()
}

fn problems(checked: &Checked) -> Vec<&str> {
    checked.problems.iter().map(|problem| problem.path.as_str()).collect()
}

/// EXT-08
#[test]
fn a_number_is_read_from_what_states_it_exactly() {
    let read =
        |kind: &str, value: Value| check(&property(json!({"type": kind})), &json!({"q": value}));
    for (kind, written, meant, from, to) in [
        ("number", json!("5"), json!(5), Kind::Text, Kind::Number),
        ("integer", json!("5"), json!(5), Kind::Text, Kind::Integer),
        ("integer", json!(3.0), json!(3), Kind::Number, Kind::Integer),
        ("integer", json!("3.0"), json!(3), Kind::Text, Kind::Integer),
        ("boolean", json!("yes"), json!(true), Kind::Text, Kind::Boolean),
    ] {
        let checked = read(kind, written);
        assert!(checked.is_complete(), "{checked:?}");
        // The data holds what was read, with its own type of JSON.
        assert_eq!(checked.value, json!({"q": meant}));
        let [Coerced { path, from: was, to: is, .. }] = checked.coercions.as_slice() else {
            panic!("one coercion: {checked:?}");
        };
        assert_eq!((path.as_str(), *was, *is), ("/q", from, to));
    }
    for (kind, written) in [
        ("integer", json!(3.5)),
        ("integer", json!("3.5")),
        ("string", json!(5)),
        ("string", json!(true)),
        ("number", json!("NaN")),
        ("number", json!("Infinity")),
        ("number", json!("1e999")),
        ("number", json!("many")),
        ("number", json!("")),
        ("number", json!("3,5")),
        ("boolean", json!("perhaps")),
        ("number", json!([5])),
    ] {
        let checked = read(kind, written.clone());
        assert_eq!(problems(&checked), ["/q"], "{kind} {written}");
        assert_eq!(checked.problems[0].code, "schema_error");
        assert_eq!(checked.value, json!({"q": written}));
        assert!(checked.coercions.is_empty() && checked.missing.is_empty());
    }
}

#[test]
fn a_decimal_comma_is_read_when_the_caller_asks_for_it() {
    let schema = Schema::from_fields(Fields::new().number("q")).unwrap();
    let commas = Coercion::lenient().numbers(NumberFormat::Comma);
    assert_eq!(schema.check(&json!({"q": "3,5"}), &commas).value, json!({"q": 3.5}));
    let strict = Coercion::strict().numbers(NumberFormat::Comma);
    assert_eq!(problems(&schema.check(&json!({"q": "3,5"}), &strict)), ["/q"]);
}

/// EXT-09
#[test]
fn a_missing_value_is_named_by_its_description_or_its_name_at_its_exact_path() {
    let fields = r#"{"lines": [{"item": "text", "price": ["number", "unit price"]}]}"#;
    let schema = Schema::from_fields(Fields::parse(fields).unwrap()).unwrap();
    let lines = json!({"lines": [{"item": "tea", "price": 2}, {"item": null, "price": null}]});
    let checked = schema.check(&lines, &Coercion::lenient());
    let found: Vec<_> = checked
        .missing
        .iter()
        .map(|missing: &Missing| (missing.path.as_str(), missing.name.as_str(), missing.label()))
        .collect();
    assert_eq!(
        found,
        [("/lines/1/item", "item", "item"), ("/lines/1/price", "price", "unit price")]
    );
    assert!(checked.problems.is_empty());
    assert_eq!(checked.value, lines);
}

/// EXT-13
#[test]
fn a_value_of_several_kinds_is_missing_or_wrong_under_its_own_path() {
    for kind in [
        json!({"anyOf": [{"type": "integer"}, {"type": "number"}]}),
        json!({"oneOf": [{"type": "integer"}, {"type": "string", "pattern": "^n/a$"}]}),
        json!({"type": ["integer", "number"]}),
        json!({"allOf": [{"anyOf": [{"type": "integer"}, {"enum": [0.5]}]}]}),
    ] {
        let document = property(kind);
        for value in [json!({"q": null}), json!({})] {
            let checked = check(&document, &value);
            assert_eq!(missing(&checked), ["/q"], "{document}");
            assert_eq!(checked.missing[0].name, "q");
            assert!(checked.problems.is_empty(), "{checked:?}");
        }
        let checked = check(&document, &json!({"q": "seven"}));
        assert_eq!(problems(&checked), ["/q"], "{document}");
        let checked = check(&document, &json!({"q": "7"}));
        assert_eq!(checked.value, json!({"q": 7}), "{document}");
        assert!(checked.is_complete());
    }
}

#[test]
fn of_several_objects_the_one_that_was_meant_says_what_is_missing() {
    let document = property(json!({"oneOf": [
        {"type": "object", "properties": {"by": {"const": "card"}, "number": {"type": "string"}},
            "required": ["by", "number"]},
        {"type": "object", "properties": {"by": {"const": "bank"},
            "iban": {"type": "string", "description": "the account"}, "bank": {"type": "string"}},
            "required": ["by", "iban", "bank"]},
    ]}));
    let checked = check(&document, &json!({"q": {"by": "bank", "iban": null, "bank": 7}}));
    assert_eq!(missing(&checked), ["/q/iban"]);
    assert_eq!(checked.missing[0].label(), "the account");
    assert_eq!(problems(&checked), ["/q/bank"]);
}

#[test]
fn null_for_an_optional_value_is_as_good_as_nothing() {
    let document = json!({"type": "object", "required": ["a"], "properties": {
        "a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": ["string", "null"]}}});
    let checked = check(&document, &json!({"a": "x", "b": null, "c": null}));
    assert!(checked.is_complete());
    assert_eq!(checked.value, json!({"a": "x", "c": null}));
}

#[test]
fn an_item_that_is_null_is_missing_by_the_name_of_its_list() {
    let document = property(json!({"type": "array", "items": {"type": "string"}}));
    let checked = check(&document, &json!({"q": ["a", null]}));
    assert_eq!(missing(&checked), ["/q/1"]);
    assert_eq!(checked.missing[0].name, "q");
}

#[test]
fn an_object_that_is_null_or_no_object_is_said_so() {
    let document = property(json!({"type": "object", "properties": {"a": {"type": "string"}},
        "required": ["a"]}));
    assert_eq!(missing(&check(&document, &json!({"q": null}))), ["/q"]);
    assert_eq!(missing(&check(&document, &json!({"q": {}}))), ["/q/a"]);
    assert_eq!(problems(&check(&document, &json!({"q": []}))), ["/q"]);
    assert_eq!(problems(&check(&document, &json!([]))), [""]);
    assert_eq!(problems(&check(&document, &Value::Null)), [""]);
}

#[test]
fn a_default_fills_what_is_absent_and_only_with_what_the_schema_accepts() {
    let document = json!({"type": "object", "required": ["size", "n"], "properties": {
        "size": {"enum": ["s", "m"], "default": "m"},
        "n": {"type": "integer", "default": "none"},
        "address": {"$ref": "#/$defs/address"},
        "note": {"type": ["string", "null"], "default": "-"}},
        "$defs": {"address": {"properties": {"country": {"type": "string", "default": "TR"}}}}});
    let checked = check(&document, &json!({"size": null, "address": {}, "note": null}));
    assert_eq!(checked.value, json!({"size": "m", "address": {"country": "TR"}, "note": null}));
    assert_eq!(checked.defaults, ["/size", "/address/country"]);
    assert_eq!(missing(&checked), ["/n"]);
}

#[test]
fn a_choice_and_a_day_are_read_in_other_writing() {
    let fields = Fields::new().one_of("size", ["Small", "Large"]).date("due");
    let schema = Schema::from_fields(fields).unwrap();
    let checked = schema.check(&json!({"size": "LARGE", "due": "2024/5/1"}), &Coercion::lenient());
    assert!(checked.is_complete());
    assert_eq!(checked.value, json!({"size": "Large", "due": "2024-05-01"}));
    let checked = schema.check(&json!({"size": "huge", "due": "soon"}), &Coercion::lenient());
    let messages: Vec<_> =
        checked.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["must be written as YYYY-MM-DD", "must be one of \"Small\", \"Large\""]);
}

#[test]
fn paths_are_json_pointers() {
    let document = json!({"type": "object", "properties": {"a/b": {"type": "object",
        "properties": {"m~n": {"type": "number"}, "0": {"type": "number"}}, "required": ["m~n"]}}});
    let checked = check(&document, &json!({"a/b": {"0": "x"}}));
    assert_eq!(missing(&checked), ["/a~1b/m~0n"]);
    assert_eq!(checked.missing[0].name, "m~n");
    assert_eq!(problems(&checked), ["/a~1b/0"]);
}

/// R7
#[test]
fn what_is_wrong_is_said_without_quoting_it() {
    let secret = "hunter2";
    let rules = json!({"type": "object", "additionalProperties": false, "properties": {
        "type": {"type": "number"}, "enum": {"enum": ["a"]}, "const": {"const": 1},
        "pattern": {"pattern": "^[0-9]+$"}, "format": {"format": "email"},
        "long": {"maxLength": 2}, "unique": {"uniqueItems": true}, "not": {"not": {"type": "string"}},
        "any": {"anyOf": [{"type": "number"}, {"maxLength": 2}]}, "false": false,
        "date": {"format": "date"}, "contains": {"contains": {"const": 1}},
        "names": {"propertyNames": {"maxLength": 2}}, "min": {"minLength": 100}}});
    let value = json!({"type": secret, "enum": secret, "const": secret, "pattern": secret,
        "format": secret, "long": secret, "unique": [secret, secret], "not": secret, "any": secret,
        "false": secret, "date": secret, "contains": [secret], "names": {secret: 1},
        "min": secret, secret: 1});
    let checked = check(&rules, &value);
    assert_eq!(checked.problems.len(), 15, "{:#?}", checked.problems);
    for problem in &checked.problems {
        assert!(!problem.message.contains(secret), "{problem:?}");
        assert!(!problem.message.is_empty());
    }
}

#[test]
fn the_scalars_of_a_value_come_with_their_paths_and_kinds() {
    let fields = Fields::new()
        .text("a")
        .list("lines", Fields::new().number("n").date("d").optional())
        .one_of("size", ["s"])
        .boolean("ok");
    let schema = Schema::from_fields(fields).unwrap();
    let value = json!({"a": "x", "lines": [{"n": 1, "d": null}], "ok": true, "size": "s", "zz": 7});
    let leaves: Vec<_> =
        schema.leaves(&value).map(|leaf| (leaf.path, leaf.value.clone(), leaf.kind)).collect();
    assert_eq!(
        leaves,
        [
            ("/a".to_owned(), json!("x"), Kind::Text),
            ("/lines/0/d".to_owned(), json!(null), Kind::Date),
            ("/lines/0/n".to_owned(), json!(1), Kind::Number),
            ("/ok".to_owned(), json!(true), Kind::Boolean),
            ("/size".to_owned(), json!("s"), Kind::Choice),
            ("/zz".to_owned(), json!(7), Kind::Integer),
        ]
    );
}

#[test]
fn a_value_that_fits_is_accepted_on_the_wire_too_and_so_is_null_for_each_name() {
    let fields =
        r#"{"a": "text", "lines": [{"n": "number", "d": "date?"}], "o": {"x": "boolean"}}"#;
    let schema = Schema::from_fields(Fields::parse(fields).unwrap()).unwrap();
    let wire = Schema::from_json(schema.wire()).unwrap();
    for value in [
        json!({"a": "x", "lines": [{"n": 1, "d": "2024-01-01"}], "o": {"x": true}}),
        json!({"a": null, "lines": [{"n": null, "d": null}], "o": {"x": null}}),
        json!({"a": null, "lines": null, "o": null}),
    ] {
        assert!(wire.is_valid(&value), "{value}");
    }
    assert!(!wire.is_valid(&json!({"a": null})));
    assert!(!wire.is_valid(&json!({"a": 1, "lines": null, "o": null})));
    assert!(
        schema.wire_text().starts_with(r#"{"type":"object","properties":{"a":{"type":["string"#)
    );
}
