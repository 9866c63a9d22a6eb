//! One error for all commands: a sentence for the person at the terminal.

use std::fmt;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) struct Error(String);

/// A result with this crate's [`Error`].
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// "cannot …: …", in the order in which errors of the workspace are worded.
pub(crate) fn cannot(tried: impl fmt::Display, wrong: impl fmt::Display) -> Error {
    Error(format!("cannot {tried}: {wrong}"))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
