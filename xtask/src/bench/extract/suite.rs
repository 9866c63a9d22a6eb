//! The official tests of JSON Schema.

use std::collections::BTreeMap;
use std::path::Path;

use kuhaku::extract::{Draft, Schema, SchemaOptions};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::report::{Report, Section};
use super::{Reasons, percent, rows, share};
use crate::error::Result;

/// What is asked of the required tests of each draft.
const AT_LEAST: f64 = 99.0;

#[derive(Deserialize)]
struct Test {
    id: String,
    draft: String,
    file: String,
    optional: bool,
    schema: Value,
    data: Value,
    valid: bool,
}

#[derive(Deserialize)]
struct Remote {
    uri: String,
    schema: Value,
}

#[derive(Default)]
struct Count {
    tests: usize,
    passed: usize,
    refused: usize,
    failed: BTreeMap<String, usize>,
}

pub(super) fn run(folder: &Path, report: &mut Report) -> Result<Value> {
    let tests: Vec<Test> = rows(&folder.join("tests.jsonl.gz"))?;
    let remotes: Vec<Remote> = rows(&folder.join("remotes.jsonl"))?;
    let mut counts: BTreeMap<(String, bool), Count> = BTreeMap::new();
    let mut reasons = Reasons::default();
    let mut read: Option<(Value, String, Option<Schema>)> = None;
    for test in &tests {
        let Some(draft) = draft(&test.draft) else {
            report.skipped.push(format!("{}: no draft of that name", test.id));
            continue;
        };
        let known =
            read.take().filter(|(schema, file, _)| *schema == test.schema && *file == test.file);
        let (_, _, schema) = read.insert(known.unwrap_or_else(|| {
            let schema = options(test, draft, &remotes).read(&test.schema);
            if let Err(error) = &schema {
                reasons.add(error.wrong());
            }
            (test.schema.clone(), test.file.clone(), schema.ok())
        }));
        let count = counts.entry((test.draft.clone(), test.optional)).or_default();
        count.tests += 1;
        match schema {
            Some(schema) if schema.is_valid(&test.data) == test.valid => count.passed += 1,
            Some(_) => *count.failed.entry(test.file.clone()).or_default() += 1,
            None => {
                count.refused += 1;
                *count.failed.entry(format!("{} (refused)", test.file)).or_default() += 1;
            }
        }
    }
    for ((draft, optional), count) in &counts {
        let rate = percent(count.passed, count.tests);
        if !optional && rate < AT_LEAST {
            report.missed.push(format!("test suite, {draft}: {rate:.2} % < {AT_LEAST} %"));
        }
    }
    report.sections.push(Section {
        heading: "JSON Schema Test Suite".into(),
        text:
            "A test passes when the value is accepted or refused as the suite says; a schema that \
               is refused fails all its tests. Formats are rules in the tests of formats only."
                .into(),
        columns: ["draft", "tests", "passed", "of refused schemas", "failed, by file"]
            .map(String::from)
            .to_vec(),
        rows: counts.iter().map(line).collect(),
    });
    report.sections.extend(reasons.section("Schemas of the suite that are refused"));
    let numbers = counts.iter().map(|((draft, optional), count)| {
        json!({"draft": draft, "optional": optional, "tests": count.tests, "passed": count.passed})
    });
    Ok(numbers.collect())
}

fn line(((draft, optional), count): (&(String, bool), &Count)) -> Vec<String> {
    let failed = count.failed.iter().map(|(file, n)| format!("{file}: {n}"));
    vec![
        format!("{draft}, {}", if *optional { "optional" } else { "required" }),
        count.tests.to_string(),
        share(count.passed, count.tests),
        count.refused.to_string(),
        failed.collect::<Vec<_>>().join("; "),
    ]
}

fn draft(name: &str) -> Option<Draft> {
    match name {
        "draft7" => Some(Draft::Draft7),
        "draft2019-09" => Some(Draft::Draft201909),
        "draft2020-12" => Some(Draft::Draft202012),
        _ => None,
    }
}

fn options(test: &Test, draft: Draft, remotes: &[Remote]) -> SchemaOptions {
    let options = SchemaOptions::new().draft(draft).formats(test.file.contains("format/"));
    if !test.schema.to_string().contains("localhost:1234") {
        return options;
    }
    // Some documents are there once per draft, under its name; those of drafts to come are no
    // use, and refer to what is not among them.
    let fits = |uri: &str| {
        !(uri.contains("/draft") || uri.contains("/v1/"))
            || uri.contains(&format!("/{}/", test.draft))
    };
    let fitting = remotes.iter().filter(|remote| fits(&remote.uri));
    fitting.fold(options, |options, remote| options.document(&remote.uri, remote.schema.clone()))
}
