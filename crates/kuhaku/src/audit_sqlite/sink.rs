//! The sink.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kuhaku_core::{
    AuditEnds, AuditError, AuditErrorKind, AuditKey, AuditLink, AuditRecord, AuditRetention,
    AuditSink, Pruned, Timestamp, Verification, check_audit_path,
};
use sqlx::{Connection as _, SqliteConnection};

use super::Result;
use super::connection::looks_right;
use super::database::Database;
use super::failure::storage;
use super::prune::prune;
use super::rows::{self, Pages};
use super::verify::verify;

const TRIED: &str = "write to the audit log";

/// Choices of a [`SqliteSink`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SqliteSinkOptions {
    /// Whether each record is forced to the disk before it counts as written. Off unless set:
    /// records then survive `kill -9` and a crash of the process, not a loss of power.
    pub sync: bool,
    /// How long records are kept; for ever unless set. The log's thread looks with its first record
    /// and then once an hour.
    pub keep: Option<Duration>,
}

impl SqliteSinkOptions {
    /// Forces each record to the disk, or not.
    #[must_use]
    pub fn sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    /// Removes records that are older.
    #[must_use]
    pub fn keep(mut self, keep: Duration) -> Self {
        self.keep = Some(keep);
        self
    }
}

/// Keeps records in a SQLite file, one row each.
///
/// A row holds the line that a JSONL log would have, chained by the same keyed hashes, and columns to
/// query by. Any number of threads and processes may write to one log: they take turns by a lock of
/// the operating system, and each record is one transaction. Nothing is created before the first
/// record, the folder included. Clones share one connection, which works on a thread of its own; no
/// asynchronous runtime is needed.
#[derive(Clone, Debug)]
pub struct SqliteSink {
    database: Arc<Database>,
    key: AuditKey,
    retention: AuditRetention,
}

impl SqliteSink {
    /// A sink for the log at `path`. Touches no file.
    pub fn new(path: impl Into<PathBuf>, key: AuditKey, options: SqliteSinkOptions) -> Self {
        let SqliteSinkOptions { sync, keep } = options;
        let database = Arc::new(Database::new(path.into(), sync));
        Self { database, key, retention: AuditRetention::new(keep) }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.database.path()
    }

    /// Removes the records, oldest first, that ended before `before`, up to the first one that did
    /// not. The anchor remembers where the chain now begins, so that the log still verifies. What was
    /// removed is overwritten with zeros; SQLite's log of recent writes is cut back, unless somebody
    /// reads just then.
    ///
    /// # Errors
    /// `audit.damaged` at a record that does not verify, which is kept; `audit.write` when the
    /// database fails.
    pub fn prune(&self, before: Timestamp) -> Result<Pruned> {
        prune(&self.database, &self.key, before)
    }

    /// Checks every row: every seal, the order, and that nothing is missing at either end or in
    /// between. Findings have the number of the row in place of a line's. Writers are not held up. A
    /// log that is not there is intact and empty.
    ///
    /// # Errors
    /// `audit.read` when the file cannot be read, or is no audit; `audit.damaged` when SQLite cannot
    /// make sense of it.
    pub fn verify(&self) -> Result<Verification> {
        verify(self.path(), &self.key)
    }
}

impl AuditSink for SqliteSink {
    fn write(&self, record: &AuditRecord) -> Result<()> {
        self.database.write(TRIED, async |connection| append(connection, record, &self.key).await)
    }

    /// Prunes as [`SqliteSinkOptions::keep`] says.
    ///
    /// # Errors
    /// Those of [`SqliteSink::prune`].
    fn upkeep(&self, now: Timestamp) -> Result<()> {
        match self.retention.due(now) {
            Some(before) => self.prune(before).map(drop),
            None => Ok(()),
        }
    }

    /// # Errors
    /// `audit.write` when the path is a folder or a file of another kind, when what should be its
    /// folder is a file, or when permissions are missing.
    fn check(&self) -> Result<()> {
        check_audit_path(self.path())?;
        looks_right(self.path(), TRIED)
    }
}

pub(super) fn unwritten(source: sqlx::Error) -> AuditError {
    storage(AuditErrorKind::Write, TRIED, source)
}

/// Adds the record's row and moves the anchor, both or neither.
async fn append(
    connection: &mut SqliteConnection,
    record: &AuditRecord,
    key: &AuditKey,
) -> Result<()> {
    let mut writing = connection.begin_with("BEGIN IMMEDIATE").await.map_err(unwritten)?;
    let sealed = rows::anchor(&mut writing).await.map_err(unwritten)?;
    let mut ends = match sealed.and_then(|sealed| AuditEnds::open(&sealed, key)) {
        Some(ends) => ends,
        None => AuditEnds::after(highest(&mut writing, key).await.map_err(unwritten)?),
    };
    let line = ends.append(record, key)?;
    let insert = sqlx::query("INSERT INTO records (line) VALUES (?)").bind(line);
    insert.execute(&mut *writing).await.map_err(unwritten)?;
    rows::set_anchor(&mut writing, &ends.seal(key)?).await.map_err(unwritten)?;
    writing.commit().await.map_err(unwritten)
}

/// The highest number of a genuine record, where the anchor does not say it.
async fn highest(connection: &mut SqliteConnection, key: &AuditKey) -> sqlx::Result<u64> {
    let mut highest = 0;
    let mut pages = Pages::through(i64::MAX);
    loop {
        let page = pages.next(connection).await?;
        if page.is_empty() {
            return Ok(highest);
        }
        let links = page.iter().filter_map(|(_, line)| AuditLink::read(line, key).ok());
        highest = links.map(|link| link.sequence()).fold(highest, u64::max);
    }
}
