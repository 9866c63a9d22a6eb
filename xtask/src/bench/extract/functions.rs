//! Descriptions of functions, with the arguments that are right for a question.

use std::collections::BTreeMap;
use std::path::Path;

use kuhaku::extract::{Coercion, Schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::report::{Report, Section};
use super::{Reasons, rows, share};
use crate::error::Result;

/// The slices of one turn.
const SLICES: [&str; 9] = [
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_parallel",
    "live_parallel_multiple",
    "irrelevance",
    "live_relevance",
];

#[derive(Deserialize)]
struct Row {
    function: Vec<Value>,
    ground_truth: Option<Vec<Map<String, Value>>>,
}

#[derive(Default)]
struct Count {
    functions: usize,
    accepted: usize,
    calls: usize,
    complete: usize,
    coerced: usize,
}

pub(super) fn run(folder: &Path, report: &mut Report) -> Result<Value> {
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let (mut reasons, mut problems) = (Reasons::default(), Reasons::default());
    for slice in SLICES {
        let path = folder.join(format!("{slice}.jsonl.gz"));
        if !path.is_file() {
            report.skipped.push(format!("bfcl, {slice}: not in the data folder"));
            continue;
        }
        let count = counts.entry(slice).or_default();
        for row in rows::<Row>(&path)? {
            let mut schemas = BTreeMap::new();
            for function in &row.function {
                count.functions += 1;
                match Schema::from_function(function) {
                    Ok(schema) => {
                        count.accepted += 1;
                        schemas.insert(schema.name().to_owned(), schema);
                    }
                    Err(error) => reasons.add(error.wrong()),
                }
            }
            for (name, arguments) in row.ground_truth.iter().flatten().flatten() {
                let Some(schema) = schemas.get(name) else { continue };
                count.calls += 1;
                let checked = schema.check(&plain(arguments), &Coercion::lenient());
                count.complete += usize::from(checked.is_complete());
                count.coerced += usize::from(!checked.coercions.is_empty());
                for problem in &checked.problems {
                    problems.add(&problem.message);
                }
                for _ in &checked.missing {
                    problems.add("missing");
                }
            }
        }
    }
    report.sections.push(Section {
        heading: "Functions (BFCL, slices of one turn)".into(),
        text:
            "Each function's schema is accepted, or refused with a reason. A call takes the first \
               accepted value of each argument."
                .into(),
        columns: ["slice", "schemas accepted", "right calls complete", "of them with a coercion"]
            .map(String::from)
            .to_vec(),
        rows: counts
            .iter()
            .map(|(slice, count)| {
                vec![
                    (*slice).to_owned(),
                    share(count.accepted, count.functions),
                    share(count.complete, count.calls),
                    count.coerced.to_string(),
                ]
            })
            .collect(),
    });
    report.sections.extend(reasons.section("Functions that are refused"));
    report.sections.extend(problems.section("What is wrong with right calls"));
    let numbers = counts.iter().map(|(slice, count)| {
        json!({"slice": slice, "functions": count.functions, "accepted": count.accepted,
            "calls": count.calls, "complete": count.complete})
    });
    Ok(numbers.collect())
}

/// The arguments of a call: the first accepted value of each. The empty text among the values means
/// that the argument may be left out.
fn call(arguments: &Map<String, Value>) -> Value {
    let first = |(name, values): (&String, &Value)| {
        let value = values.as_array()?.first().filter(|value| *value != "")?;
        Some((name.clone(), plain(value)))
    };
    Value::Object(arguments.iter().filter_map(first).collect())
}

/// Within an object, each argument again has a list of accepted values.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(arguments) => call(arguments),
        Value::Array(items) => items.iter().map(plain).collect(),
        scalar => scalar.clone(),
    }
}
