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

impl SqliteIndex {
    /// Purges after a batch, which is durable whatever becomes of that: what fails is tried again
    /// with the next one. The caller holds the write lock.
    pub(super) async fn tidy(&self) {
        if let Err(error) = self.purge(&self.pins.rows()).await {
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
        self.purge(&HashSet::new()).await
    }

    /// Deletes retired rows that nobody can ask for but those of `pinned`.
    async fn purge(&self, pinned: &HashSet<i64>) -> Result<()> {
        let mut free = rows::retired(&mut *self.connection().await?).await?;
        free.retain(|(row, _)| !pinned.contains(row));
        if free.is_empty() {
            return Ok(());
        }
        let alone = self.presence.alone()?;
        if alone.is_none() {
            let now = self.runtime.now().as_second();
            free.retain(|(_, since)| now.saturating_sub(*since) >= GRACE);
        }
        if free.is_empty() {
            return Ok(());
        }
        let mut transaction = self.begin().await?;
        for (row, _) in free {
            rows::delete(&mut transaction, row).await?;
        }
        transaction.commit().await.map_err(super::writer::failed)
    }
}
