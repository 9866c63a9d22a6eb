//! The suite `cold`: how long a command takes that opens an index, answers and ends.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use kuhaku::eval::{BeirFolder, Dataset, percentile};
use serde_json::{Value, json};

use super::report::{Report, Section};
use crate::error::{Result, cannot};

/// The set whose corpus is the index, and the split whose queries are asked.
const SET: &str = "scifact";
const SPLIT: &str = "test";
/// Queries that are timed, each once.
const RUNS: usize = 40;
/// Runs in which memory is looked at instead.
const LOOKS: usize = 5;
/// How often the memory of a running command is looked at.
const PAUSE: Duration = Duration::from_micros(250);
/// What is asked of a search: milliseconds at the median, and resident at the peak.
const MILLISECONDS: f64 = 40.0;
const MEGABYTES: f64 = 100.0;

/// What a command does for a query; nothing for what only starts and ends.
const TASKS: [(&str, &[&str]); 3] = [
    ("--version", &["--version"]),
    ("search", &["search", "--"]),
    ("ask, without a model", &["ask", "--provider", "none", "--"]),
];

/// The program and the index that it opens.
struct Subject {
    program: PathBuf,
    index: PathBuf,
}

pub(crate) fn run(root: &Path, data: &Path) -> Result<Report> {
    let folder = BeirFolder::open(data.join(SET)).map_err(|error| cannot("open a set", error))?;
    let dataset = folder.dataset(SPLIT).map_err(|error| cannot("read a set", error))?;
    let home = root.join("target/bench/cold");
    let subject = Subject { program: build(root)?, index: home.join("index") };
    let documents = write_documents(&folder, &home)?;
    let _ = fs::remove_dir_all(&subject.index);
    subject.done(&["ingest"], home.join("documents"))?;

    let queries = texts(&dataset);
    let mut times = [const { Vec::new() }; TASKS.len()];
    // The first queries bring program and index into the page cache.
    for (number, query) in queries.iter().take(LOOKS).chain(&queries).take(LOOKS + RUNS).enumerate()
    {
        for ((_, arguments), times) in TASKS.iter().zip(&mut times) {
            let took = subject.timed(arguments, query)?;
            if number >= LOOKS {
                times.push(took);
            }
        }
    }
    let mut peaks = [0.0_f64; TASKS.len()];
    for query in queries.iter().take(LOOKS) {
        for ((_, arguments), peak) in TASKS.iter().zip(&mut peaks) {
            *peak = peak.max(subject.peak(arguments, query)?);
        }
    }
    report(documents, &subject.size()?, &times, &peaks)
}

fn report(
    documents: usize,
    size: &Size,
    times: &[Vec<f64>; TASKS.len()],
    peaks: &[f64; TASKS.len()],
) -> Result<Report> {
    let mut report = Report { title: "A cold command".into(), ..Report::default() };
    let at = |times: &[f64], percent| percentile(times, percent).unwrap_or(f64::NAN);
    let bare = times.first().map_or(f64::NAN, |times| at(times, 50.0));
    let mut values = Vec::new();
    let mut rows = Vec::new();
    for (((name, _), times), peak) in TASKS.iter().zip(times).zip(peaks) {
        let (p50, p95) = (at(times, 50.0), at(times, 95.0));
        rows.push(vec![
            format!("`kuhaku {name}`"),
            format!("{p50:.1}"),
            format!("{p95:.1}"),
            format!("{:.1}", p50 / bare),
            format!("{peak:.0}"),
        ]);
        values.push(json!({ "name": name, "p50_ms": p50, "p95_ms": p95, "peak_mb": peak }));
        if *name == "search" {
            let asked = [("milliseconds", p50, MILLISECONDS), ("MB", *peak, MEGABYTES)];
            for (unit, found, limit) in asked {
                if found.is_nan() || found > limit {
                    report.missed.push(format!("search: {found:.1} {unit}, asked at most {limit}"));
                }
            }
        }
    }
    report.sections = vec![Section {
        heading: format!("{SET}, {documents} documents, {} chunks", size.chunks),
        text: format!(
            "Each in a process of its own, from its start to the end of its output, {RUNS} queries in \
             turn, files in the page cache; the index has {:.1} MB, its snapshot {:.1} MB.",
            size.index_mb, size.snapshot_mb
        ),
        columns: ["command", "p50 ms", "p95 ms", "times `--version`", "peak MB"]
            .map(str::to_owned)
            .to_vec(),
        rows,
    }];
    report.values = json!({
        "documents": documents,
        "chunks": size.chunks,
        "index_mb": size.index_mb,
        "snapshot_mb": size.snapshot_mb,
        "commands": values,
    });
    Ok(report)
}

