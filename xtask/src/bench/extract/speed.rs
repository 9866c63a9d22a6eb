//! What the check of one value takes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use kuhaku::extract::{Coercion, Fields, Schema};
use serde_json::{Value, json};

use super::super::report::{Report, Section};
use crate::error::{Result, cannot};

const RUNS: usize = 2_000;

pub(super) fn run(report: &mut Report) -> Result<Value> {
    let line = Fields::new().text("item").integer("quantity").number("price");
    let fields = Fields::new()
        .text("customer")
        .text("city")
        .text("street")
        .date("due")
        .one_of("size", ["small", "large"])
        .boolean("express")
        .number("weight")
        .integer("boxes")
        .list("lines", line)
        .text("note")
        .optional();
    let read = || Schema::from_fields(fields.clone());
    let schema = read().map_err(|error| cannot("read the fields", error))?;
    let right = json!({"customer": "Ada", "city": "Rize", "street": "Long Road 5",
        "due": "2024-05-01", "size": "small", "express": true, "weight": 3.5, "boxes": 4,
        "lines": [{"item": "tea", "quantity": 3, "price": 2.5}], "note": null});
    let lenient = json!({"customer": "Ada", "city": "Rize", "street": null, "due": "2024/5/1",
        "size": "LARGE", "express": "yes", "weight": "3.5", "boxes": 4.0,
        "lines": [{"item": "tea", "quantity": "3", "price": null}], "note": null});
    let check = |value: &Value| {
        let checked = schema.check(black_box(value), &Coercion::lenient());
        black_box(checked.value);
    };
    let times = [
        ("reading the schema", timed(RUNS / 10, || drop(black_box(read())))),
        ("checking a value that fits", timed(RUNS, || check(&right))),
        ("checking one with six coercions and two gaps", timed(RUNS, || check(&lenient))),
    ];
    let micros = |time: Duration| format!("{:.1} µs", time.as_secs_f64() * 1e6);
    report.sections.push(Section {
        heading: "Time, for a schema of ten fields".into(),
        columns: ["what", "p50", "p99"].map(String::from).to_vec(),
        rows: times
            .iter()
            .map(|(what, (p50, p99))| vec![(*what).to_owned(), micros(*p50), micros(*p99)])
            .collect(),
        ..Section::default()
    });
    Ok(times.iter().map(|(what, (p50, _))| json!([what, p50.as_secs_f64()])).collect())
}

/// The median and the 99th percentile of some runs.
fn timed(runs: usize, run: impl Fn()) -> (Duration, Duration) {
    let one = |_| {
        let begun = Instant::now();
        run();
        begun.elapsed()
    };
    let mut times: Vec<Duration> = (0..runs).map(one).collect();
    times.sort_unstable();
    let at = |share: usize| times.get(runs * share / 100).copied().unwrap_or_default();
    (at(50), at(99))
}
