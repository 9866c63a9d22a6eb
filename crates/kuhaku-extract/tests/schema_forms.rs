//! The forms in which a schema is given, and what is wrong with those that are none.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use kuhaku_extract::{Coercion, Fields, Item, Kind, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

fn missing(schema: &Schema, value: &Value) -> Vec<String> {
    let checked = schema.check(value, &Coercion::lenient());
    assert!(checked.problems.is_empty(), "{checked:?}");
    checked.missing.into_iter().map(|missing| missing.path).collect()
}

fn parsed(fields: &str) -> Schema {
    Schema::from_fields(Fields::parse(fields).unwrap()).unwrap()
}

/// EXT-10
#[test]
fn a_list_of_names_is_required_texts() {
    let schema = parsed(r#"["product", "note"]"#);
    assert_eq!(missing(&schema, &json!({})), ["/product", "/note"]);
    assert!(schema.is_valid(&json!({"product": "tea", "note": ""})));
    assert!(!schema.is_valid(&json!({"product": 5, "note": ""})));
    let built = Schema::from_fields(Fields::texts(["product", "note"])).unwrap();
    assert_eq!(built.document(), schema.document());
}

/// EXT-10
#[test]
fn a_nullable_kind_is_optional_and_never_asked_for() {
    let schema = parsed(r#"{"note": "text?", "n": "integer?", "size": "number?"}"#);
    for value in [json!({}), json!({"note": null, "n": null, "size": null})] {
        assert!(missing(&schema, &value).is_empty());
        assert!(schema.is_valid(&value));
    }
    let built = Schema::from_fields(Fields::new().one_of("size", ["s"]).optional()).unwrap();
    assert!(built.is_valid(&json!({"size": null})) && built.is_valid(&json!({"size": "s"})));
    assert!(!built.is_valid(&json!({"size": "m"})));
}

/// EXT-10
#[test]
fn a_nested_map_is_an_object_and_a_list_of_one_is_a_list_of_such_items() {
    let schema = parsed(
        r#"{"address": {"city": "text", "zip": "text?"}, "tags": ["text"], "lines": [{"n": "number"}],
            "grid": [["integer"]]}"#,
    );
    let whole = json!({"address": {"city": "Rize"}, "tags": ["a"], "lines": [{"n": 1.5}],
        "grid": [[1, 2], []]});
    assert!(schema.is_valid(&whole));
    let holes = json!({"address": {}, "tags": [], "lines": [{"n": 1}, {}], "grid": []});
    assert_eq!(missing(&schema, &holes), ["/address/city", "/lines/1/n"]);
    let built = Fields::new()
        .object("address", Fields::new().text("city").text("zip").optional())
        .list("tags", Kind::Text)
        .list("lines", Fields::new().number("n"))
        .list("grid", Item::list(Kind::Integer));
    assert_eq!(Schema::from_fields(built).unwrap().document(), schema.document());
}

/// EXT-10
#[test]
fn a_form_that_is_none_is_refused_with_what_is_wrong_and_where() {
    for (fields, wrong) in [
        // An empty description; a pair without one is a list of items.
        (r#"{"q": ["number", ""]}"#, "`q` has an empty description"),
        (r#"{"q": ["number", " "]}"#, "`q` has an empty description"),
        (r#"{"q": []}"#, "`/q`: a list has one kind of item, not 0"),
        // A list of two kinds.
        (r#"{"q": ["text", "number"]}"#, "`/q`: a list holds one kind of item"),
        (r#"{"q": ["text", 5]}"#, "`/q`: a list holds one kind of item"),
        (r#"{"q": ["text", "x", "y"]}"#, "`/q`: a list has one kind of item, not 3"),
        // An empty name.
        (r#"{"": "text"}"#, "field 1 has an empty name"),
        (r#"["product", " "]"#, "field 2 has an empty name"),
        (r#"{"a": {"": "text"}}"#, "in `a`: field 1 has an empty name"),
        // Plain text, and nothing at all.
        (r#""product""#, "neither names nor a map"),
        ("[]", "there is none"),
        ("{}", "there is none"),
        (r#"{"a": {}}"#, "`a`: an object without fields"),
        // Kinds that are none.
        (r#"{"q": "float"}"#, "`/q`: what it takes is none of text, number"),
        (r#"{"a": {"q": 5}}"#, "`/a/q`: what it takes is none of text, number"),
        (r#"["product", 5]"#, "a list of names holds something else"),
        (r#"["a", "a"]"#, "two fields are named `a`"),
        ("{", "no JSON from line 1"),
        (r#"{"a": "text"} b"#, "no JSON from line 1"),
    ] {
        let read = Fields::parse(fields).and_then(Schema::from_fields);
        let error = read.expect_err(fields);
        assert_eq!(error.code(), "extract.schema");
        assert!(error.to_string().contains(wrong), "{fields}: {error}");
        assert!(error.next_step().is_some());
    }
}

/// EXT-10
#[test]
fn every_mistake_in_a_built_list_is_told_at_once() {
    let fields = Fields::new()
        .optional()
        .text("a")
        .text("a")
        .described("")
        .text(" ")
        .one_of("c", [""; 0])
        .field("d", Kind::Object)
        .list("e", Kind::Choice);
    let error = Schema::from_fields(fields).unwrap_err().to_string();
    for wrong in [
        "`optional` comes before any field",
        "two fields are named `a`",
        "`a` has an empty description",
        "field 3 has an empty name",
        "`c`: a choice of nothing",
        "`d`: object needs more than its name",
        "`e`: choice needs more than its name",
    ] {
        assert!(error.contains(wrong), "{wrong}: {error}");
    }
}

#[test]
fn a_schema_has_a_name_a_description_and_instructions_that_are_not_empty() {
    let schema = Schema::from_json(&json!({"title": "Order", "description": "An order."})).unwrap();
    assert_eq!((schema.name(), schema.description()), ("Order", Some("An order.")));
    let schema = Schema::from_fields(Fields::texts(["a"])).unwrap();
    assert_eq!((schema.name(), schema.description()), ("extraction", None));
    assert!(schema.clone().named(" ").is_err());
    assert!(schema.clone().described("").is_err());
    assert!(schema.clone().instructed("").is_err());
    let schema = schema.named("order").unwrap().instructed("Prices are in lira.").unwrap();
    assert_eq!((schema.name(), schema.instructions()), ("order", Some("Prices are in lira.")));
}

#[test]
fn the_order_of_a_file_is_the_order_on_the_wire() {
    let schema = Schema::parse(r#"{"properties": {"z": {}, "m": {}, "a": {}}}"#).unwrap();
    assert_eq!(
        schema.wire_text(),
        r#"{"properties":{"z":{},"m":{},"a":{}},"required":["z","m","a"]}"#
    );
}

/// A delivery.
#[derive(Debug, Deserialize, PartialEq, schemars::JsonSchema)]
struct Delivery {
    /// who pays
    customer: String,
    lines: Vec<Line>,
    express: Option<bool>,
    #[serde(default)]
    note: String,
    pay: Payment,
    counts: BTreeMap<String, u8>,
}

#[derive(Debug, Deserialize, PartialEq, schemars::JsonSchema)]
struct Line {
    #[serde(rename = "what")]
    item: String,
    quantity: i64,
    price: f64,
}

#[derive(Debug, Deserialize, PartialEq, schemars::JsonSchema)]
#[serde(tag = "by", rename_all = "lowercase")]
enum Payment {
    Cash,
    Card { number: String },
}

#[test]
fn a_type_is_its_own_schema_and_gets_its_values_back() {
    let schema = Schema::of::<Delivery>().unwrap();
    assert_eq!(schema.description(), Some("A delivery."));
    assert!(schema.describes_an_object());
    let written = json!({"customer": "Ada", "pay": {"by": "card", "number": "1"},
        "lines": [{"what": "tea", "quantity": 3.0, "price": "2.5"}], "express": "yes",
        "counts": {"a": "7"}, "unknown": 1});
    let checked = schema.check(&written, &Coercion::lenient());
    assert!(checked.is_complete(), "{checked:#?}");
    let line = Line { item: "tea".into(), quantity: 3, price: 2.5 };
    let meant = Delivery {
        customer: "Ada".into(),
        lines: vec![line],
        express: Some(true),
        note: String::new(),
        pay: Payment::Card { number: "1".into() },
        counts: [("a".to_owned(), 7)].into(),
    };
    assert_eq!(schema.decode(&checked.value).unwrap(), meant);

    let gaps = json!({"lines": [{"what": "tea"}], "pay": {"by": "card", "number": null},
        "counts": {"a": 300}});
    let checked = schema.check(&gaps, &Coercion::lenient());
    let mut missing: Vec<_> =
        checked.missing.iter().map(|m| (m.path.as_str(), m.label())).collect();
    missing.sort_unstable();
    assert_eq!(
        missing,
        [
            ("/customer", "who pays"),
            ("/lines/0/price", "price"),
            ("/lines/0/quantity", "quantity"),
            ("/pay/number", "number"),
        ]
    );
    assert_eq!(checked.problems.iter().map(|p| p.path.as_str()).collect::<Vec<_>>(), ["/counts/a"]);
}

#[test]
fn a_type_that_asks_for_more_than_its_schema_says_so_without_quoting() {
    #[derive(Debug, Deserialize, schemars::JsonSchema)]
    #[serde(try_from = "String")]
    #[expect(dead_code, reason = "never made")]
    struct Even(String);
    impl TryFrom<String> for Even {
        type Error = String;
        fn try_from(text: String) -> Result<Self, String> {
            Err(format!("odd: {text}"))
        }
    }
    let schema = Schema::of::<Even>().unwrap();
    let problem = schema.decode(&json!("secret")).unwrap_err();
    assert!(!problem.message.contains("secret"), "{problem:?}");
}

#[test]
fn a_function_of_another_language_is_read() {
    let schema = Schema::from_function(&json!({"name": "area", "description": "The area.",
        "parameters": {"type": "dict", "required": ["sides"], "properties": {
            "sides": {"type": "tuple", "items": {"type": "float"}}, "any": {"type": "any"},
            "type": {"type": "string"}}}}))
    .unwrap();
    assert_eq!((schema.name(), schema.description()), ("area", Some("The area.")));
    assert!(schema.is_valid(&json!({"sides": [1.5], "any": {}, "type": "dict"})));
    assert!(!schema.is_valid(&json!({"sides": [1.5, "x"]})));
    for function in
        [json!({}), json!({"name": "f"}), json!({"name": "f", "parameters": 1}), json!(1)]
    {
        assert!(Schema::from_function(&function).is_err());
    }
    let wrong = Schema::from_json(&json!({"properties": {"a": {"type": "dict"}}})).unwrap_err();
    assert!(
        wrong.to_string().contains("`dict` is no type of JSON Schema; write `object`"),
        "{wrong}"
    );
    assert!(wrong.to_string().contains("`/properties/a/type`"), "{wrong}");
}