/// Builds the command as it is shipped.
fn build(root: &Path) -> Result<PathBuf> {
    let tried = "build the command in release";
    let output = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "--package", "kuhaku-cli"])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| cannot(tried, error))?;
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut made = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        message.get("executable")?.as_str().map(PathBuf::from)
    });
    made.next_back().ok_or_else(|| cannot(tried, "cargo names no program that it has made"))
}

/// Writes a file per document, and says how many.
fn write_documents(folder: &BeirFolder, home: &Path) -> Result<usize> {
    let failed = |error: &dyn std::fmt::Display| cannot("write the documents", error);
    let to = home.join("documents");
    let _ = fs::remove_dir_all(&to);
    fs::create_dir_all(&to).map_err(|error| failed(&error))?;
    let mut count = 0;
    for document in folder.corpus().map_err(|error| failed(&error))? {
        let document = document.map_err(|error| failed(&error))?;
        // Ids of a set may be no names of files.
        let text = format!("# {}\n\n{}\n", document.title, document.text);
        fs::write(to.join(format!("{count:05}.md")), text).map_err(|error| failed(&error))?;
        count += 1;
    }
    Ok(count)
}

fn texts(dataset: &Dataset) -> Vec<String> {
    dataset.cases().iter().take(RUNS).map(|case| case.sample.query.clone()).collect()
}

/// What an index takes on the disk.
struct Size {
    chunks: u64,
    index_mb: f64,
    snapshot_mb: f64,
}

impl Subject {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        // Whatever this shell sets shall not decide what is measured.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("KUHAKU_") {
                command.env_remove(name);
            }
        }
        command.arg("--index").arg(&self.index).args(arguments).stdin(Stdio::null());
        command
    }

    fn done(&self, arguments: &[&str], last: impl AsRef<std::ffi::OsStr>) -> Result<Output> {
        let tried = format!("run `kuhaku {}`", arguments.join(" "));
        let output = self.command(arguments).arg(last).output();
        let output = output.map_err(|error| cannot(&tried, error))?;
        // 3: nothing in the documents answers the question, which is an answer too.
        if !matches!(output.status.code(), Some(0 | 3)) {
            return Err(cannot(tried, String::from_utf8_lossy(&output.stderr)));
        }
        Ok(output)
    }

    /// Milliseconds from the start of the process to its end.
    fn timed(&self, arguments: &[&str], query: &str) -> Result<f64> {
        let begun = Instant::now();
        self.done(arguments, query)?;
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    }

    /// The most that the process was seen to hold in memory, in millions of bytes.
    fn peak(&self, arguments: &[&str], query: &str) -> Result<f64> {
        let failed = |error| cannot("look at the memory of a command", error);
        let mut command = self.command(arguments);
        command.arg(query).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        // Its output is short enough for the pipe, so that it never waits for a reader.
        while child.try_wait().map_err(failed)?.is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
            let kib = line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok());
            peak = peak.max(kib.unwrap_or_default());
            std::thread::sleep(PAUSE);
        }
        let mut said = String::new();
        if let Some(mut output) = child.stdout.take() {
            output.read_to_string(&mut said).map_err(failed)?;
        }
        Ok(if peak == 0 { f64::NAN } else { peak as f64 * 1024.0 / 1e6 })
    }

    fn size(&self) -> Result<Size> {
        let failed = |error: &dyn std::fmt::Display| cannot("see how large the index is", error);
        let output = self.done(&["--json", "index"], "stats")?;
        let stats: Value =
            serde_json::from_slice(&output.stdout).map_err(|error| failed(&error))?;
        let chunks = stats.pointer("/totals/chunks").and_then(Value::as_u64);
        let mb = |file: &str| -> Result<f64> {
            let found = fs::metadata(self.index.join(file)).map_err(|error| failed(&error))?;
            Ok(found.len() as f64 / 1e6)
        };
        Ok(Size {
            chunks: chunks.ok_or_else(|| failed(&"it does not count its chunks"))?,
            index_mb: mb("index.sqlite3")?,
            snapshot_mb: mb("index.snapshot")?,
        })
    }
}
