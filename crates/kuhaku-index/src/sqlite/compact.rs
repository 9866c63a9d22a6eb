//! Giving back the room of what was removed, and its last bytes (D20).

use super::failure::storage;
use super::lock::WriteLock;
use super::open::FILE;
use super::{SqliteIndex, private, rows};
use crate::error::{Error, Result};

const TRIED: &str = "compact the index";

fn failed(error: sqlx::Error) -> Error {
    storage(TRIED, error)
}

/// What [`SqliteIndex::compact`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Compaction {
    /// Removed or replaced documents whose rows were deleted.
    pub deleted: u64,
    /// Those that stay: readers of this handle need them, or another handle has the index open and
    /// may need them, for ten minutes after their removal.
    pub kept: u64,
    /// Bytes of the database with its log, before.
    pub before: u64,
    /// The same, after.
    pub after: u64,
    /// Bytes of the log that stay because somebody is reading. They can hold removed text.
    pub log: u64,
}

impl Compaction {
    /// Whether nothing of what was removed is left in the files.
    pub fn is_complete(&self) -> bool {
        self.kept == 0 && self.log == 0
    }
}

impl SqliteIndex {
    /// Deletes what was removed, packs the database, and empties its log: no byte of a removed
    /// document stays in the files when [`Compaction::is_complete`] says so.
    ///
    /// Readers go on meanwhile; other writers get [`crate::ErrorKind::Locked`]. Takes as much room on
    /// the disk again as the index has. A failure, a dropped future or a killed process leaves a
    /// whole index; what is done by then stays done.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Locked`] while another writes; [`crate::ErrorKind::Storage`] from the disk.
    pub async fn compact(&self) -> Result<Compaction> {
        let mut writer = self.writer.lock().await;
        let _lock = WriteLock::acquire(&self.directory)?;
        // It holds what is about to be erased.
        writer.kept.stop().await;
        let before = self.bytes();
        let purged = self.purge(&self.pins.rows(), usize::MAX).await?;
        let mut connection = self.connection().await?;
        {
            // Without others nobody follows the log: this handle shows all of it from here on.
            self.follow().await?;
            if let Some(_alone) = self.presence.alone()? {
                rows::forget_changes(&mut connection).await?;
            }
        }
        // Before the database is packed, so that a snapshot from before is not trusted after it.
        self.keep_cleaned(&mut writer.kept).await?;
        sqlx::raw_sql("VACUUM").execute(&mut *connection).await.map_err(failed)?;
        self.build_graphs().await?;
        let _: (i64, i64, i64) = sqlx::query_as("PRAGMA wal_checkpoint(TRUNCATE)")
            .fetch_one(&mut *connection)
            .await
            .map_err(failed)?;
        Ok(Compaction {
            deleted: purged.deleted,
            kept: purged.kept,
            before,
            after: self.bytes(),
            log: self.log_bytes(),
        })
    }

    fn bytes(&self) -> u64 {
        private::size(&self.directory.join(FILE)) + self.log_bytes()
    }

    pub(super) fn log_bytes(&self) -> u64 {
        private::size(&self.directory.join(format!("{FILE}-wal")))
    }
}
