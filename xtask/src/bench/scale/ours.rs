//! Our part of the suite, in a process of its own: its memory is that of the index alone.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use kuhaku::Scope;
use kuhaku::index::{Batch, ChunkIndex as _, OpenOptions, SparseQuery, SqliteIndex};
use kuhaku_core::Runtime;
use kuhaku_testkit::Scale;

use super::super::block_on;
use super::{Peer, QUERIES};
use crate::error::{Result, cannot};

/// Documents per transaction.
const BATCH: usize = 500;
/// How often one document is added before the next query.
const ADDITIONS: usize = 60;

/// `index FOLDER` fills an index in `FOLDER/index` from `FOLDER/corpus.txt`, `tagged FOLDER` the same
/// with 20,000 tag sets; `open FOLDER` opens the first, searches and adds documents, `scoped FOLDER`
/// searches the second as a caller of 50 roles. Prints the measures as JSON.
pub(crate) fn probe(task: &str, folder: &Path) -> Result<()> {
    let measured = match task {
        "index" => block_on(fill(folder, "index", &Scale::new()))??,
        "tagged" => block_on(fill(folder, "tagged", &Scale::new().tagged()))??,
        "open" => block_on(open(folder))??,
        "scoped" => block_on(scoped(folder))??,
        _ => return Err(cannot(format!("probe {task}"), "there is no such task")),
    };
    let json = serde_json::to_string(&measured).map_err(|error| cannot("print", error))?;
    println!("{json}");
    Ok(())
}

fn options(folder: &Path, name: &str) -> OpenOptions {
    OpenOptions::new(folder.join(name), Runtime::system())
}

fn failed(error: impl std::fmt::Display) -> crate::error::Error {
    cannot("measure the index", error)
}

async fn fill(folder: &Path, name: &str, corpus: &Scale) -> Result<Peer> {
    let texts = fs::read_to_string(folder.join("corpus.txt")).map_err(failed)?;
    let lines: Vec<&str> = texts.lines().collect();
    let begun = Instant::now();
    let index = SqliteIndex::open(options(folder, name).create(true)).await.map_err(failed)?;
    let documents: Vec<&[&str]> = lines.chunks(Scale::CHUNKS).collect();
    for (at, documents) in documents.chunks(BATCH).enumerate() {
        let mut batch = Batch::new();
        for (place, chunks) in documents.iter().enumerate() {
            let record = corpus.record(at * BATCH + place, chunks);
            batch = batch.upsert(record.map_err(failed)?);
        }
        index.apply(batch).await.map_err(failed)?;
    }
    let index_ms = begun.elapsed().as_secs_f64() * 1e3;
    let begun = Instant::now();
    index.close().await;
    let open_ms = begun.elapsed().as_secs_f64() * 1e3;
    Ok(Peer { index_ms, close_ms: open_ms, ..Peer::default() })
}

async fn open(folder: &Path) -> Result<Peer> {
    let begun = Instant::now();
    let index = SqliteIndex::open(options(folder, "index")).await.map_err(failed)?;
    let open_ms = begun.elapsed().as_secs_f64() * 1e3;
    let everybody = Scope::anonymous();
    let common = queries(folder, "common")?;
    let rare = queries(folder, "rare")?;
    let begun = Instant::now();
    search(&index, &everybody, rare.first().map_or("", String::as_str))?;
    let first_us = begun.elapsed().as_secs_f64() * 1e6;
    let common_us = timed(&index, &everybody, &common)?;
    let rare_us = timed(&index, &everybody, &rare)?;
    let memory_mb = memory();
    let (mut warm, mut added) = (Vec::new(), Vec::new());
    let corpus = Scale::new();
    for (number, query) in common.iter().cycle().take(ADDITIONS).enumerate() {
        warm.push(time(&index, &everybody, query)?);
        let text = format!("{query} appended");
        let record = corpus.record(10_000_000 + number, &[text]).map_err(failed)?;
        index.apply(Batch::new().upsert(record)).await.map_err(failed)?;
        added.push(time(&index, &everybody, query)?);
    }
    index.close().await;
    Ok(Peer {
        common_us,
        rare_us,
        memory_mb,
        open_ms,
        first_us,
        warm_us: median(warm),
        added_us: median(added),
        ..Peer::default()
    })
}

async fn scoped(folder: &Path) -> Result<Peer> {
    let index = SqliteIndex::open(options(folder, "tagged")).await.map_err(failed)?;
    let caller = Scale::caller();
    let common_us = timed(&index, &caller, &queries(folder, "common")?)?;
    let rare_us = timed(&index, &caller, &queries(folder, "rare")?)?;
    let memory_mb = memory();
    Ok(Peer { common_us, rare_us, memory_mb, ..Peer::default() })
}

/// The same queries as the peers have, so that no generator is in the memory that is measured.
fn queries(folder: &Path, name: &str) -> Result<Vec<String>> {
    let text = fs::read_to_string(folder.join(format!("{name}.txt"))).map_err(failed)?;
    Ok(text.lines().take(QUERIES).map(str::to_owned).collect())
}

fn search(index: &SqliteIndex, scope: &Scope, query: &str) -> Result<()> {
    let hits = index.view(scope).sparse(&SparseQuery::new(query, 10)).map_err(failed)?;
    black_box(hits);
    Ok(())
}

/// One query once, in microseconds.
fn time(index: &SqliteIndex, scope: &Scope, query: &str) -> Result<f64> {
    let begun = Instant::now();
    search(index, scope, query)?;
    Ok(begun.elapsed().as_secs_f64() * 1e6)
}

/// The median over queries of the best of three runs, in microseconds, warm.
fn timed(index: &SqliteIndex, scope: &Scope, queries: &[String]) -> Result<f64> {
    let mut times = Vec::new();
    for query in queries {
        search(index, scope, query)?;
    }
    for query in queries {
        let runs = [(); 3].map(|()| time(index, scope, query));
        let mut best = f64::INFINITY;
        for run in runs {
            best = best.min(run?);
        }
        times.push(best);
    }
    Ok(median(times))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What this process holds in memory, in millions of bytes; nothing where the system does not say.
fn memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    let kib = line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib * 1024.0 / 1e6)
}
