//! What holds of the check of any value against any schema.

use kuhaku_extract::{Coercion, NumberFormat, Schema};
use proptest::prelude::*;
use serde_json::{Value, json};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..12).prop_map(Value::from),
        prop_oneof![Just(3.0), Just(2.5), Just(1e300), Just(-0.0), any::<f64>()]
            .prop_map(|number| json!(number)),
        prop_oneof![
            "[ ]?[-+]?[0-9]{1,3}([.,][0-9]{1,3})?[ ]?",
            "NaN|inf|-Infinity|1e999|1e-999|yes|No|TRUE|a|B|2024-1-2|2024-02-30",
            "\\PC{0,4}",
        ]
        .prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "format": "date"})),
        Just(json!({"type": "number"})),
        Just(json!({"type": "integer"})),
        Just(json!({"type": "integer", "minimum": 5})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": ["integer", "null"]})),
        Just(json!({"type": ["number", "boolean"]})),
        Just(json!({"enum": ["a", "b", 2, true]})),
        Just(json!({"const": "a"})),
        Just(json!({"type": "number", "multipleOf": 0.5})),
        Just(json!({"not": {"type": "string"}})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let object = (
            prop::collection::btree_map("[abc]", inner.clone(), 1..4),
            prop::collection::btree_set("[abc]", 0..3),
            any::<bool>(),
        );
        prop_oneof![
            object.prop_map(|(properties, required, open)| json!({"type": "object",
                "properties": properties, "required": required, "additionalProperties": open})),
            inner.clone().prop_map(|item| json!({"type": "array", "items": item})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"anyOf": all})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"oneOf": all})),
            prop::collection::vec(inner, 1..3).prop_map(|all| json!({"allOf": all})),
        ]
    })
}

fn coercion() -> impl Strategy<Value = Coercion> {
    prop_oneof![
        Just(Coercion::strict()),
        Just(Coercion::lenient()),
        Just(Coercion::lenient().numbers(NumberFormat::Comma)),
        Just(Coercion::lenient().numbers(NumberFormat::Point)),
    ]
}

/// Equal, a number by its value.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let names = one.len() == other.len();
            names && one.iter().all(|(name, one)| other.get(name).is_some_and(|it| same(one, it)))
        }
        (one, other) => one == other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000, max_global_rejects: 100_000, failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_valid_value_stays_as_it_is(
        document in schema(), value in value(), coercion in coercion(),
    ) {
        let schema = Schema::from_json(&document).unwrap();
        prop_assume!(schema.is_valid(&value));
        let checked = schema.check(&value, &coercion);
        prop_assert!(checked.is_complete());
        prop_assert!(same(&checked.value, &value), "{} became {}", value, checked.value);
        if coercion == Coercion::strict() {
            prop_assert_eq!(checked.value, value);
        }
    }

    #[test]
    fn a_value_without_a_finding_is_valid(
        document in schema(), value in value(), coercion in coercion(),
    ) {
        let schema = Schema::from_json(&document).unwrap();
        let checked = schema.check(&value, &coercion);
        prop_assert_eq!(checked.is_complete(), schema.is_valid(&checked.value));
    }

    #[test]
    fn checking_what_was_checked_changes_nothing(
        document in schema(), value in value(), coercion in coercion(),
    ) {
        let schema = Schema::from_json(&document).unwrap();
        let once = schema.check(&value, &coercion);
        let twice = schema.check(&once.value, &coercion);
        prop_assert!(twice.coercions.is_empty(), "{:?} then {:?}", once, twice);
        prop_assert_eq!(&twice.value, &once.value);
        prop_assert_eq!(twice.missing, once.missing);
        prop_assert_eq!(twice.problems, once.problems);
    }

    #[test]
    fn every_change_is_recorded_and_every_number_is_one(
        document in schema(), value in value(), coercion in coercion(),
    ) {
        let schema = Schema::from_json(&document).unwrap();
        let checked = schema.check(&value, &coercion);
        for leaf in schema.leaves(&checked.value) {
            if let Some(number) = leaf.value.as_number() {
                prop_assert!(number.as_f64().is_some_and(f64::is_finite));
            }
            let recorded = checked.coercions.iter().any(|coerced| coerced.path == leaf.path);
            prop_assert_eq!(recorded, value.pointer(&leaf.path) != Some(leaf.value));
        }
        for missing in &checked.missing {
            prop_assert!(checked.value.pointer(&missing.path).is_none_or(Value::is_null));
        }
    }

    #[test]
    fn any_document_is_read_or_refused(document in value(), value in value()) {
        if let Ok(schema) = Schema::from_json(&document) {
            schema.check(&value, &Coercion::lenient());
        }
        let keywords = json!({"properties": document, "items": value, "type": "object"});
        if let Ok(schema) = Schema::from_json(&keywords) {
            schema.check(&value, &Coercion::lenient());
        }
    }
}
