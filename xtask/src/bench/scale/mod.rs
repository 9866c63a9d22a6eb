//! The suite `scale`: the durable index at 100,000 chunks (`scale-million` at 1,000,000), beside tantivy
//! and bm25s in memory.

mod ours;

use std::fs;
use std::path::Path;
use std::process::Command;

use kuhaku_testkit::Scale;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::matrix;
use super::peer;
use super::report::{Report, Section};
use crate::error::{Result, cannot};

pub(crate) use ours::probe;

/// Queries of each kind.
const QUERIES: usize = 200;

/// What is measured of one engine; what it does not measure stays zero.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Peer {
    /// Indexing, from text in memory.
    index_ms: f64,
    close_ms: f64,
    open_ms: f64,
    /// The first query after opening.
    first_us: f64,
    /// Medians over queries.
    common_us: f64,
    rare_us: f64,
    /// A query before and after a document was added.
    warm_us: f64,
    added_us: f64,
    /// Resident, after opening and searching.
    memory_mb: f64,
}

pub(crate) fn run(root: &Path, chunks: usize) -> Result<Report> {
    let folder = root.join("target/bench").join(format!("scale-{chunks}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| cannot("make a folder", error))?;
    let write = |name: &str, lines: &[String]| {
        let text = lines.join("\n");
        fs::write(folder.join(name), text).map_err(|error| cannot("write a corpus", error))
    };
    let corpus = Scale::new();
    let documents = 0..chunks / Scale::CHUNKS;
    write("corpus.txt", &documents.flat_map(|number| corpus.texts(number)).collect::<Vec<_>>())?;
    write("common.txt", &corpus.common(QUERIES))?;
    write("rare.txt", &corpus.rare(QUERIES))?;

    let mut report = Report { title: format!("{chunks} chunks"), ..Report::default() };
    let filled = child("index", &folder)?;
    let ours =
        Peer { index_ms: filled.index_ms, close_ms: filled.close_ms, ..child("open", &folder)? };
    child("tagged", &folder)?;
    let scoped = child("scoped", &folder)?;
    let mut lines = vec![("kuhaku, durable".to_string(), ours)];
    match tantivy(root).and_then(|program| peer::output(Command::new(program).arg(&folder))) {
        Ok(tantivy) => {
            judge(&ours, &scoped, &tantivy, chunks, &mut report.missed);
            lines.push(("tantivy, in memory".into(), tantivy));
        }
        Err(reason) => report.skipped.push(format!("peer tantivy: {reason}")),
    }
    match bm25s(root, &folder) {
        Ok(bm25s) => lines.push(("bm25s, in memory".into(), bm25s)),
        Err(reason) => report.skipped.push(format!("peer bm25s: {reason}")),
    }
    report.sections = sections(&lines, &ours, &scoped);
    let values = lines.iter().map(|(name, peer)| json!({"name": name, "values": peer}));
    report.values =
        json!({"chunks": chunks, "lines": values.collect::<Vec<_>>(), "scoped": scoped});
    Ok(report)
}

/// What is asked; of a million chunks only that they open in time.
fn judge(ours: &Peer, scoped: &Peer, tantivy: &Peer, chunks: usize, missed: &mut Vec<String>) {
    let mut ask = |claim: &str, value: f64, limit: f64| {
        if value.is_nan() || value > limit {
            missed.push(format!("{claim}: {value:.2}, asked at most {limit}"));
        }
    };
    if chunks > 100_000 {
        ask("opening, in seconds", ours.open_ms / 1e3, 1.5);
        return;
    }
    ask("indexing against tantivy", ours.index_ms / tantivy.index_ms, 2.0);
    ask("common words against tantivy", ours.common_us / tantivy.common_us, 1.0);
    ask("rare words against tantivy", ours.rare_us / tantivy.rare_us, 1.0);
    ask("a query after one addition against a warm one", ours.added_us / ours.warm_us, 2.0);
    ask("memory in MB", ours.memory_mb, 250.0);
    ask("50 roles, common words, against no tags", scoped.common_us / ours.common_us, 3.0);
    ask("50 roles, rare words, against no tags", scoped.rare_us / ours.rare_us, 3.0);
}

fn sections(lines: &[(String, Peer)], ours: &Peer, scoped: &Peer) -> Vec<Section> {
    let columns = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect();
    let row = |(name, peer): &(String, Peer)| {
        vec![
            name.clone(),
            format!("{:.2} s", peer.index_ms / 1e3),
            format!("{:.1} µs", peer.common_us),
            format!("{:.1} µs", peer.rare_us),
        ]
    };
    let beside = Section {
        heading: "Beside others".into(),
        text:
            "Chunks of 60 words by Zipf's law, five to a document for us, one for the others. Best \
               10, three words, the median of 200 queries."
                .into(),
        columns: columns(&["engine", "indexing", "common words", "rare words"]),
        rows: lines.iter().map(row).collect(),
    };
    let line = |name: &str, value: String| vec![name.to_string(), value];
    let alone = Section {
        heading: "The durable index".into(),
        text: String::new(),
        columns: columns(&["measure", "value"]),
        rows: vec![
            line("closing", format!("{:.0} ms", ours.close_ms)),
            line("opening", format!("{:.0} ms", ours.open_ms)),
            line("first query after opening", format!("{:.0} µs", ours.first_us)),
            line("query before adding a document", format!("{:.1} µs", ours.warm_us)),
            line("query after adding one", format!("{:.1} µs", ours.added_us)),
            line("resident memory", format!("{:.0} MB", ours.memory_mb)),
            line("20,000 tag sets, 50 roles, common words", format!("{:.1} µs", scoped.common_us)),
            line("20,000 tag sets, 50 roles, rare words", format!("{:.1} µs", scoped.rare_us)),
            line("20,000 tag sets, resident memory", format!("{:.0} MB", scoped.memory_mb)),
        ],
    };
    vec![beside, alone]
}

/// This program again, as one engine alone.
fn child(task: &str, folder: &Path) -> Result<Peer> {
    let program = std::env::current_exe().map_err(|error| cannot("find this program", error))?;
    peer::output(Command::new(program).args(["bench-probe", task]).arg(folder))
        .map_err(|reason| cannot(format!("probe {task}"), reason))
}

/// Builds the tantivy peer as a project of its own; the reason when that cannot be done here.
fn tantivy(root: &Path) -> std::result::Result<std::path::PathBuf, String> {
    const MANIFEST: &str = "[package]\nname = \"tantivy-peer\"\nversion = \"0.0.0\"\n\
        edition = \"2024\"\n\n[workspace]\n\n[dependencies]\ntantivy = \"0.25\"\n";
    let home = root.join("target/peers/tantivy");
    let told = |error: std::io::Error| error.to_string();
    fs::create_dir_all(home.join("src")).map_err(told)?;
    fs::write(home.join("Cargo.toml"), MANIFEST).map_err(told)?;
    fs::copy(root.join("xtask/bench/tantivy_peer.rs"), home.join("src/main.rs")).map_err(told)?;
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet"])
        .current_dir(&home)
        .env("CARGO_TARGET_DIR", home.join("target"))
        .output()
        .map_err(told)?;
    if !built.status.success() {
        return Err("it cannot be built here".into());
    }
    Ok(home.join("target/release/tantivy-peer"))
}

fn bm25s(root: &Path, folder: &Path) -> std::result::Result<Peer, String> {
    let matrix = matrix::Matrix::read(&root.join("xtask/bench/retrieval.toml"))
        .map_err(|error| error.to_string())?;
    let peer = matrix.peers.iter().find(|peer| peer.name.starts_with("bm25s"));
    let installed = peer::install(root, peer.ok_or("it is not among the peers")?)?;
    let script = root.join("xtask/bench/bm25s_scale.py");
    peer::output(Command::new(&installed.python).arg(script).arg(folder))
}
