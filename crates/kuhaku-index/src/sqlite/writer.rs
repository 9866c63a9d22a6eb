//! Writing: one transaction per batch, and the deferred deletion of rows.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use sqlx::pool::PoolConnection;
use sqlx::{Sqlite, SqliteConnection, Transaction};

use super::codec::encode_terms;
use super::failure::storage;
use super::lock::WriteLock;
use super::rows::{self, Prepared};
use super::{SqliteIndex, schema};
use crate::analysis::Analyzer;
use crate::document::DocumentRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::Fingerprint;
use crate::inverted::{Analysis, Body, Draft, Generation};
use crate::plan::{Plan, resident};
use crate::write::{ApplyReport, Batch};

const TRIED: &str = "write to the index";

/// Batches with less text than this are analysed on the calling thread; 64 KiB take about 2 ms.
const INLINE: usize = 1 << 16;

/// Rows that readers of a generation may still fetch.
#[derive(Debug)]
struct Retired {
    generation: Weak<Generation>,
    rows: Vec<i64>,
}

/// What only the writer needs. It is behind a lock, so that one batch is applied at a time.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// The mark of the transaction that the current generation shows.
    commit: Vec<u8>,
    /// Oldest first.
    retired: VecDeque<Retired>,
    /// Rows that an earlier process retired and did not delete were looked for.
    tidied: bool,
}

impl Writer {
    /// A writer whose generation shows the transaction of this mark.
    pub(super) fn at(commit: Vec<u8>) -> Self {
        Self { commit, ..Self::default() }
    }
}

fn failed(error: sqlx::Error) -> Error {
    storage(TRIED, error)
}

impl SqliteIndex {
    /// The row of a document of this engine.
    pub(super) fn row(body: &Body) -> Option<i64> {
        match body {
            Body::Row(row) => Some(*row),
            Body::Held(_) => None,
        }
    }

    pub(super) async fn connection(&self) -> Result<PoolConnection<Sqlite>> {
        self.pool.acquire().await.map_err(|error| storage("read the index", error))
    }

