//! Our part of the suite, in a process of its own: its memory is that of the index alone.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use kuhaku::index::{
    Ann, Batch, ChunkRecord, DenseHit, DenseQuery, DocumentRecord, Fingerprint, IdKey, Language,
    MemoryIndex, Tokenizer, Vector,
};
use kuhaku::{DocumentId, Scope};
use kuhaku_core::{Masker as _, PiiMasker};

use super::super::block_on;
use super::data::{Matrix, Shape};
use super::{COUNT, Measured, durable, plain};
use crate::error::{Result, cannot};

pub(super) fn failed(error: impl std::fmt::Display) -> crate::error::Error {
    cannot("measure vectors", error)
}

/// One engine over the files of a folder. Prints what was measured as JSON.
pub(crate) fn probe(engine: &str, folder: &Path) -> Result<()> {
    let shape = Shape::read(folder)?;
    let queries = Matrix::read(folder, "queries.f32", shape.dimension)?;
    let measured = match engine {
        "plain" => {
            let base = Matrix::read(folder, "base.f32", shape.dimension)?;
            let memory_mb = private_mb();
            timed(&queries, |query| {
                Ok(plain::scan(&base.numbers, query, COUNT)
                    .into_iter()
                    .map(|(row, _)| row)
                    .collect())
            })?
            .built(0.0, memory_mb)
        }
        "exact" | "hnsw" => {
            let before = private_mb();
            let begun = Instant::now();
            let ann = if engine == "hnsw" { Ann::Hnsw } else { Ann::Exact };
            let index = filled(folder, &shape, ann)?;
            let filled_s = begun.elapsed().as_secs_f64();
            index.build_graphs();
            let build_ms = begun.elapsed().as_secs_f64() * 1e3;
            let mut measured = searched(&index, &queries)?.built(build_ms, private_mb() - before);
            measured.setting = format!("{:.1} s of it the documents", filled_s);
            measured
        }
        "fill" => block_on(durable::fill(folder, shape))??,
        "open" => block_on(durable::open(folder, shape))??,
        _ => return Err(cannot(format!("probe vectors with {engine}"), "there is no such engine")),
    };
    println!("{}", serde_json::to_string(&measured).map_err(failed)?);
    Ok(())
}

/// An index whose documents are named by the numbers of their rows.
fn filled(folder: &Path, shape: &Shape, ann: Ann) -> Result<MemoryIndex> {
    let fingerprint = Fingerprint::new(Tokenizer::Default, Language::En, "none", "none")
        .embedder("bench", shape.dimension);
    let key = IdKey::from_bytes([0; 32]);
    let index = MemoryIndex::new(fingerprint, key.clone()).ann(ann);
    let base = Matrix::read(folder, "base.f32", shape.dimension)?;
    let text = PiiMasker::new().mask("-").canonical();
    let mut batch = Batch::new();
    for (number, row) in base.rows().enumerate() {
        let id = DocumentId::new(number.to_string()).map_err(failed)?;
        let content = key.content_hash(&[number.to_string().as_bytes()]);
        let mut record = DocumentRecord::new(id, content, text.clone());
        let mut chunk = ChunkRecord::new(0..1);
        chunk.vector = Some(Vector::new(row.to_vec()).map_err(failed)?);
        record.chunks = vec![chunk];
        batch = batch.upsert(record);
    }
    index.write(batch).map_err(failed)?;
    Ok(index)
}

/// Each query asked of an index.
fn searched(index: &MemoryIndex, queries: &Matrix) -> Result<Measured> {
    let everybody = Scope::anonymous();
    timed(queries, |query| {
        let query = DenseQuery::new(Vector::new(query.to_vec()).map_err(failed)?, COUNT);
        let hits = index.view(&everybody).dense(&query).map_err(failed)?;
        let row = |hit: &DenseHit| hit.id.document().as_str().parse::<u32>().map_err(failed);
        hits.iter().map(row).collect()
    })
}

/// What a search finds, and the best of three times of each query; the first is not counted.
fn timed(queries: &Matrix, search: impl Fn(&[f32]) -> Result<Vec<u32>>) -> Result<Measured> {
    let mut measured = Measured::default();
    for query in queries.rows() {
        measured.hits.push(search(query)?);
    }
    for query in queries.rows() {
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let begun = Instant::now();
            black_box(search(query)?);
            best = best.min(begun.elapsed().as_secs_f64() * 1e6);
        }
        measured.query_us.push(best);
    }
    Ok(measured)
}

/// What this process holds for itself in memory, in millions of bytes; nothing where the system does
/// not say.
pub(super) fn private_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap_or_default();
    let kib = line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib * 1024.0 / 1e6)
}
