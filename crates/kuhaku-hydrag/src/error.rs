//! What can go wrong in a search over several heads.

use kuhaku_core::{Failure, Kind, Status};

/// The kinds of failure of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value given by the caller breaks a documented rule.
    InvalidInput,
    /// The backend cannot answer now.
    Unavailable,
    /// The backend answered with an error of its own.
    Backend,
    /// A time limit ended the search.
    TimedOut,
}

impl Kind for ErrorKind {
    fn code(&self) -> &'static str {
        match self {
            Self::InvalidInput => "hydrag.invalid_input",
            Self::Unavailable => "hydrag.unavailable",
            Self::Backend => "hydrag.backend",
            Self::TimedOut => "hydrag.timed_out",
        }
    }

    fn status(&self) -> Status {
        match self {
            Self::Unavailable | Self::TimedOut => Status::Temporary,
            _ => Status::Permanent,
        }
    }
}

/// The error of this crate.
pub type Error = Failure<ErrorKind>;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
