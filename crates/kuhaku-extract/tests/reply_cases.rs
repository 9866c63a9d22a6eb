//! Broken JSON as models write it: the cases of `json_repair`, by the expectation of that library.
//!
//! `KUHAKU_BENCH_DATA` names a folder that holds `json-repair/cases.jsonl` and the document beside it,
//! whole and damaged. Without it these tests are skipped.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test ends when something is wrong"
)]

use std::path::PathBuf;

use kuhaku_extract::{Parsed, ReplyLimits, Unparsed, Verdict, parse_reply};
use serde_json::Value;

/// Cases whose input ends within a string, list or object, or whose closing quote is nowhere.
const TRUNCATED: &[&str] = &[
    "test_prefixed_invalid_json_falls_back_to_repair_parser:74",
    "test_stream_stable:299",
    "test_logging:305",
    "test_parse_array:9",
    "test_parse_array_edge_cases:15",
    "test_parse_array_edge_cases:23",
    "test_parse_array_edge_cases:25",
    "test_parse_comment:21",
    "test_parse_number_edge_cases:20",
    "test_parse_number_edge_cases:24",
    "test_parse_object:18",
    "test_parse_object:20",
    "test_parse_object_edge_cases:25",
    "test_parse_object_edge_cases:53",
    "test_parse_object_edge_cases:65",
    "test_parse_object_edge_cases:69",
    "test_missing_and_mixed_quotes:66",
    "test_missing_and_mixed_quotes:78",
    "test_escaping:176",
    "test_string_json_llm_block:272",
    "test_string_json_llm_block:273",
    "test_string_json_llm_block:278",
];

/// Cases that we read otherwise, or not at all, and why.
const OTHERWISE: &[(&str, &str)] = &[
    ("test_multiple_jsons:80", "of two values the first is taken, not a list of both"),
    (
        "test_parenthesized_tuple_still_parses_when_it_is_the_fenced_json_payload:133",
        "a reply is an object or a list; parentheses stand in prose too often",
    ),
    ("test_parse_array_python_tuple_literals:55", "the same"),
    ("test_parse_array_parenthesized_scalar_keeps_scalar_shape:62", "the same"),
    (
        "test_repair_json_skip_json_loads:249",
        "a key without a value is left out; no \"\" is invented",
    ),
    ("test_parse_object_merge_at_the_end:143", "the same"),
    (
        "test_parse_number_edge_cases:27",
        "half a number is kept as text, not read as another number",
    ),
    ("test_parse_object_edge_cases:26", "the quote before the brace ends the string"),
    ("test_parse_object_edge_cases:78", "a list without a key belongs to no field"),
    ("test_parse_object_edge_cases:82", "the same, and no key with \"\" is made of it"),
];

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("KUHAKU_BENCH_DATA").map(PathBuf::from)?.join("json-repair");
    folder.join("cases.jsonl").exists().then_some(folder)
}

/// Objects and lists with something in them; an empty one if there is no other.
fn read(text: &str) -> Result<Parsed, Unparsed> {
    parse_reply(text, &ReplyLimits::default(), &mut |value| match value {
        Value::Object(map) if map.is_empty() => Verdict::Usable(0),
        Value::Array(items) if items.is_empty() => Verdict::Usable(0),
        Value::Object(_) | Value::Array(_) => Verdict::Satisfied,
        _ => Verdict::Refused,
    })
}

/// Integers and their doubles are one number.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| same(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, a)| other.get(key).is_some_and(|b| same(a, b)))
        }
        _ => one == other,
    }
}

/// Whether every string and number of `value` stands in `text`, but for escapes.
fn invents(value: &Value, text: &str) -> bool {
    let plain = text.replace("\\\"", "\"").replace("\\n", "\n").replace("\\t", "\t");
    let plain = plain.replace("\\'", "'").replace("\\\\", "\\");
    let stands = |it: &str| text.contains(it) || plain.contains(it) || text.contains("\\u");
    match value {
        Value::String(it) => !stands(it),
        Value::Number(it) => {
            let bare = it.to_string();
            !stands(&bare) && !stands(bare.trim_start_matches('0'))
        }
        Value::Array(items) => items.iter().any(|it| invents(it, text)),
        Value::Object(map) => map.iter().any(|(key, it)| !stands(key) || invents(it, text)),
        Value::Null | Value::Bool(_) => false,
    }
}

#[test]
fn nine_of_ten_whole_cases_are_read_as_expected_and_none_that_is_cut_off() {
    let Some(folder) = folder() else {
        return eprintln!("skipped: KUHAKU_BENCH_DATA names no folder with json-repair");
    };
    let lines = std::fs::read_to_string(folder.join("cases.jsonl")).unwrap();
    let (mut whole, mut equal, mut plain, mut plain_equal, mut cut) = (0, 0, 0, 0, 0);
    let mut wrong = Vec::new();
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap().split_once(':').unwrap().1;
        let input = case["input"].as_str().unwrap();
        let outcome = read(input);
        if let Ok(parsed) = &outcome {
            assert!(!invents(&parsed.value, input), "{id} invents: {:?}", parsed.value);
        }
        if TRUNCATED.contains(&id) {
            cut += 1;
            if outcome != Err(Unparsed::Truncated) {
                wrong.push(format!("{id}: not truncated but {outcome:?}"));
            }
            continue;
        }
        if case["kwargs"].get("schema").is_some() || case["has_expected_json"] != true {
            continue;
        }
        let expected = &case["expected_json"];
        let is_equal = match &outcome {
            Ok(parsed) => same(&parsed.value, expected),
            Err(_) => expected == "",
        };
        whole += 1;
        equal += usize::from(is_equal);
        if case["kwargs"] == serde_json::json!({}) {
            plain += 1;
            plain_equal += usize::from(is_equal);
        }
        let known = OTHERWISE.iter().any(|(other, _)| *other == id);
        if known == is_equal {
            wrong.push(format!("{id}: equal {is_equal}, {outcome:?}, expected {expected}"));
        }
    }
    println!("json-repair: plain options {plain_equal} of {plain} as expected,");
    println!("all options without a schema {equal} of {whole}, {cut} cut off");
    for (id, why) in OTHERWISE {
        println!("  {id}: {why}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(plain_equal * 10 >= plain * 9, "{plain_equal} of {plain}");
    assert!(cut == TRUNCATED.len());
}

#[test]
fn a_long_document_reads_whole_and_its_damaged_copy_is_truncated() {
    let Some(folder) = folder() else {
        return eprintln!("skipped: KUHAKU_BENCH_DATA names no folder with json-repair");
    };
    let whole = std::fs::read_to_string(folder.join("valid.json.txt")).unwrap();
    let parsed = read(&whole).unwrap();
    assert_eq!(parsed.value, serde_json::from_str::<Value>(&whole).unwrap());
    assert_eq!(parsed.repairs, []);
    let damaged = std::fs::read_to_string(folder.join("invalid.json.txt")).unwrap();
    assert_eq!(read(&damaged), Err(Unparsed::Truncated)); // its last bracket is gone
    let closed = read(&format!("{damaged}]")).unwrap();
    assert_eq!(closed.value, parsed.value);
}
