//! Opening the database of an audit, to write or to read.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use kuhaku_core::AuditErrorKind;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, SqliteConnection};

use super::Result;
use super::failure::{foreign, primary, storage, system};
use super::tables::{APPLICATION, Recognised, create, recognise};

/// How long others are waited for that use the database without taking turns.
pub(super) const BUSY: Duration = Duration::from_secs(5);

/// What SQLite's log of recent writes is cut back to once its content is in the database: 4 MiB.
const LOG_BYTES: &str = "4194304";

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .busy_timeout(BUSY)
        .disable_statement_logging()
}

/// Opens the database, and makes it when it is missing, for its owner alone (mode 0600 on Unix).
/// SQLite gives its own files beside it the same mode. The caller has the turn to write.
pub(super) async fn to_write(
    path: &Path,
    sync: bool,
    tried: &'static str,
) -> Result<SqliteConnection> {
    const WRITE: AuditErrorKind = AuditErrorKind::Write;
    let failed = |source| storage(WRITE, tried, source);
    private(path).map_err(|source| system(WRITE, tried, source))?;
    // With a log of writes (WAL) nothing is forced to the disk by `Normal` until it is cut back, and
    // every transaction by `Full`.
    let synchronous = if sync { SqliteSynchronous::Full } else { SqliteSynchronous::Normal };
    let options = options(path)
        .synchronous(synchronous)
        .pragma("secure_delete", "ON")
        .pragma("journal_size_limit", LOG_BYTES);
    let mut connection = options.connect().await.map_err(failed)?;
    match recognise(&mut connection).await.map_err(failed)? {
        Recognised::Audit => {}
        Recognised::Empty => {
            let wal = sqlx::raw_sql("PRAGMA journal_mode = WAL");
            wal.execute(&mut connection).await.map_err(failed)?;
            create(&mut connection).await.map_err(failed)?;
            if sync {
                settle(path).map_err(|source| system(WRITE, tried, source))?;
            }
        }
        other => return Err(other.refusal(WRITE, tried)),
    }
    Ok(connection)
}

/// Opens the database without changing it; `None` when there is no log yet.
pub(super) async fn to_read(path: &Path, tried: &'static str) -> Result<Option<SqliteConnection>> {
    const READ: AuditErrorKind = AuditErrorKind::Read;
    if fresh(path).map_err(|source| system(READ, tried, source))? {
        return Ok(None);
    }
    let opened = match open(options(path).read_only(true)).await {
        // Who may not write to the folder cannot share SQLite's log. Without one, nothing changes.
        Err(source) if matches!(primary(&source), Some(8 | 14)) && logged(path) == 0 => {
            open(options(path).read_only(true).immutable(true)).await
        }
        opened => opened,
    };
    match opened.map_err(|source| storage(READ, tried, source))? {
        (connection, Recognised::Audit) => Ok(Some(connection)),
        (_, Recognised::Empty) => Ok(None),
        (_, other) => Err(other.refusal(READ, tried)),
    }
}

async fn open(options: SqliteConnectOptions) -> sqlx::Result<(SqliteConnection, Recognised)> {
    let mut connection = options.connect().await?;
    let recognised = recognise(&mut connection).await?;
    Ok((connection, recognised))
}

/// How many bytes SQLite's log has.
fn logged(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).map_or(0, |found| found.len())
}

/// Whether there is no log yet: no file, or an empty one.
fn fresh(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) => Ok(found.len() == 0 && logged(path) == 0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Whether the file, if there is one, can be an audit, by its first bytes alone: opening a database
/// makes files beside it.
pub(super) fn looks_right(path: &Path, tried: &'static str) -> Result<()> {
    use std::io::Read as _;
    const WRITE: AuditErrorKind = AuditErrorKind::Write;
    // The file format of SQLite, section 1.3: a magic text, and at 68 the application.
    let mut header = Vec::new();
    match File::open(path).and_then(|file| file.take(72).read_to_end(&mut header)) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(system(WRITE, tried, error)),
    }
    let application = header.last_chunk().map(|bytes| u32::from_be_bytes(*bytes));
    let database = header.len() == 72 && header.starts_with(b"SQLite format 3\0");
    // Until SQLite cuts back its log, the mark may be there alone.
    match application {
        _ if header.is_empty() => Ok(()),
        Some(0 | APPLICATION) if database => Ok(()),
        _ => Err(foreign(WRITE, tried)),
    }
}

/// Opens a file for writing, making it for its owner alone when it is missing.
pub(super) fn private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Forces the name of the file to the disk, where the system has a way to.
fn settle(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder(path))?.sync_all()?;
    }
    Ok(())
}

/// The folder of the file.
pub(super) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
