//! The suite `vectors`: the nearest of 100,000 vectors, by our exact scan and our graph, beside a plain
//! scan of 32-bit numbers and Python's numpy, hnswlib and usearch.

mod data;
mod durable;
mod ours;
mod plain;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use kuhaku::eval::{mean, percentile};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::embed::Vectors;
use super::matrix::Peer;
use super::peer;
use super::report::{Report, Section};
use crate::error::{Result, cannot};

pub(crate) use ours::probe;

/// How many vectors, and how many questions at most.
const ROWS: usize = 100_000;
const QUERIES: usize = 300;
/// How many rows a question asks for.
const COUNT: usize = 10;
/// How often each engine is started in turn; the best time of each query counts.
const ROUNDS: usize = 3;
const SEED: u64 = 0;
/// The engines of which something is asked.
const PLAIN: &str = "plain scan, f32";
const EXACT: &str = "kuhaku, exact";
const GRAPH: &str = "kuhaku, hnsw";
/// The documents whose vectors are built on, and the questions.
const DOCUMENTS: &str = "scifact-docs.e5";
const QUESTIONS: [&str; 2] = ["scifact-test.e5", "scifact-train.e5"];

/// What one engine did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Measured {
    build_ms: f64,
    /// Of each query.
    query_us: Vec<f64>,
    memory_mb: f64,
    /// The numbers of the rows that each query found, best first.
    hits: Vec<Vec<u32>>,
    #[serde(default)]
    setting: String,
}

impl Measured {
    fn built(mut self, build_ms: f64, memory_mb: f64) -> Self {
        (self.build_ms, self.memory_mb) = (build_ms, memory_mb);
        self
    }

    fn at(&self, percent: f64) -> f64 {
        percentile(&self.query_us, percent).unwrap_or(f64::NAN)
    }

    /// The mean share of the true rows that were found.
    fn recall(&self, truth: &[Vec<u32>]) -> f64 {
        let of = |(hits, truth): (&Vec<u32>, &Vec<u32>)| {
            let hits: BTreeSet<&u32> = hits.iter().collect();
            truth.iter().filter(|row| hits.contains(row)).count() as f64 / truth.len() as f64
        };
        mean(&self.hits.iter().zip(truth).map(of).collect::<Vec<_>>()).unwrap_or(f64::NAN)
    }
}

pub(crate) fn run(root: &Path, vectors: &Path) -> Result<Report> {
    let mut report =
        Report { title: format!("The nearest of {ROWS} vectors"), ..Report::default() };
    let read = |name: &str| Vectors::read(vectors, name);
    let Some(documents) = read(DOCUMENTS)? else {
        report.skipped.push(format!("{DOCUMENTS}: not in the data folder"));
        return Ok(report);
    };
    let mut questions = Vec::new();
    for name in QUESTIONS {
        questions.extend(read(name)?);
    }
    let folder = root.join("target/bench/vectors");
    let shape = data::write(&folder, &documents, &questions, (ROWS, QUERIES), SEED)?;

    let mut plain = child("plain", &folder)?;
    let truth = plain.hits.clone();
    let bytes: Vec<u8> = truth.iter().flatten().flat_map(|row| row.to_le_bytes()).collect();
    fs::write(folder.join("truth.i32"), bytes).map_err(|error| cannot("write the truth", error))?;
    let mut exact = child("exact", &folder)?;
    for _ in 1..ROUNDS {
        keep_best(&mut plain, &child("plain", &folder)?);
        keep_best(&mut exact, &child("exact", &folder)?);
    }
    let mut lines = vec![(PLAIN.to_string(), plain), (EXACT.to_string(), exact)];
    lines.push((GRAPH.to_string(), child("hnsw", &folder)?));
    match install(root) {
        Ok(python) => {
            for engine in ["numpy", "hnswlib", "usearch"] {
                match python.ask(&folder, &[engine]) {
                    Ok(measured) => lines.push((format!("{engine}, python"), measured)),
                    Err(error) => report.skipped.push(format!("peer {engine}: {error}")),
                }
            }
        }
        Err(reason) => report.skipped.push(format!("peers: {reason}")),
    }
    let (filled, opened) = (child("fill", &folder)?, child("open", &folder)?);
    judge(&lines, &truth, &mut report.missed);
    report.sections.push(section(&lines, &truth, shape));
    report.sections.push(Section {
        heading: "The durable index with words and vectors".into(),
        text: format!(
            "{ROWS} chunks of 60 words, five to a document, a vector each; memory after opening and \
             searching, the generator of words included."
        ),
        columns: ["filling s", "opening ms", "MB"].map(String::from).into(),
        rows: vec![vec![
            format!("{:.1}", filled.build_ms / 1e3),
            format!("{:.0}", opened.build_ms),
            format!("{:.0}", opened.memory_mb),
        ]],
    });
    let values = lines.iter().map(|(name, line)| {
        json!({
            "name": name, "recall@10": line.recall(&truth), "p50_us": line.at(50.0),
            "p99_us": line.at(99.0), "build_ms": line.build_ms, "memory_mb": line.memory_mb,
            "setting": line.setting,
        })
    });
    report.values = json!({
        "seed": SEED, "shape": shape, "lines": values.collect::<Vec<_>>(),
        "durable": {
            "fill_ms": filled.build_ms, "open_ms": opened.build_ms, "memory_mb": opened.memory_mb,
        },
    });
    Ok(report)
}

