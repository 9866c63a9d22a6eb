//! When the snapshot is read and written.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use super::failure::disk;
use super::lock::WriteLock;
use super::schema::{Mark, Meta};
use super::writer::{aside, failed};
use super::{SqliteIndex, private, schema};
use crate::contract::ChunkIndex as _;
use crate::error::Result;
use crate::fault::{Fault, Seeded};
use crate::inverted::Generation;
use crate::snapshot::{self, Opened};

/// A snapshot is written anew when more documents than this share have come or gone since: reading
/// those from the database takes as long as reading the snapshot itself.
const SHARE: usize = 64;

/// The same while the index is open, so that one large ingest writes few snapshots.
const SHARE_WHILE_OPEN: usize = 1;

/// Fewer changes are no reason to write one while the index is open.
const FEW: i64 = 4_096;

/// Reads the snapshot of an index, unless it cannot be brought up to date.
pub(super) async fn kept(
    folder: &Path,
    meta: Meta,
    seeded: Seeded,
) -> Result<Option<(Generation, Mark)>> {
    let folder = folder.to_owned();
    let opened = aside("open the index", move || {
        let Meta { fingerprint, commit, snapshot, .. } = meta;
        snapshot::open(&folder, &fingerprint, |mark| {
            mark == commit.as_bytes() || snapshot.is_some_and(|known| mark == known.as_bytes())
        })
        .current(seeded.has(Fault::StaleSnapshot).then_some(commit.as_bytes()))
    })
    .await?;
    let reason = match opened {
        Opened::Whole(generation, mark) => {
            return Ok(Some((generation, Mark::from_bytes(mark))));
        }
        Opened::Missing => return Ok(None),
        Opened::Foreign => "it is of another version or another state",
        Opened::Damaged => "it is damaged",
    };
    tracing::info!(reason, "the snapshot is not used; the index is read from the database");
    Ok(None)
}

impl SqliteIndex {
    fn snapshot(&self) -> Option<Mark> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether so many documents have come or gone since the snapshot that it is worth another one.
    fn is_snapshot_old(&self, share: usize, few: i64) -> bool {
        let documents: usize = self.live.generation().size();
        let since = |mark: Mark| self.shown().number().saturating_sub(mark.number());
        let limit = i64::try_from(documents / share).unwrap_or(i64::MAX).max(few);
        match self.snapshot() {
            Some(mark) if mark == self.shown() => false,
            // The numbers of a history that was replaced may be anywhere.
            Some(mark) => !(0..=limit).contains(&since(mark)),
            None => documents > 0 && self.shown().number() >= few,
        }
    }

    /// Writes a snapshot when the index is closed. What fails costs time when it is opened again,
    /// nothing else.
    pub(super) async fn keep_at_close(&self) {
        if !self.is_snapshot_old(SHARE, 0) {
            return;
        }
        // Another writer leaves one itself.
        let Ok(_lock) = WriteLock::acquire(&self.directory) else { return };
        self.keep().await;
    }

    /// Writes a snapshot after a batch, when there is much that the last one lacks. The caller holds
    /// the write lock.
    pub(super) async fn keep_while_open(&self) {
        if self.is_snapshot_old(SHARE_WHILE_OPEN, FEW) {
            self.keep().await;
        }
    }

    async fn keep(&self) {
        let (generation, mark) = {
            let _following = self.following.lock().await;
            (self.live.generation(), self.shown())
        };
        if let Err(error) = self.write_snapshot(generation, mark).await {
            tracing::debug!(code = error.code(), "the snapshot is not written");
        }
    }

    /// Writes a snapshot without a trace of what was removed, or removes the one that is there. The
    /// caller holds the write lock.
    pub(super) async fn keep_cleaned(&self) -> Result<()> {
        const TRIED: &str = "compact the index";
        let (generation, mark) = {
            let _following = self.following.lock().await;
            let before = self.live.generation();
            let cleaned = aside(TRIED, move || before.without_dead()).await?;
            self.live.publish(cleaned);
            (self.live.generation(), self.shown())
        };
        if self.write_snapshot(generation, mark).await.is_err() {
            snapshot::remove(&self.directory).map_err(|error| disk(TRIED, error))?;
        }
        Ok(())
    }

    async fn write_snapshot(&self, generation: Arc<Generation>, mark: Mark) -> Result<()> {
        const TRIED: &str = "write the snapshot of the index";
        let (folder, fingerprint) = (self.directory.clone(), self.fingerprint());
        let bytes = mark.as_bytes().to_vec();
        let work =
            move || snapshot::write(&generation, &bytes, &fingerprint, &folder, private::file);
        aside(TRIED, work).await?.map_err(|error| disk(TRIED, error))?;
        let mut transaction = self.begin().await?;
        schema::write_snapshot(&mut transaction, &mark).await?;
        transaction.commit().await.map_err(failed)?;
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = Some(mark);
        Ok(())
    }
}
