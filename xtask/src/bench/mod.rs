//! `cargo xtask bench`: numbers that others can make again.
//!
//! A suite runs in release mode, prints what it skips, and writes JSON and Markdown with the machine,
//! the commit, the seed, the hashes of the sets and a calibration loop, so that ratios can be
//! compared where absolute times cannot (D40).

mod abstention;
mod cold;
mod embed;
mod extract;
mod hybrid;
mod machine;
mod matrix;
mod peer;
mod report;
mod retrieval;
mod scale;
pub(crate) mod security;
mod vectors;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::error::{Result, cannot};

/// One engine of a suite in a process of its own; `task` names both.
pub(crate) fn probe(task: &str, folder: &Path) -> Result<()> {
    match task.strip_prefix("vectors-") {
        Some(engine) => vectors::probe(engine, folder),
        None => scale::probe(task, folder),
    }
}

/// Where the sets are.
const DATA: &str = "KUHAKU_BENCH_DATA";

/// Runs a suite; in a debug build, runs itself again in release mode first.
pub(crate) fn run(root: &Path, suite: &str, out: Option<&str>) -> Result<ExitCode> {
    if cfg!(debug_assertions) {
        let mut again = Command::new(env!("CARGO"));
        again.args(["run", "--release", "--quiet", "--package", "xtask", "--", "bench", suite]);
        again.args(out).current_dir(root);
        let status = again.status().map_err(|error| cannot("run the bench in release", error))?;
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let out = out.map_or_else(|| root.join("target/bench"), |out| root.join(out));
    match suite {
        "scale" => return finish(root, &out, suite, || scale::run(root, 100_000)),
        "scale-million" => return finish(root, &out, suite, || scale::run(root, 1_000_000)),
        _ => {}
    }
    let Some(data) = std::env::var_os(DATA).map(PathBuf::from) else {
        println!("skipped: {DATA} is not set; it names the folder with the sets");
        return Ok(ExitCode::SUCCESS);
    };
    let data = root.join(data);
    finish(root, &out, suite, || match suite {
        "retrieval" => retrieval::run(root, &data),
        "hybrid" => hybrid::run(root, &data),
        "vectors" => vectors::run(root, &data.join("vectors")),
        "abstention" => abstention::run(&data),
        "cold" => cold::run(root, &data),
        "security" => security::run(&data),
        "extract" => extract::run(&data),
        _ => Err(cannot(format!("run the suite {suite}"), "there is none of that name")),
    })
}

/// Writes the vectors of a set.
pub(crate) fn embed(root: &Path, arguments: &[&str]) -> Result<ExitCode> {
    embed::run(root, arguments)
}

/// Runs a suite and writes down what it found.
fn finish(
    root: &Path,
    out: &Path,
    suite: &str,
    run: impl FnOnce() -> Result<report::Report>,
) -> Result<ExitCode> {
    let begun = Instant::now();
    let report = run()?;
    let machine = machine::describe(root);
    report.write(out, suite, &machine)?;
    println!("{}", report.markdown(&machine));
    println!("took {} s; written to {}", begun.elapsed().as_secs(), out.display());
    Ok(if report.missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Drives a future to its end on this thread.
fn block_on<T>(future: impl Future<Output = T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok(runtime.map_err(|error| cannot("start a runtime", error))?.block_on(future))
}
