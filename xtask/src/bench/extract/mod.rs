//! The suite `extract`: which schemas are read, whether the check of values is right, and whether
//! broken replies are read as what they say.

mod functions;
mod real;
mod repair;
mod speed;
mod suite;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::report::{Report, Section};
use crate::error::{Result, cannot};

type Part = fn(&Path, &mut Report) -> Result<Value>;

pub(crate) fn run(data: &Path) -> Result<Report> {
    let mut report = Report { title: "Structured extraction".into(), ..Report::default() };
    let parts: [(&str, Part); 4] = [
        ("json-schema-test-suite", suite::run),
        ("jsonschemabench", real::run),
        ("bfcl", functions::run),
        ("json-repair", repair::run),
    ];
    let mut values = Map::new();
    for (set, part) in parts {
        let folder = data.join(set);
        if folder.is_dir() {
            values.insert(set.into(), part(&folder, &mut report)?);
        } else {
            report.skipped.push(format!("set {set}: not in the data folder"));
        }
    }
    values.insert("speed".into(), speed::run(&mut report)?);
    report.values = values.into();
    Ok(report)
}

/// The rows of a set, packed or not.
fn rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let tried = || format!("read {}", path.display());
    let mut file = BufReader::new(File::open(path).map_err(|error| cannot(tried(), error))?);
    let mut text = String::new();
    let read = if path.extension().is_some_and(|extension| extension == "gz") {
        MultiGzDecoder::new(file).read_to_string(&mut text)
    } else {
        file.read_to_string(&mut text)
    };
    read.map_err(|error| cannot(tried(), error))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let rows = lines.map(|line| serde_json::from_str(line));
    rows.collect::<std::result::Result<_, _>>().map_err(|error| cannot(tried(), error))
}

/// `k of n`, and the share.
fn share(part: usize, all: usize) -> String {
    if all == 0 {
        return "none".into();
    }
    format!("{part} of {all} ({:.2} %)", percent(part, all))
}

fn percent(part: usize, all: usize) -> f64 {
    if all == 0 { 100.0 } else { 100.0 * part as f64 / all as f64 }
}

/// How often each reason came up, without the names that it holds.
#[derive(Debug, Default)]
struct Reasons(BTreeMap<String, usize>);

impl Reasons {
    fn add(&mut self, reason: &str) {
        let parts = reason.split('`').enumerate();
        let shape: Vec<&str> =
            parts.map(|(place, part)| if place % 2 == 0 { part } else { "…" }).collect();
        *self.0.entry(shape.join("`")).or_default() += 1;
    }

    fn section(&self, heading: &str) -> Option<Section> {
        let row =
            |(reason, count): (&String, &usize)| vec![reason.replace('|', "/"), count.to_string()];
        (!self.0.is_empty()).then(|| Section {
            heading: heading.into(),
            text: String::new(),
            columns: ["reason", "n"].map(String::from).to_vec(),
            rows: self.0.iter().map(row).collect(),
        })
    }
}
