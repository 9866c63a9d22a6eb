//! What can go wrong between a file and its chunks.

use kuhaku_core::{Failure, Kind};

/// The kinds of failure of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value given by the caller breaks a documented rule.
    InvalidInput,
    /// The format cannot be read.
    Unsupported,
    /// The content is not what the file's name says.
    Mismatch,
    /// There is no text.
    Empty,
    /// The file or text is over the size limit, or gives too many chunks.
    TooLarge,
    /// The document names its access tags in a way that cannot be understood, or seems to state them
    /// where they are not read.
    AccessTags,
    /// There is nothing at the path.
    NotFound,
    /// The path leads to something that is not a regular file.
    NotRegular,
    /// The operating system refused to read.
    Io,
}

impl Kind for ErrorKind {
    fn code(&self) -> &'static str {
        match self {
            Self::InvalidInput => "ingest.invalid_input",
            Self::Unsupported => "ingest.unsupported",
            Self::Mismatch => "ingest.mismatch",
            Self::Empty => "ingest.empty",
            Self::TooLarge => "ingest.too_large",
            Self::AccessTags => "ingest.access_tags",
            Self::NotFound => "ingest.not_found",
            Self::NotRegular => "ingest.not_regular",
            Self::Io => "ingest.io",
        }
    }
}

/// The error of this crate.
pub type Error = Failure<ErrorKind>;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
