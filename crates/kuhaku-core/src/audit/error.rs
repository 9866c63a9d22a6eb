//! What can go wrong with the audit.

use std::{fmt, io};

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

/// Says what is in the place of a log's file and is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foreign(&'static str);

impl Foreign {
    pub(super) fn error(what: &'static str) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, Self(what))
    }

    fn within(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Foreign {}

/// A failure of the file system while writing.
pub(super) fn unwritable(tried: &'static str, source: io::Error) -> AuditError {
    if let Some(Foreign(what)) = Foreign::within(&source) {
        return AuditError::new(AuditErrorKind::Write, tried, what)
            .next("give the audit log a path where nothing else is")
            .caused_by(source);
    }
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
