//! What can go wrong while ingesting or answering.

use kuhaku_core::{Failure, Kind, Status};

/// The kinds of failure of this crate. Those of the crates below keep their own codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// From the contracts: settings, models, random bytes.
    Core(kuhaku_core::ErrorKind),
    /// From reading and chunking documents.
    Ingest(kuhaku_ingest::ErrorKind),
    /// From the index.
    Index(kuhaku_index::ErrorKind),
    /// From the audit: a record that must be written was not.
    Audit(kuhaku_core::AuditErrorKind),
    /// A custom retriever broke its contract.
    Retriever,
    /// The model failed after a part of its answer had been given.
    PartialAnswer,
}

impl Kind for ErrorKind {
    fn code(&self) -> &'static str {
        match self {
            Self::Core(kind) => kind.code(),
            Self::Ingest(kind) => kind.code(),
            Self::Index(kind) => kind.code(),
            Self::Audit(kind) => kind.code(),
            Self::Retriever => "rag.retriever",
            Self::PartialAnswer => "rag.partial_answer",
        }
    }

    fn status(&self) -> Status {
        match self {
            Self::Core(kind) => kind.status(),
            Self::Ingest(kind) => kind.status(),
            Self::Index(kind) => kind.status(),
            Self::Audit(kind) => kind.status(),
            Self::Retriever | Self::PartialAnswer => Status::Permanent,
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

macro_rules! adopt {
    ($($krate:ident => $kind:ident),+) => {$(
        impl<T> Adopt<T> for $krate::Result<T> {
            fn adopt(self) -> Result<T> {
                self.map_err(|error| error.map_kind(ErrorKind::$kind))
            }
        }
    )+};
}
adopt!(kuhaku_core => Core, kuhaku_ingest => Ingest, kuhaku_index => Index);

impl<T> Adopt<T> for Result<T, kuhaku_core::AuditError> {
    fn adopt(self) -> Result<T> {
        self.map_err(|error| error.map_kind(ErrorKind::Audit))
    }
}

/// An error about what a caller gave.
pub(crate) fn invalid_input(
    tried: &'static str,
    wrong: impl Into<std::borrow::Cow<'static, str>>,
) -> Error {
    Error::new(ErrorKind::Core(kuhaku_core::ErrorKind::InvalidInput), tried, wrong)
}
