//! What a walk finds.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::format::Format;

/// One thing that a walk came across.
///
/// ```
/// use kuhaku_ingest::{Found, SkipReason, WalkOptions, walk};
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("a.md"), "Tea")?;
/// # std::fs::write(folder.path().join("b.png"), "B")?;
/// let mut lines = Vec::new();
/// for found in walk([folder.path()], &WalkOptions::default())? {
///     lines.push(match found {
///         Found::File(file) => format!("{}: {} bytes", file.relative.display(), file.len),
///         Found::Skipped { reason: SkipReason::UnsupportedFormat, .. } => "another format".into(),
///         Found::Skipped { reason, .. } => format!("{reason:?}"),
///         Found::Problem { error, .. } => error.to_string(),
///         _ => continue,
///     });
/// }
/// assert_eq!(lines, ["a.md: 3 bytes", "another format"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Found {
    /// A file to read.
    File(FoundFile),
    /// Something that was passed over.
    Skipped {
        /// Where it is.
        path: PathBuf,
        /// Why.
        reason: SkipReason,
    },
    /// Something that should have been read and cannot be.
    Problem {
        /// Where it is. May hold personal data: mask it before showing it.
        path: PathBuf,
        /// What is wrong; does not repeat the path.
        error: Error,
    },
}

impl Found {
    /// Where it is. May hold personal data: mask it before showing it.
    pub fn path(&self) -> &Path {
        match self {
            Self::File(file) => &file.path,
            Self::Skipped { path, .. } | Self::Problem { path, .. } => path,
        }
    }
}

/// A regular file of a known format within the size limit. To prepare it, read `path` with
/// [`read_limited`](crate::read_limited) and name the source by `relative`, as the example of
/// [`walk`](crate::walk) does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundFile {
    /// Where it is: the root joined with `relative`.
    pub path: PathBuf,
    /// Its path below the root; the file name when it was named itself.
    pub relative: PathBuf,
    /// The format that its suffix stands for.
    pub format: Format,
    /// Bytes, when it was found.
    pub len: u64,
}

/// Why something in a folder was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// Its suffix stands for no format that is read.
    UnsupportedFormat,
    /// It is a symbolic link. Links inside a folder are not followed.
    SymbolicLink,
    /// It is a pipe, a socket or a device.
    NotRegular,
}
