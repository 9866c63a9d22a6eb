//! What an index takes on the disk.

use kuhaku_core::Timestamp;

use super::failure::storage;
use super::open::FILE;
use super::{SqliteIndex, migrate, private, schema};
use crate::contract::{IndexStatistics, Maintenance as _};
use crate::error::{Error, Result};

fn failed(error: sqlx::Error) -> Error {
    storage("measure the index", error)
}

/// Sizes and ages of an index in a folder, for operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Usage {
    /// Totals over everything stored.
    pub totals: IndexStatistics,
    /// Removed or replaced documents whose rows are still there.
    pub retired: u64,
    /// Bytes of the database.
    pub database: u64,
    /// Of these, bytes that hold nothing that is needed: free pages, and the text of retired
    /// documents.
    pub dead: u64,
    /// Bytes of SQLite's log of recent writes.
    pub log: u64,
    /// Bytes of files that are made anew when they are missing.
    pub snapshot: u64,
    /// Entries in the log of changes that other handles follow.
    pub changes: u64,
    /// The version of the tables.
    pub format: u32,
    /// When something was last written, to the second; absent when that was never noted.
    pub last_commit: Option<Timestamp>,
}

impl SqliteIndex {
    /// Sizes and ages of this index.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Storage`] from the disk.
    pub async fn usage(&self) -> Result<Usage> {
        let totals = self.statistics().await?;
        let mut connection = self.connection().await?;
        let mut count = async |sql: &'static str| {
            let found: i64 =
                sqlx::query_scalar(sql).fetch_one(&mut *connection).await.map_err(failed)?;
            Ok::<_, Error>(found.unsigned_abs())
        };
        let retired = count("SELECT count(*) FROM retired").await?;
        let changes = count("SELECT count(*) FROM changes").await?;
        let free = count("PRAGMA freelist_count").await? * count("PRAGMA page_size").await?;
        let text = "SELECT coalesce(sum(octet_length(d.text)), 0) FROM documents d \
                    JOIN retired r ON r.document = d.row";
        let dead = free + count(text).await?;
        let committed = schema::read_committed(&mut connection).await?;
        Ok(Usage {
            totals,
            retired,
            database: private::size(&self.directory.join(FILE)),
            dead,
            log: self.log_bytes(),
            snapshot: self.snapshot_bytes(),
            changes,
            format: u32::try_from(migrate::VERSION).unwrap_or(u32::MAX),
            last_commit: committed.and_then(|seconds| Timestamp::from_second(seconds).ok()),
        })
    }

    fn snapshot_bytes(&self) -> u64 {
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return 0 };
        let is_snapshot =
            |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b"index.snapshot");
        let snapshots = entries.flatten().filter(|entry| is_snapshot(&entry.file_name()));
        snapshots.map(|entry| private::size(&entry.path())).sum()
    }
}
