//! What goes wrong with the database, in the words of this crate.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind};

/// Stored bytes that are not what was written.
pub(super) fn corrupt(
    tried: impl Into<Cow<'static, str>>,
    wrong: impl Into<Cow<'static, str>>,
) -> Error {
    Error::new(ErrorKind::Corrupt, tried, wrong)
        .next("restore the folder from a backup, or remove it and ingest the documents again")
}

/// A file in the place of the index that is none, which may be of use to somebody.
pub(super) fn no_index(tried: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::Corrupt, tried, "index.sqlite3 is there and is no index")
        .next("restore a backup of the folder, or remove the file to start anew")
}

/// A failure of the database. Its own text names no content.
pub(super) fn storage(tried: impl Into<Cow<'static, str>>, source: sqlx::Error) -> Error {
    // The primary result codes of SQLite: 5 busy, 6 locked, 11 corrupt, 26 not a database.
    let code = source.as_database_error().and_then(|error| error.code());
    let primary = code.and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff);
    let decoding = matches!(
        source,
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::ColumnNotFound(_)
    );
    match primary {
        Some(5 | 6) => locked(tried).caused_by(source),
        Some(11 | 26) => corrupt(tried, "index.sqlite3 is damaged or no index").caused_by(source),
        _ if decoding => corrupt(tried, "a stored row is unreadable").caused_by(source),
        _ => Error::new(ErrorKind::Storage, tried, "the database could not read or write")
            .next("check that the folder is writable and the disk has room, then try again")
            .caused_by(source),
    }
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
