//! Schemas as people write them, with values that fit and values that do not.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use kuhaku::extract::{Coercion, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::report::{Report, Section};
use super::{Reasons, percent, rows, share};
use crate::error::Result;

const AT_LEAST: f64 = 99.0;
/// Rows that are named when they come out otherwise than the set says.
const MOST_NAMED: usize = 60;

#[derive(Deserialize)]
struct Row {
    id: String,
    source: String,
    schema: Value,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    valid: bool,
    data: Value,
}

#[derive(Clone, Default)]
struct Count {
    schemas: usize,
    accepted: usize,
    valid: usize,
    valid_passed: usize,
    invalid: usize,
    invalid_failed: usize,
    /// Valid values that the lenient check leaves as they are, but for defaults.
    unchanged: usize,
    slowest: Duration,
}

pub(super) fn run(folder: &Path, report: &mut Report) -> Result<Value> {
    let all: Vec<Row> = rows(&folder.join("schemas.jsonl.gz"))?;
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let (mut reasons, mut otherwise) = (Reasons::default(), Vec::new());
    for row in &all {
        for source in [&row.source, "all"] {
            counts.entry(source.to_owned()).or_default().schemas += 1;
        }
        let begun = Instant::now();
        let schema = match Schema::from_json(&row.schema) {
            Ok(schema) => schema,
            Err(error) => {
                reasons.add(error.wrong());
                continue;
            }
        };
        let mut here = Count { accepted: 1, ..Count::default() };
        for (number, test) in row.tests.iter().enumerate() {
            let accepted = schema.is_valid(&test.data);
            let checked = schema.check(&test.data, &Coercion::lenient());
            match (test.valid, accepted) {
                (true, _) => here.valid += 1,
                (false, _) => here.invalid += 1,
            }
            here.valid_passed += usize::from(test.valid && accepted);
            here.invalid_failed += usize::from(!test.valid && !accepted);
            let same = checked.is_complete() && checked.coercions.is_empty();
            here.unchanged += usize::from(test.valid && accepted && same);
            if accepted != test.valid {
                let said = if test.valid { "valid" } else { "invalid" };
                let problem = checked.problems.first().map_or("", |problem| &problem.message);
                otherwise.push(vec![
                    row.id.clone(),
                    number.to_string(),
                    said.to_owned(),
                    problem.replace('|', "/"),
                ]);
            }
        }
        here.slowest = begun.elapsed();
        for source in [&row.source, "all"] {
            counts.entry(source.to_owned()).or_default().add(&here);
        }
    }
    let total = counts.get("all").cloned().unwrap_or_default();
    for (what, part, of) in [
        ("valid values that pass", total.valid_passed, total.valid),
        ("invalid values that fail", total.invalid_failed, total.invalid),
        ("valid values left as they are", total.unchanged, total.valid_passed),
    ] {
        if percent(part, of) < AT_LEAST {
            report.missed.push(format!("jsonschemabench, {what}: {}", share(part, of)));
        }
    }
    report.sections.push(Section {
        heading: "Schemas from the wild (JSONSchemaBench)".into(),
        text: "Rates are over the values of schemas that are accepted. The last column is the longest \
               time for reading one schema and checking all its values, twice."
            .into(),
        columns: [
            "source",
            "schemas accepted",
            "valid values pass",
            "invalid values fail",
            "valid values unchanged",
            "slowest",
        ]
        .map(String::from)
        .to_vec(),
        rows: counts.iter().map(|(source, count)| count.line(source)).collect(),
    });
    report.sections.extend(reasons.section("Schemas from the wild that are refused"));
    let more = otherwise.len().saturating_sub(MOST_NAMED);
    otherwise.truncate(MOST_NAMED);
    report.sections.push(Section {
        heading: "Values that come out otherwise than the set says".into(),
        text: format!("{more} more are not shown."),
        columns: ["schema", "value", "the set says", "found"].map(String::from).to_vec(),
        rows: otherwise,
    });
    let numbers = counts.iter().map(|(source, count)| {
        json!({"source": source, "schemas": count.schemas, "accepted": count.accepted,
            "valid": [count.valid_passed, count.valid],
            "invalid": [count.invalid_failed, count.invalid], "unchanged": count.unchanged})
    });
    Ok(numbers.collect())
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.accepted += other.accepted;
        self.valid += other.valid;
        self.valid_passed += other.valid_passed;
        self.invalid += other.invalid;
        self.invalid_failed += other.invalid_failed;
        self.unchanged += other.unchanged;
        self.slowest = self.slowest.max(other.slowest);
    }

    fn line(&self, source: &str) -> Vec<String> {
        vec![
            source.to_owned(),
            share(self.accepted, self.schemas),
            share(self.valid_passed, self.valid),
            share(self.invalid_failed, self.invalid),
            share(self.unchanged, self.valid_passed),
            format!("{:.1} ms", self.slowest.as_secs_f64() * 1e3),
        ]
    }
}
