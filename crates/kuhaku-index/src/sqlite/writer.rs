//! Writing: one transaction per batch.

use std::sync::Arc;

use sqlx::pool::PoolConnection;
use sqlx::{Sqlite, SqliteConnection, Transaction};

use super::codec::encode_terms;
use super::failure::{corrupt, storage};
use super::insert::{Prepared, insert};
use super::keep::Kept;
use super::lock::WriteLock;
use super::rows::{self, ChangeKind};
use super::{SqliteIndex, schema};
use crate::analysis::Analyzer;
use crate::contract::{ChunkIndex as _, Rewrite};
use crate::document::DocumentRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::Fingerprint;
use crate::inverted::{Body, Draft, Drafter, Drafters, Generation, Segment, drafted};
use crate::plan::{Plan, resident, rewritten};
use crate::write::{ApplyReport, Batch};

const TRIED: &str = "write to the index";

/// Batches with less text than this are analysed on the calling thread; 64 KiB take about 2 ms.
const INLINE: usize = 1 << 16;

/// What only the writer needs. It is behind a lock, so that one batch is applied at a time.
#[derive(Debug)]
pub(super) struct Writer {
    /// What the batches of this handle are made for.
    pub(super) fingerprint: Fingerprint,
    /// The snapshots that it leaves.
    pub(super) kept: Kept,
}

/// What takes the place of everything.
pub(super) enum Contents<'a> {
    /// These documents.
    Given(Batch),
    /// What is stored, made anew.
    Rewritten(Rewrite<'a>),
}

pub(super) fn failed(error: sqlx::Error) -> Error {
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

    /// A transaction that keeps other writers out.
    pub(super) async fn begin(&self) -> Result<Transaction<'static, Sqlite>> {
        self.pool.begin_with("BEGIN IMMEDIATE").await.map_err(failed)
    }

    /// A transaction, with what other handles have written taken over, so that nothing of it is
    /// overwritten.
    pub(super) async fn begin_current(&self) -> Result<Transaction<'static, Sqlite>> {
        let mut transaction = self.begin().await?;
        let _following = self.following.lock().await;
        self.catch_up(&mut transaction).await?;
        Ok(transaction)
    }

    /// Marks the transaction, commits it, and makes a generation current.
    pub(super) async fn commit(
        &self,
        mut transaction: Transaction<'static, Sqlite>,
        retired: Vec<i64>,
        publish: impl FnOnce(),
    ) -> Result<()> {
        let mark = schema::write_commit(&mut transaction, &self.runtime).await?;
        // Who sees the new mark before the new generation waits here.
        let _following = self.following.lock().await;
        transaction.commit().await.map_err(failed)?;
        self.pins.retire(&self.live.generation(), retired);
        publish();
        self.set_shown(mark);
        Ok(())
    }

    async fn retire(&self, connection: &mut SqliteConnection, rows: &[i64]) -> Result<()> {
        let now = self.runtime.now().as_second();
        for row in rows {
            rows::retire(&mut *connection, *row, now).await?;
        }
        Ok(())
    }

    pub(super) async fn write(&self, batch: Batch) -> Result<ApplyReport> {
        let mut writer = self.writer.lock().await;
        let _lock = WriteLock::acquire(&self.directory)?;
        let report = {
            let mut transaction = self.begin_current().await?;
            check(&writer.fingerprint, &self.fingerprint())?;
            let current = self.live.generation();
            let plan = Plan::new(&current, batch, self.live.seeded())?;
            if plan.is_empty() {
                return Ok(plan.report);
            }
            let Plan { report, removed, stored } = plan;
            let gone = removed.iter().filter_map(|id| Self::row(&current.document(id)?.0.body));
            let gone: Vec<i64> = gone.collect();
            self.retire(&mut transaction, &gone).await?;
            let (prepared, segments) =
                prepared(&mut transaction, self.live.drafters(), stored).await?;
            // At the same time, on another thread.
            let next = aside(TRIED, move || current.next(&removed, segments));
            insert(&mut transaction, &prepared, &self.id_key).await?;
            let next = next.await?;
            self.commit(transaction, gone, || self.live.publish(next)).await?;
            report
        };
        self.tidy().await;
        self.keep_while_open(&mut writer.kept).await;
        Ok(report)
    }

    /// See [`crate::Maintenance::replace`] and [`crate::Maintenance::rewrite`].
    pub(super) async fn replace_all(
        &self,
        fingerprint: Fingerprint,
        contents: Contents<'_>,
    ) -> Result<ApplyReport> {
        let mut writer = self.writer.lock().await;
        let _lock = WriteLock::acquire(&self.directory)?;
        // It holds what is about to be replaced.
        writer.kept.stop().await;
        let report = {
            let mut transaction = self.begin_current().await?;
            let batch = match contents {
                Contents::Given(batch) => batch,
                Contents::Rewritten(rewrite) => {
                    check(&writer.fingerprint, &self.fingerprint())?;
                    self.rewritten(&mut transaction, &fingerprint, rewrite).await?
                }
            };
            let space = fingerprint.space();
            let Plan { report, stored, .. } =
                Plan::new(&Generation::empty(space.clone()), batch, self.live.seeded())?;
            let gone: Vec<i64> = {
                let current = self.live.generation();
                let documents = current.documents();
                documents.iter().filter_map(|(document, ..)| Self::row(&document.body)).collect()
            };
            self.retire(&mut transaction, &gone).await?;
            rows::log(&mut transaction, ChangeKind::Reset, 0).await?;
            schema::write_fingerprint(&mut transaction, &fingerprint).await?;
            let analyzer = Analyzer::new(fingerprint.tokenizer, fingerprint.language);
            let drafters = Arc::new(Drafters::new(analyzer));
            let (prepared, segments) =
                prepared(&mut transaction, Arc::clone(&drafters), stored).await?;
            let generation = aside(TRIED, move || Generation::of(space, segments));
            insert(&mut transaction, &prepared, &self.id_key).await?;
            let generation = generation.await?;
            let publish = || {
                self.live.replace(generation, drafters);
                self.set_fingerprint(fingerprint.clone());
            };
            self.commit(transaction, gone, publish).await?;
            writer.fingerprint = fingerprint;
            report
        };
        self.tidy().await;
        self.keep_while_open(&mut writer.kept).await;
        Ok(report)
    }

    /// Everything stored, made anew.
    async fn rewritten(
        &self,
        connection: &mut SqliteConnection,
        fingerprint: &Fingerprint,
        rewrite: Rewrite<'_>,
    ) -> Result<Batch> {
        let current = self.live.generation();
        let stays = current.space == fingerprint.space();
        let mut batch = Batch::new();
        for (document, ..) in current.documents() {
            let stored = match Self::row(&document.body) {
                Some(row) => self.embedded_record(&mut *connection, row).await?,
                None => None,
            };
            let stored =
                stored.ok_or_else(|| corrupt(TRIED, "the row of a document is missing"))?;
            batch = batch.upsert(rewritten(&stored, rewrite, stays, &self.id_key));
        }
        Ok(batch)
    }

    pub(super) async fn release_chunk(&self, id: &kuhaku_core::ChunkId) -> Result<bool> {
        let _writing = self.writer.lock().await;
        let _lock = WriteLock::acquire(&self.directory)?;
        let mut transaction = self.begin_current().await?;
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
        rows::log(&mut transaction, ChangeKind::Release, row).await?;
        let mut draft = Draft::default();
        let dimension = current.space.as_ref().map_or(0, |space| space.dimension);
        rows::load(&mut transaction, &mut draft, row, row, dimension).await?;
        let next = current.next(&[id.document().clone()], draft.finish());
        self.commit(transaction, Vec::new(), || self.live.publish(next)).await?;
        Ok(true)
    }
}

