//! The deferred deletion of rows (D13, D20).

use std::collections::HashSet;

use super::SqliteIndex;
use super::lock::WriteLock;
use super::rows;
use crate::error::Result;

/// How long rows of a replaced or removed document stay for readers of other handles, in seconds.
///
/// Other handles do not say what their readers need. A reader lives for one request, so ten minutes
/// are ample; one that lives longer gets an error for what is gone, never a gap. When no other
/// handle has the index open, rows go at once.
const GRACE: i64 = 600;

/// Documents that are deleted in one transaction: others that open the index wait for one.
const SLICE: usize = 256;

/// Slices that a batch cleans up behind itself: what a large removal leaves goes with the next
/// batches, or on closing.
const SLICES_PER_BATCH: usize = 4;

/// What became of retired documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Purged {
    /// Documents that are deleted.
    pub(super) deleted: u64,
    /// Documents that stay for readers that may need them.
    pub(super) kept: u64,
}

impl SqliteIndex {
    /// Purges after a batch, which is durable whatever becomes of that: what fails is tried again
    /// with the next one. The caller holds the write lock.
    pub(super) async fn tidy(&self) {
        if let Err(error) = self.purge(&self.pins.rows(), SLICES_PER_BATCH).await {
            tracing::debug!(code = error.code(), "retired rows stay for now");
        }
    }

    /// Purges when this handle fetches nothing any more.
    pub(super) async fn tidy_at_close(&self) -> Result<()> {
        let retired = rows::retired(&mut *self.connection().await?).await?;
        if retired.is_empty() {
            return Ok(());
        }
        let _lock = WriteLock::acquire(&self.directory)?;
        self.purge(&HashSet::new(), usize::MAX).await?;
        Ok(())
    }

    /// Deletes retired rows that nobody can ask for but those of `pinned`, at most so many slices.
    /// The caller holds the write lock.
    pub(super) async fn purge(&self, pinned: &HashSet<i64>, slices: usize) -> Result<Purged> {
        let retired = rows::retired(&mut *self.connection().await?).await?;
        let mut purged = Purged { deleted: 0, kept: retired.len() as u64 };
        for slice in retired.chunks(SLICE).take(slices) {
            let mut free = slice.to_vec();
            free.retain(|(row, _)| !pinned.contains(row));
            if free.is_empty() {
                continue;
            }
            // Anew for each: who opens the index meanwhile needs no row that is retired already.
            let alone = self.presence.alone()?;
            if alone.is_none() {
                let now = self.runtime.now().as_second();
                free.retain(|(_, since)| now.saturating_sub(*since) >= GRACE);
            }
            if free.is_empty() {
                continue;
            }
            let mut transaction = self.begin().await?;
            for (row, _) in &free {
                rows::delete(&mut transaction, *row).await?;
            }
            transaction.commit().await.map_err(super::writer::failed)?;
            purged.deleted += free.len() as u64;
            purged.kept -= free.len() as u64;
        }
        Ok(purged)
    }
}
