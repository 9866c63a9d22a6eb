//! Replies that are nearly JSON, as another library repairs them.

use std::path::Path;

use kuhaku::extract::{Parsed, ReplyLimits, Unparsed, Verdict, parse_reply};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::report::{Report, Section};
use super::{percent, rows, share};
use crate::error::Result;

const AT_LEAST: f64 = 90.0;

#[derive(Deserialize)]
struct Row {
    id: String,
    input: String,
    kwargs: Map<String, Value>,
    expected_json: Value,
    has_expected_json: bool,
}

pub(super) fn run(folder: &Path, report: &mut Report) -> Result<Value> {
    let (mut whole, mut equal, mut cut, mut cut_said, mut open) = (0, 0, 0, 0, 0);
    let mut other = Vec::new();
    for row in rows::<Row>(&folder.join("cases.jsonl"))? {
        if !row.kwargs.is_empty() || !row.has_expected_json {
            continue;
        }
        let read = read(&row.input);
        let found = match &read {
            Ok(_) => "another value",
            Err(reason) => reason.as_str(),
        };
        let as_asked = if is_cut_off(&row.input) {
            cut += 1;
            let said = read == Err(Unparsed::Truncated);
            cut_said += usize::from(said);
            said
        } else if read == Err(Unparsed::Truncated) && row.input.matches('"').count() % 2 == 1 {
            open += 1;
            true
        } else {
            whole += 1;
            // The other library writes the empty text where nothing can be read.
            let same = read
                .as_ref()
                .map_or(row.expected_json == "", |parsed| same(&parsed.value, &row.expected_json));
            equal += usize::from(same);
            same
        };
        if !as_asked {
            let name = row.id.split_once(':').map_or(row.id.as_str(), |(_, name)| name);
            other.push(vec![name.to_owned(), found.to_owned()]);
        }
    }
    if percent(equal, whole) < AT_LEAST {
        report.missed.push(format!("json-repair: {} < {AT_LEAST} %", share(equal, whole)));
    }
    report.sections.push(Section {
        heading: "Broken replies (json-repair, plain options)".into(),
        text:
            "A reply counts as cut off when it opens more braces and brackets than it closes. One \
               that is said to be cut off and has an odd number of quotes may be either."
                .into(),
        columns: ["whole replies read as expected", "cut off and said so", "either"]
            .map(String::from)
            .to_vec(),
        rows: vec![vec![share(equal, whole), share(cut_said, cut), open.to_string()]],
    });
    report.sections.push(Section {
        heading: "Replies that are read otherwise".into(),
        columns: ["case", "found"].map(String::from).to_vec(),
        rows: other,
        ..Section::default()
    });
    Ok(json!({"whole": whole, "equal": equal, "cut": cut, "cut_said": cut_said, "either": open}))
}

/// The first object or list with something in it; an empty one if there is no other.
fn read(text: &str) -> std::result::Result<Parsed, Unparsed> {
    parse_reply(text, &ReplyLimits::default(), &mut |value| match value {
        Value::Object(entries) if entries.is_empty() => Verdict::Usable(0),
        Value::Array(items) if items.is_empty() => Verdict::Usable(0),
        Value::Object(_) | Value::Array(_) => Verdict::Satisfied,
        _ => Verdict::Refused,
    })
}

fn is_cut_off(text: &str) -> bool {
    // A list that ends with a brace is a slip in a whole reply, so both kinds count together.
    text.matches(['{', '[']).count() > text.matches(['}', ']']).count()
}

/// Equal, a number by its value.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let of = |(name, one): (&String, &Value)| {
                other.get(name).is_some_and(|other| same(one, other))
            };
            one.len() == other.len() && one.iter().all(of)
        }
        (one, other) => one == other,
    }
}
