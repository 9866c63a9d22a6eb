//! The tables of an index, and what tells them from other files.
//!
//! Rows of documents and chunks are immutable and their numbers are never reused (D13). A document
//! that was replaced or removed is entered in `retired`, with the time in seconds since 1970, and
//! deleted when no reader needs it. A vector belongs to its chunk and goes with it; by the hash of what
//! was embedded it is found for an equal text. Staged ones are seen by no reader until all are there.

use kuhaku_core::Runtime;
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::failure::{beyond_repair, corrupt, no_index, storage};
use super::migrate::VERSION;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::{Fingerprint, VectorSpace};
use crate::identity::IdKey;

/// `kuha` in ASCII: marks the file as an index of kuhaku.
const APPLICATION: i64 = 0x6b75_6861;
/// How many changes the log keeps for handles that follow it, besides those of the last transaction;
/// a handle that is further behind reads everything anew. About 1 MiB.
const LOG: i64 = 1 << 16;

/// Bytes of a mark.
const MARK: usize = 24;
/// How many snapshots are noted: the one in its place, and those that were begun since and came to
/// nothing. Were it forgotten, the next opening would read the database instead.
const SNAPSHOTS: usize = 8;

/// The tables of the current version.
const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE documents (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    content BLOB NOT NULL,
    doc_type TEXT NOT NULL,
    tags TEXT NOT NULL,
    pinned_tags INTEGER NOT NULL,
    effective TEXT,
    expires TEXT,
    obsolete INTEGER NOT NULL,
    title TEXT NOT NULL,
    source TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE TABLE metadata (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (document, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE folders (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    folder BLOB NOT NULL,
    PRIMARY KEY (document, folder)
) STRICT, WITHOUT ROWID;
CREATE TABLE chunks (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    length INTEGER NOT NULL,
    page INTEGER,
    headings TEXT NOT NULL,
    extra TEXT NOT NULL,
    text TEXT,
    terms BLOB NOT NULL,
    UNIQUE (document, ordinal)
) STRICT;
CREATE TABLE quarantine (
    chunk INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
    reason TEXT NOT NULL
) STRICT;
CREATE TABLE vectors (
    chunk INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
    text BLOB NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (text, chunk)
) STRICT;
CREATE TABLE staged_vectors (
    chunk INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
    text BLOB NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (text, chunk)
) STRICT;
CREATE TABLE retired (
    document INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    since INTEGER NOT NULL
) STRICT;
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('store', 'retire', 'release', 'reset')),
    row INTEGER NOT NULL
) STRICT;
";

/// The statements that make the tables, without white space, by name.
pub(super) fn tables() -> impl Iterator<Item = (&'static str, String)> {
    TABLES.split(';').filter_map(|statement| {
        let name =
            statement.trim_start().strip_prefix("CREATE TABLE ")?.split_whitespace().next()?;
        Some((name, packed(statement)))
    })
}

/// A statement without white space, which differs by the version that made a table.
pub(super) fn packed(statement: &str) -> String {
    statement.split_whitespace().collect()
}

/// What the `meta` table holds.
#[derive(Clone, Debug)]
pub(super) struct Meta {
    pub(super) fingerprint: Fingerprint,
    pub(super) id_key: IdKey,
    /// That of the last transaction.
    pub(super) commit: Mark,
    /// Those of transactions of which there may be a snapshot, the latest last.
    pub(super) snapshots: Vec<Mark>,
}

/// Tells transactions apart: 16 random bytes, drawn anew by each, and the number of its last change
/// in eight, so that marks differ even when the random bytes of a test repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark(Vec<u8>);

impl Mark {
    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The number of the last change that it stands for.
    pub(super) fn number(&self) -> i64 {
        self.0.last_chunk().map_or(0, |number| i64::from_le_bytes(*number))
    }
}

/// Looks at the marks of a file without changing it, and gives the version of its tables. Errors say
/// that `tried` was tried.
pub(super) async fn recognise(connection: &mut SqliteConnection, tried: &str) -> Result<i64> {
    let tried = || tried.to_owned();
    let number = |sql: &'static str| sqlx::query_scalar::<_, i64>(sql);
    let failed = |error| storage(tried(), error);
    let application =
        number("PRAGMA application_id").fetch_one(&mut *connection).await.map_err(failed)?;
    let version =
        number("PRAGMA user_version").fetch_one(&mut *connection).await.map_err(failed)?;
    if application != APPLICATION {
        return Err(no_index(tried()));
    }
    if version > VERSION {
        return Err(Error::new(
            ErrorKind::NewerFormat,
            tried(),
            format!("its format is version {version}, and this build reads up to {VERSION}"),
        )
        .next("use the newer kuhaku that wrote it, or restore a backup from before"));
    }
    if version < 1 {
        return Err(corrupt(tried(), "its format version is not a version"));
    }
    Ok(version)
}

/// Makes the tables. Part of the caller's transaction.
pub(super) async fn create(
    connection: &mut SqliteConnection,
    fingerprint: &Fingerprint,
    id_key: &IdKey,
) -> Result<()> {
    let failed = |error| storage("create the index", error);
    sqlx::raw_sql(TABLES).execute(&mut *connection).await.map_err(failed)?;
    let marks = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}");
    sqlx::raw_sql(AssertSqlSafe(marks)).execute(&mut *connection).await.map_err(failed)?;
    write_fingerprint(connection, fingerprint).await?;
    write(connection, "id_key", id_key.as_bytes()).await
}

async fn write(connection: &mut SqliteConnection, key: &'static str, value: &[u8]) -> Result<()> {
    sqlx::query("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)")
        .bind(key)
        .bind(value)
        .execute(connection)
        .await
        .map_err(|error| storage("write to the index", error))?;
    Ok(())
}

