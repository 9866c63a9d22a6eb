//! What can go wrong with datasets, runs and comparisons.

use std::io;
use std::path::Path;

use kuhaku_core::{Failure, Kind, Status};

/// The kinds of failure of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value given by the caller breaks a documented rule.
    InvalidInput,
    /// A text names no measure.
    UnknownMeasure,
    /// A file or folder could not be read.
    Unreadable,
    /// A file could not be written.
    Unwritable,
    /// Lines of a dataset are wrong; the message lists every one.
    InvalidDataset,
    /// A file is not a run of this crate, or was changed since.
    InvalidRun,
    /// The run file exists, and resuming it was not asked for.
    RunExists,
    /// Another process writes the run file.
    RunLocked,
    /// Two runs, or a run and a dataset, or an archive and its sum, do not belong together.
    Mismatch,
    /// No dataset of that name is known.
    UnknownSet,
    /// From the contracts and from downloads.
    Core(kuhaku_core::ErrorKind),
}

impl Kind for ErrorKind {
    fn code(&self) -> &'static str {
        match self {
            Self::InvalidInput => "eval.invalid_input",
            Self::UnknownMeasure => "eval.unknown_measure",
            Self::Unreadable => "eval.unreadable",
            Self::Unwritable => "eval.unwritable",
            Self::InvalidDataset => "eval.invalid_dataset",
            Self::InvalidRun => "eval.invalid_run",
            Self::RunExists => "eval.run_exists",
            Self::RunLocked => "eval.run_locked",
            Self::Mismatch => "eval.mismatch",
            Self::UnknownSet => "eval.unknown_set",
            Self::Core(kind) => kind.code(),
        }
    }

    fn status(&self) -> Status {
        match self {
            Self::Core(kind) => kind.status(),
            _ => Status::Permanent,
        }
    }
}

/// The error of this crate.
pub type Error = Failure<ErrorKind>;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

pub(crate) fn unreadable(path: &Path, source: io::Error) -> Error {
    Error::new(ErrorKind::Unreadable, format!("read {}", path.display()), reason(&source))
        .next("check the path and its permissions")
        .caused_by(source)
}

pub(crate) fn unwritable(path: &Path, source: io::Error) -> Error {
    Error::new(ErrorKind::Unwritable, format!("write {}", path.display()), reason(&source))
        .next("check the folder, its permissions and the free space")
        .caused_by(source)
}

/// The kind alone: messages of decoders may quote what they read (R7).
fn reason(source: &io::Error) -> String {
    source.kind().to_string()
}
