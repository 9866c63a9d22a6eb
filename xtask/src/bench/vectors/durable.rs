//! The durable index with words and vectors: how much memory 100,000 chunks of it take.

use std::path::Path;
use std::time::Instant;

use kuhaku::Scope;
use kuhaku::index::{
    Batch, ChunkIndex as _, DenseQuery, Fingerprint, Language, OpenOptions, SparseQuery,
    SqliteIndex, Tokenizer, Vector,
};
use kuhaku_core::Runtime;
use kuhaku_testkit::Scale;

use super::data::{Matrix, Shape};
use super::ours::{failed, private_mb};
use super::{COUNT, Measured};
use crate::error::Result;

/// Documents per transaction.
const BATCH: usize = 500;

fn options(folder: &Path) -> OpenOptions {
    OpenOptions::new(folder.join("index"), Runtime::system())
}

/// Fills an index in `FOLDER/index`: documents of five chunks of 60 words each, a row for each chunk.
pub(super) async fn fill(folder: &Path, shape: Shape) -> Result<Measured> {
    let base = Matrix::read(folder, "base.f32", shape.dimension)?;
    let _ = std::fs::remove_dir_all(folder.join("index"));
    let begun = Instant::now();
    let fingerprint = Fingerprint::new(Tokenizer::Default, Language::En, "none", "none")
        .embedder("bench", shape.dimension);
    let options = options(folder).create(true).fingerprint(fingerprint);
    let index = SqliteIndex::open(options).await.map_err(failed)?;
    let corpus = Scale::new();
    let mut rows = base.rows();
    let mut batch = Batch::new();
    for number in 0..shape.rows / Scale::CHUNKS {
        let mut record = corpus.record(number, &corpus.texts(number)).map_err(failed)?;
        for (chunk, row) in record.chunks.iter_mut().zip(&mut rows) {
            chunk.vector = Some(Vector::new(row.to_vec()).map_err(failed)?);
        }
        batch = batch.upsert(record);
        if batch.changes().len() == BATCH {
            index.apply(std::mem::take(&mut batch)).await.map_err(failed)?;
        }
    }
    index.apply(batch).await.map_err(failed)?;
    index.close().await;
    Ok(Measured::default().built(begun.elapsed().as_secs_f64() * 1e3, 0.0))
}

/// Opens it and searches both ways; the time is that of opening.
pub(super) async fn open(folder: &Path, shape: Shape) -> Result<Measured> {
    let before = private_mb();
    let begun = Instant::now();
    let index = SqliteIndex::open(options(folder)).await.map_err(failed)?;
    let open_ms = begun.elapsed().as_secs_f64() * 1e3;
    let queries = Matrix::read(folder, "queries.f32", shape.dimension)?;
    let view = index.view(&Scope::anonymous());
    for (row, text) in queries.rows().zip(Scale::new().common(COUNT)) {
        let vector = Vector::new(row.to_vec()).map_err(failed)?;
        view.dense(&DenseQuery::new(vector, COUNT)).map_err(failed)?;
        view.sparse(&SparseQuery::new(text, COUNT)).map_err(failed)?;
    }
    let memory_mb = private_mb() - before;
    drop(view);
    index.close().await;
    Ok(Measured::default().built(open_ms, memory_mb))
}