/// Stores and gives the mark of a transaction, with its time; the oldest changes leave the log.
pub(super) async fn write_commit(
    connection: &mut SqliteConnection,
    runtime: &Runtime,
) -> Result<Mark> {
    let failed = |error| storage("write to the index", error);
    let random: [u8; 16] =
        runtime.random().map_err(|error| error.map_kind(|_| ErrorKind::Storage))?;
    let last: Option<i64> =
        sqlx::query_scalar("SELECT seq FROM sqlite_sequence WHERE name = 'changes'")
            .fetch_optional(&mut *connection)
            .await
            .map_err(failed)?;
    let last = last.unwrap_or_default();
    let before = read_commit(connection, "write to the index").await?;
    let oldest = before.map_or(last, |mark| mark.number()).saturating_sub(LOG);
    sqlx::query("DELETE FROM changes WHERE number <= ?")
        .bind(oldest)
        .execute(&mut *connection)
        .await
        .map_err(failed)?;
    write(connection, "committed", &runtime.now().as_second().to_le_bytes()).await?;
    let mark = [&random[..], &last.to_le_bytes()].concat();
    write(connection, "commit", &mark).await?;
    Ok(Mark(mark))
}

async fn read_commit(
    connection: &mut SqliteConnection,
    tried: &'static str,
) -> Result<Option<Mark>> {
    let mark: Option<Vec<u8>> = sqlx::query_scalar("SELECT value FROM meta WHERE key = 'commit'")
        .fetch_optional(connection)
        .await
        .map_err(|error| storage(tried, error))?;
    Ok(mark.map(Mark))
}

/// When the last transaction was, in seconds since 1970; absent in an index of an early build.
pub(super) async fn read_committed(connection: &mut SqliteConnection) -> Result<Option<i64>> {
    let seconds: Option<Vec<u8>> =
        sqlx::query_scalar("SELECT value FROM meta WHERE key = 'committed'")
            .fetch_optional(connection)
            .await
            .map_err(|error| storage("read the index", error))?;
    Ok(seconds.and_then(|bytes| bytes.try_into().ok()).map(i64::from_le_bytes))
}

/// What becomes of the snapshots that were noted before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Earlier {
    /// They are good still.
    Stay,
    /// They are not trusted any more.
    Go,
}

/// Notes that a snapshot of this transaction may be brought up to date. To be committed before there
/// is one, so that it is trusted from the moment in which it takes its place. Of a snapshot from
/// another history of the index, as before a backup was restored, the log of changes would go on from
/// the wrong place: none of that is noted here.
pub(super) async fn note_snapshot(
    connection: &mut SqliteConnection,
    mark: &Mark,
    earlier: Earlier,
) -> Result<()> {
    let mut marks = match earlier {
        Earlier::Stay => read(connection, "write to the index").await?.snapshots,
        Earlier::Go => Vec::new(),
    };
    marks.retain(|known| known != mark);
    marks.push(mark.clone());
    let oldest = marks.len().saturating_sub(SNAPSHOTS);
    let bytes: Vec<u8> = marks.iter().skip(oldest).flat_map(|mark| mark.0.clone()).collect();
    write(connection, "snapshot", &bytes).await
}

/// Reads the mark of the last transaction: all that is looked at while nothing changes.
pub(super) async fn read_mark(connection: &mut SqliteConnection) -> Result<Mark> {
    const TRIED: &str = "read the index";
    let mark = read_commit(connection, TRIED).await?;
    mark.ok_or_else(|| beyond_repair(TRIED, "its settings are missing or unreadable"))
}

/// Stores what shapes the index.
pub(super) async fn write_fingerprint(
    connection: &mut SqliteConnection,
    fingerprint: &Fingerprint,
) -> Result<()> {
    let json = serde_json::to_vec(fingerprint).map_err(|source| {
        Error::new(ErrorKind::Storage, "write to the index", "its fingerprint has no JSON form")
            .caused_by(source)
    })?;
    write(connection, "fingerprint", &json).await
}

/// Stores which embedder the staged vectors are of.
pub(super) async fn write_staged(
    connection: &mut SqliteConnection,
    space: &VectorSpace,
) -> Result<()> {
    let json = serde_json::to_vec(space).map_err(|source| {
        Error::new(ErrorKind::Storage, "write to the index", "an embedder has no JSON form")
            .caused_by(source)
    })?;
    write(connection, "staged", &json).await
}

/// Reads the `meta` table. Errors say that `tried` was tried.
pub(super) async fn read(connection: &mut SqliteConnection, tried: &str) -> Result<Meta> {
    let rows: Vec<(String, Vec<u8>)> = sqlx::query_as("SELECT key, value FROM meta")
        .fetch_all(connection)
        .await
        .map_err(|error| storage(tried.to_owned(), error))?;
    let value = |name: &str| rows.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let fingerprint = value("fingerprint").and_then(|json| serde_json::from_slice(json).ok());
    let id_key = value("id_key").and_then(|key| <[u8; 32]>::try_from(key.as_slice()).ok());
    match (fingerprint, id_key, value("commit")) {
        (Some(fingerprint), Some(key), Some(commit)) => {
            let (id_key, commit) = (IdKey::from_bytes(key), Mark(commit.clone()));
            let noted = value("snapshot").map(Vec::as_slice).unwrap_or_default();
            let snapshots = noted.chunks(MARK).map(|mark| Mark(mark.to_vec())).collect();
            Ok(Meta { fingerprint, id_key, commit, snapshots })
        }
        _ => Err(beyond_repair(tried.to_owned(), "its settings are missing or unreadable")),
    }
}
