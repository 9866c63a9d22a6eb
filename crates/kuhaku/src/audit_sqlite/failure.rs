//! What goes wrong with the database, in the words of the audit.

use std::io;

use kuhaku_core::{AuditError, AuditErrorKind};

/// A failure of the database. Its own text names no content.
pub(super) fn storage(
    kind: AuditErrorKind,
    tried: &'static str,
    source: sqlx::Error,
) -> AuditError {
    let error = match primary(&source) {
        Some(5 | 6) => AuditError::new(kind, tried, "another program holds the database")
            .next("end what has the audit open for writing, then try again"),
        Some(11) => AuditError::new(AuditErrorKind::Damaged, tried, "the database is damaged")
            .next("move the file away, together with those ending in -wal and -shm, and keep it"),
        Some(26) => foreign(kind, tried),
        Some(13) => AuditError::new(kind, tried, "the disk is full")
            .next("make room on the disk of the audit log"),
        Some(8 | 14) => AuditError::new(kind, tried, "the database cannot be opened")
            .next("check the path of the audit log and its permissions"),
        _ => AuditError::new(kind, tried, "the database could not read or write")
            .next("check the path of the audit log, its permissions and the room on its disk"),
    };
    error.caused_by(source)
}

/// The primary result code of SQLite: 5 busy, 6 locked, 8 read-only, 11 corrupt, 13 full, 14 cannot
/// open, 26 not a database.
pub(super) fn primary(source: &sqlx::Error) -> Option<u32> {
    let code = source.as_database_error()?.code()?;
    code.parse().ok().map(|code: u32| code & 0xff)
}

/// A failure of the file system.
pub(super) fn system(kind: AuditErrorKind, tried: &'static str, source: io::Error) -> AuditError {
    AuditError::new(kind, tried, format!("the system says: {}", source.kind()))
        .next("check the path of the audit log, its permissions and the room on its disk")
        .caused_by(source)
}

/// A file in the place of the log that is something else, which may be of use to somebody.
pub(super) fn foreign(kind: AuditErrorKind, tried: &'static str) -> AuditError {
    AuditError::new(kind, tried, "the file is there and is no audit of this kind")
        .next("choose another path, or move the file away")
}

/// What must verify and does not.
pub(super) fn damaged(tried: &'static str, wrong: &'static str) -> AuditError {
    AuditError::new(AuditErrorKind::Damaged, tried, wrong)
        .next("verify the log, find out what happened, and move its files away")
}
