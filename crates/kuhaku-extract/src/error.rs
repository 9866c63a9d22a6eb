//! What can go wrong while extracting.

use kuhaku_core::{Failure, Kind, Status};

/// The kinds of failure of this crate. Those of the crates below keep their own codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// From the contracts: settings, models, random bytes, time limits.
    Core(kuhaku_core::ErrorKind),
    /// From the audit: a record that must be written was not.
    Audit(kuhaku_core::AuditErrorKind),
    /// A schema or a list of fields is wrong, or cannot be worked with.
    Schema,
    /// An extractor, its pipeline or a request contradicts itself.
    Configuration,
    /// A step, rule or route of the application failed.
    Component,
    /// The text looks like an attack on the instructions, where there is no result to say so.
    Blocked,
    /// A file of a batch cannot be read or written.
    Batch,
}

impl Kind for ErrorKind {
    fn code(&self) -> &'static str {
        match self {
            Self::Core(kind) => kind.code(),
            Self::Audit(kind) => kind.code(),
            Self::Schema => "extract.schema",
            Self::Configuration => "extract.configuration",
            Self::Component => "extract.component",
            Self::Blocked => "extract.blocked",
            Self::Batch => "extract.batch",
        }
    }

    fn status(&self) -> Status {
        match self {
            Self::Core(kind) => kind.status(),
            Self::Audit(kind) => kind.status(),
            _ => Status::Permanent,
        }
    }

    fn is_outage(&self) -> bool {
        match self {
            Self::Core(kind) => kind.is_outage(),
            _ => false,
        }
    }
}

/// The error of this crate.
pub type Error = Failure<ErrorKind>;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Takes over an error of a crate below, text and all.
pub(crate) trait Adopt<T> {
    /// The same result under this crate's kind.
    fn adopt(self) -> Result<T>;
}

impl<T> Adopt<T> for kuhaku_core::Result<T> {
    fn adopt(self) -> Result<T> {
        self.map_err(|error| error.map_kind(ErrorKind::Core))
    }
}

impl<T> Adopt<T> for Result<T, kuhaku_core::AuditError> {
    fn adopt(self) -> Result<T> {
        self.map_err(|error| error.map_kind(ErrorKind::Audit))
    }
}
