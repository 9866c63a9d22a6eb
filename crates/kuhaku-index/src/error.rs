//! What can go wrong with an index.

use kuhaku_core::{Failure, Kind, Status};

/// The kinds of failure of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value given by the caller breaks a documented rule.
    InvalidInput,
    /// The index was made with other settings that shape what is stored (D15).
    FingerprintMismatch,
    /// The index was written by a newer version.
    NewerFormat,
    /// The folder holds no index, and none was to be made.
    NotFound,
    /// Another process or handle writes to the index.
    Locked,
    /// The disk or the database refused to read or write.
    Storage,
    /// Stored bytes are not what was written.
    Corrupt,
}

impl Kind for ErrorKind {
    fn code(&self) -> &'static str {
        match self {
            Self::InvalidInput => "index.invalid_input",
            Self::FingerprintMismatch => "index.fingerprint_mismatch",
            Self::NewerFormat => "index.newer_format",
            Self::NotFound => "index.not_found",
            Self::Locked => "index.locked",
            Self::Storage => "index.storage",
            Self::Corrupt => "index.corrupt",
        }
    }

    fn status(&self) -> Status {
        match self {
            Self::Locked => Status::Temporary,
            _ => Status::Permanent,
        }
    }
}

/// The error of this crate.
pub type Error = Failure<ErrorKind>;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