/// Batches are prepared for a fingerprint: another handle may have put another in its place since.
pub(super) fn check(made_for: &Fingerprint, has: &Fingerprint) -> Result<()> {
    if made_for == has {
        return Ok(());
    }
    let wrong = "it was re-indexed with other settings since it was opened";
    Err(Error::new(ErrorKind::FingerprintMismatch, TRIED, wrong)
        .next("open it again, with the settings that it has now"))
}

/// Does long work on a thread that may block. It begins at once, whether it is waited for or not.
pub(super) fn aside<T: Send + 'static>(
    tried: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T>> + Send {
    let working = tokio::task::spawn_blocking(work);
    async move {
        working.await.map_err(|source| {
            Error::new(ErrorKind::Storage, tried, "the work on its text stopped")
                .next("try again, and report it when it happens again")
                .caused_by(source)
        })
    }
}

/// Analyses documents. Their rows are the next ones, as the caller's transaction sees them.
async fn prepared(
    connection: &mut SqliteConnection,
    drafters: Arc<Drafters>,
    stored: Vec<DocumentRecord>,
) -> Result<(Vec<Prepared>, Vec<Segment>)> {
    let first = rows::next_row(&mut *connection).await?;
    // The number after the last of these is one too.
    if i64::try_from(stored.len()).ok().and_then(|count| first.checked_add(count)).is_none() {
        return Err(corrupt("write to the index", "no numbers of rows are left"));
    }
    let size: usize = stored.iter().map(|record| record.text.as_str().len()).sum();
    let work = move || prepare(&drafters, stored, first);
    if size < INLINE { Ok(work()) } else { aside(TRIED, work).await }
}

/// Analyses documents and gives them rows, the first of which is `first`.
fn prepare(
    drafters: &Drafters,
    stored: Vec<DocumentRecord>,
    first: i64,
) -> (Vec<Prepared>, Vec<Segment>) {
    let numbered: Vec<(i64, DocumentRecord)> = (first..).zip(stored).collect();
    let work = |numbered: Vec<(i64, DocumentRecord)>, drafter: &mut Drafter| {
        let prepared = numbered.into_iter().map(|(row, record)| {
            drafter.draft.document(resident(&record, Body::Row(row)), record.tags.clone());
            let mut terms = Vec::with_capacity(record.chunks.len());
            for (ordinal, chunk) in (0..).zip(&record.chunks) {
                let counted = drafter.count(&record, chunk);
                terms.push(encode_terms(&drafter.draft, &counted));
                if chunk.quarantine.is_none() {
                    drafter.draft.chunk(ordinal, counted, chunk.vector.clone());
                }
            }
            Prepared { row, record, terms }
        });
        prepared.collect()
    };
    drafted(drafters, numbered, |(_, record)| record.text.as_str().len(), work)
}
