//! What goes wrong with the database, in the words of this crate.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind};

/// Stored bytes that are not what was written.
pub(super) fn corrupt(
    tried: impl Into<Cow<'static, str>>,
    wrong: impl Into<Cow<'static, str>>,
) -> Error {
    Error::new(ErrorKind::Corrupt, tried, wrong).next(
        "run `kuhaku index repair`, or restore a backup, or remove the folder and ingest again",
    )
}

/// What repairing does not bring back: it is not made from anything else that is stored.
pub(super) fn beyond_repair(
    tried: impl Into<Cow<'static, str>>,
    wrong: impl Into<Cow<'static, str>>,
) -> Error {
    corrupt(tried, wrong).next("restore a backup, or ingest anew into another folder")
}

/// A file in the place of the index that is none, which may be of use to somebody.
pub(super) fn no_index(tried: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::Corrupt, tried, "index.sqlite3 is there and is no index")
        .next("restore a backup of the folder, or remove the file to start anew")
}

/// A failure of the database. Its own text names no content.
pub(super) fn storage(tried: impl Into<Cow<'static, str>>, source: sqlx::Error) -> Error {
    // The primary result codes of SQLite: 5 busy, 6 locked, 8 read-only, 11 corrupt, 13 full,
    // 14 cannot open, 26 not a database.
    let code = source.as_database_error().and_then(|error| error.code());
    let primary = code.and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff);
    // SQLite has no code of its own for this.
    let lacks_table = source
        .as_database_error()
        .is_some_and(|error| error.message().starts_with("no such table"));
    let decoding = matches!(
        source,
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::ColumnNotFound(_)
    );
    let refused = |tried, wrong, next| Error::new(ErrorKind::Storage, tried, wrong).next(next);
    let error = match primary {
        Some(5 | 6) => locked(tried),
        Some(8) => refused(
            tried.into(),
            "index.sqlite3 may only be read",
            "allow writing to the folder and its files, or use a copy of the folder",
        ),
        Some(11 | 26) => corrupt(tried, "index.sqlite3 is damaged or no index"),
        Some(13) => refused(
            tried.into(),
            "the disk is full; what was stored before is as it was",
            "make room on the disk, then try again",
        ),
        Some(14) => refused(
            tried.into(),
            "index.sqlite3 or a file beside it cannot be opened",
            "check who may read and write the folder and its files",
        ),
        _ if lacks_table => beyond_repair(tried, "a table of it is missing"),
        _ if decoding => corrupt(tried, "a stored row is unreadable"),
        _ => refused(
            tried.into(),
            "the database could not read or write",
            "check that the folder is writable and the disk has room, then try again",
        ),
    };
    error.caused_by(source)
}

/// Whether stored bytes are at fault, not the disk, the rights or another process.
pub(super) fn is_damage(source: &sqlx::Error) -> bool {
    let code = source.as_database_error().and_then(|error| error.code());
    let primary = code.and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff);
    primary.is_none_or(|code| matches!(code, 1 | 11 | 26))
        && !matches!(
            source,
            sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed
        )
}

/// A failure of the file system.
pub(super) fn disk(tried: impl Into<Cow<'static, str>>, source: std::io::Error) -> Error {
    Error::new(ErrorKind::Storage, tried, format!("the folder is not usable ({})", source.kind()))
        .next("choose a folder that can be made and written, and check that the disk has room")
        .caused_by(source)
}

/// Another writer.
pub(super) fn locked(tried: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::Locked, tried, "another process or handle is writing to it")
        .next("wait until it has finished, then try again")
}