/// Takes over what was faster in another run of the same engine.
fn keep_best(best: &mut Measured, other: &Measured) {
    best.build_ms = best.build_ms.min(other.build_ms);
    for (best, other) in best.query_us.iter_mut().zip(&other.query_us) {
        *best = best.min(*other);
    }
}

fn judge(lines: &[(String, Measured)], truth: &[Vec<u32>], missed: &mut Vec<String>) {
    let line = |wanted: &str| lines.iter().find(|(name, _)| name == wanted).map(|(_, it)| it);
    let mut ask = |claim: &str, value: f64, holds: bool| {
        if !holds {
            missed.push(format!("{claim}: got {value:.4}"));
        }
    };
    if let (Some(plain), Some(exact)) = (line(PLAIN), line(EXACT)) {
        let recall = exact.recall(truth);
        ask("exact: recall@10 of at least 0.999", recall, recall >= 0.999);
        let share = exact.at(50.0) / plain.at(50.0);
        ask("exact: p50 at most a third of the plain scan's", share, share <= 1.0 / 3.0);
    }
    if let Some(graph) = line(GRAPH) {
        let recall = graph.recall(truth);
        ask("hnsw: recall@10 of at least 0.98", recall, recall >= 0.98);
    }
}

fn section(lines: &[(String, Measured)], truth: &[Vec<u32>], shape: data::Shape) -> Section {
    let plain = lines.first().map_or(f64::NAN, |(_, plain)| plain.at(50.0));
    let row = |(name, line): &(String, Measured)| {
        vec![
            name.clone(),
            line.setting.clone(),
            format!("{:.4}", line.recall(truth)),
            format!("{:.0}", line.at(50.0)),
            format!("{:.0}", line.at(99.0)),
            format!("{:.2}", line.at(50.0) / plain),
            format!("{:.2}", line.build_ms / 1e3),
            format!("{:.0}", line.memory_mb),
        ]
    };
    Section {
        heading: format!("{} vectors of {}", shape.rows, shape.dimension),
        text: format!(
            "{} questions, the best {COUNT}, each engine in a process of its own on one thread to \
             search; times are the best of three per query. Memory is what the index adds, and for \
             ours holds the documents too.",
            shape.queries
        ),
        columns: [
            "engine",
            "setting",
            "recall@10",
            "p50 µs",
            "p99 µs",
            "times the plain scan",
            "build s",
            "MB",
        ]
        .map(String::from)
        .into(),
        rows: lines.iter().map(row).collect(),
    }
}

fn install(root: &Path) -> std::result::Result<peer::Installed, String> {
    let packages = ["numpy", "hnswlib==0.8.0", "usearch==2.26.6"].map(String::from).into();
    let script = "vectors_peer.py".to_owned();
    peer::install(root, &Peer { name: "vectors".into(), packages, script })
}

/// This program again, with one engine alone.
fn child(engine: &str, folder: &Path) -> Result<Measured> {
    let tried = || format!("probe vectors with {engine}");
    let program = std::env::current_exe().map_err(|error| cannot(tried(), error))?;
    let mut command = Command::new(program);
    command.args(["bench-probe", &format!("vectors-{engine}")]).arg(folder);
    peer::output(&mut command).map_err(|reason| cannot(tried(), reason))
}
