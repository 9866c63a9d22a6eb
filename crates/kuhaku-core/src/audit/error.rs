//! What can go wrong with the audit.

use std::io;

use crate::error::{Failure, Kind, Status};

/// What can go wrong when records are written, read or checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuditErrorKind {
    /// A value breaks a documented rule.
    InvalidInput,
    /// A sink could not take a record.
    Write,
    /// The queue, or the channel of a sink, had no room.
    Full,
    /// A strict request waited for its record as long as it may.
    TimedOut,
    /// The log or its files could not be read.
    Read,
    /// A line is not a record; the message says which.
    BadLine,
    /// The log does not verify where it must.
    Damaged,
}

impl Kind for AuditErrorKind {
    fn code(&self) -> &'static str {
        match self {
            Self::InvalidInput => "audit.invalid_input",
            Self::Write => "audit.write",
            Self::Full => "audit.full",
            Self::TimedOut => "audit.timed_out",
            Self::Read => "audit.read",
            Self::BadLine => "audit.bad_line",
            Self::Damaged => "audit.damaged",
        }
    }

    fn status(&self) -> Status {
        match self {
            Self::Full | Self::TimedOut => Status::Temporary,
            _ => Status::Permanent,
        }
    }
}

/// The error of the audit.
pub type AuditError = Failure<AuditErrorKind>;

pub(super) type Result<T, E = AuditError> = std::result::Result<T, E>;

/// A failure of the file system while writing.
pub(super) fn unwritable(tried: &'static str, source: io::Error) -> AuditError {
    AuditError::new(AuditErrorKind::Write, tried, format!("the system says: {}", source.kind()))
        .next("check the path of the audit log, its permissions and the room on its disk")
        .caused_by(source)
}

/// A failure of the file system while reading.
pub(super) fn unreadable(tried: &'static str, source: io::Error) -> AuditError {
    AuditError::new(AuditErrorKind::Read, tried, format!("the system says: {}", source.kind()))
        .next("check the path of the audit log and its permissions")
        .caused_by(source)
}