    async fn begin(&self) -> Result<Transaction<'static, Sqlite>> {
        self.pool.begin_with("BEGIN IMMEDIATE").await.map_err(failed)
    }

    /// Takes over what another writer has committed since, so that nothing of it is overwritten.
    async fn follow(&self, writer: &mut Writer, connection: &mut SqliteConnection) -> Result<()> {
        let meta = schema::read(&mut *connection, TRIED).await?;
        if meta.commit == writer.commit {
            return Ok(());
        }
        let mut draft = Draft::default();
        rows::load(connection, &mut draft, 0, i64::MAX).await?;
        // What that writer retired may still be asked for by readers of this handle.
        let mut rows = rows::retired(connection).await?;
        rows.retain(|row| !writer.retired.iter().any(|old| old.rows.contains(row)));
        let generation = Arc::downgrade(&self.live.generation());
        writer.retired.push_back(Retired { generation, rows });
        let analyzer = Analyzer::new(meta.fingerprint.tokenizer, meta.fingerprint.language);
        self.live.replace(Generation::of(draft), analyzer);
        self.set_fingerprint(meta.fingerprint);
        writer.commit = meta.commit;
        Ok(())
    }

    /// Marks the transaction, commits it, and makes a generation current.
    async fn commit(
        &self,
        writer: &mut Writer,
        mut transaction: Transaction<'static, Sqlite>,
        retired: Vec<i64>,
        publish: impl FnOnce(),
    ) -> Result<()> {
        let mark = schema::write_commit(&mut transaction, &self.runtime).await?;
        let before = Arc::downgrade(&self.live.generation());
        transaction.commit().await.map_err(failed)?;
        writer.commit = mark;
        publish();
        if !retired.is_empty() {
            writer.retired.push_back(Retired { generation: before, rows: retired });
        }
        Ok(())
    }

    /// Deletes retired rows that no reader of this process can ask for. What fails is tried again
    /// with the next batch.
    async fn purge(&self, writer: &mut Writer) -> Result<()> {
        let free = writer.retired.iter().take_while(|old| old.generation.strong_count() == 0);
        let (count, mut gone) = free.fold((0, Vec::new()), |(count, mut gone), old| {
            gone.extend_from_slice(&old.rows);
            (count + 1, gone)
        });
        if gone.is_empty() && writer.tidied {
            return Ok(());
        }
        let mut transaction = self.begin().await?;
        if !writer.tidied {
            let kept: Vec<i64> =
                writer.retired.iter().skip(count).flat_map(|old| old.rows.clone()).collect();
            let left = rows::retired(&mut transaction).await?;
            gone.extend(left.into_iter().filter(|row| !kept.contains(row)));
        }
        if !gone.is_empty() {
            for row in gone {
                rows::delete(&mut transaction, row).await?;
            }
            transaction.commit().await.map_err(failed)?;
        }
        writer.retired.drain(..count);
        writer.tidied = true;
        Ok(())
    }

    pub(super) async fn write(&self, batch: Batch) -> Result<ApplyReport> {
        let mut writer = self.writer.lock().await;
        let _lock = WriteLock::acquire(&self.directory)?;
        let report = {
            let mut transaction = self.begin().await?;
            self.follow(&mut writer, &mut transaction).await?;
            let current = self.live.generation();
            let plan = Plan::new(&current, batch, self.live.seeded())?;
            if plan.is_empty() {
                return Ok(plan.report);
            }
            let Plan { report, removed, stored } = plan;
            let gone = removed.iter().filter_map(|id| Self::row(&current.document(id)?.0.body));
            let gone: Vec<i64> = gone.collect();
            for row in &gone {
                rows::retire(&mut transaction, *row).await?;
            }
            let (analyzer, base) = (self.live.analyzer(), current);
            let draft = store(&mut transaction, analyzer, stored).await?;
            let next = aside(TRIED, move || base.next(&removed, draft)).await?;
            self.commit(&mut writer, transaction, gone, || self.live.publish(next)).await?;
            report
        };
        self.tidy(&mut writer).await;
        Ok(report)
    }

    /// See [`crate::Maintenance::replace`].
    pub(super) async fn replace_all(
        &self,
        fingerprint: Fingerprint,
        batch: Batch,
    ) -> Result<ApplyReport> {
        let mut writer = self.writer.lock().await;
        let _lock = WriteLock::acquire(&self.directory)?;
        let report = {
            let mut transaction = self.begin().await?;
            self.follow(&mut writer, &mut transaction).await?;
            let Plan { report, stored, .. } =
                Plan::new(&Generation::default(), batch, self.live.seeded())?;
            let gone: Vec<i64> = {
                let current = self.live.generation();
                let documents = current.documents();
                documents.iter().filter_map(|(document, ..)| Self::row(&document.body)).collect()
            };
            for row in &gone {
                rows::retire(&mut transaction, *row).await?;
            }
            rows::log(&mut transaction, "reset", 0).await?;
            schema::write_fingerprint(&mut transaction, &fingerprint).await?;
            let analyzer = Analyzer::new(fingerprint.tokenizer, fingerprint.language);
            let draft = store(&mut transaction, Arc::new(analyzer.clone()), stored).await?;
            let generation = aside(TRIED, move || Generation::of(draft)).await?;
            let publish = || {
                self.live.replace(generation, analyzer);
                self.set_fingerprint(fingerprint);
            };
            self.commit(&mut writer, transaction, gone, publish).await?;
            report
        };
        self.tidy(&mut writer).await;
        Ok(report)
    }

    /// Purges after a batch, which is durable whatever becomes of that.
    async fn tidy(&self, writer: &mut Writer) {
        if let Err(error) = self.purge(writer).await {
            tracing::debug!(code = error.code(), "retired rows stay for now");
        }
    }

    pub(super) async fn release_chunk(&self, id: &kuhaku_core::ChunkId) -> Result<bool> {
        let mut writer = self.writer.lock().await;
        let _lock = WriteLock::acquire(&self.directory)?;
        let mut transaction = self.begin().await?;
        self.follow(&mut writer, &mut transaction).await?;
        let current = self.live.generation();
        let found = current.document(id.document()).map(|(document, _)| &document.body);
        let Some(row) = found.and_then(Self::row) else { return Ok(false) };
        let released = sqlx::query(
            "DELETE FROM quarantine WHERE chunk = \
             (SELECT row FROM chunks WHERE document = ? AND ordinal = ?)",
        )
        .bind(row)
        .bind(id.ordinal())
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        if released.rows_affected() == 0 {
            return Ok(false);
        }
        rows::log(&mut transaction, "release", row).await?;
        let mut draft = Draft::default();
        rows::load(&mut transaction, &mut draft, row, row).await?;
        let next = current.next(&[id.document().clone()], draft);
        self.commit(&mut writer, transaction, Vec::new(), || self.live.publish(next)).await?;
        Ok(true)
    }
}

/// Does long work on a thread that may block.
pub(super) async fn aside<T: Send + 'static>(
    tried: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|source| {
        Error::new(ErrorKind::Storage, tried, "the work on its text stopped")
            .next("try again, and report it when it happens again")
            .caused_by(source)
    })
}

/// Analyses documents and stores them. Part of the caller's transaction.
async fn store(
    connection: &mut SqliteConnection,
    analyzer: Arc<Analyzer>,
    stored: Vec<DocumentRecord>,
) -> Result<Draft> {
    let first = rows::next_row(&mut *connection).await?;
    let size: usize = stored.iter().map(|record| record.text.as_str().len()).sum();
    let work = move || prepare(&analyzer, stored, first);
    let (prepared, draft) = if size < INLINE { work() } else { aside(TRIED, work).await? };
    for document in &prepared {
        rows::insert(&mut *connection, document).await?;
    }
    Ok(draft)
}

/// Analyses documents and gives them rows, the first of which is `first`.
fn prepare(analyzer: &Analyzer, stored: Vec<DocumentRecord>, first: i64) -> (Vec<Prepared>, Draft) {
    let mut analysis = Analysis::new(analyzer);
    let mut draft = Draft::default();
    let mut prepared = Vec::with_capacity(stored.len());
    for (row, record) in (first..).zip(stored) {
        draft.document(resident(&record, Body::Row(row)), record.tags.clone());
        let mut encoded = Vec::with_capacity(record.chunks.len());
        for (ordinal, chunk) in (0..).zip(&record.chunks) {
            let terms = analysis.count(&mut draft, &record, chunk);
            encoded.push(encode_terms(&draft, &terms));
            if chunk.quarantine.is_none() {
                draft.chunk(ordinal, terms.lengths, terms.entries);
            }
        }
        prepared.push(Prepared { row, record, terms: encoded });
    }
    (prepared, draft)
}
