//! Failures of the disk as errors, and work that may wait for it.

use std::fs;
use std::io;
use std::path::Path;

use tokio::task::spawn_blocking;

use crate::error::{Error, ErrorKind, Result};

/// What the system says of a path.
pub(super) fn failed(what: &'static str, path: &Path, source: io::Error) -> Error {
    let tried = format!("{what} ({})", path.display());
    let (wrong, next) = match source.kind() {
        io::ErrorKind::StorageFull => {
            ("the disk is full", "make room and try again; what has come is kept")
        }
        io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            let next = "raise the limit or choose another folder; what has come is kept";
            ("a limit on the size of files or of the folder is reached", next)
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            ("the folder may not be written to", "choose another folder, or change its rights")
        }
        // Said by this program, not by the system.
        _ if source.raw_os_error().is_none() && source.get_ref().is_some() => {
            return Error::new(ErrorKind::Storage, tried, source.to_string())
                .next("remove it, and try again");
        }
        _ => ("the system refused", "check the folder, its rights and the free space"),
    };
    Error::new(ErrorKind::Storage, tried, wrong).next(next).caused_by(source)
}

/// Refuses what is there and no regular file: a write would go through a link to somewhere else, and
/// a pipe would never end.
pub(super) fn regular_or_none(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::other("a link or no file is in its place")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Does work that waits for the disk where waiting harms nobody. When the caller is dropped, the
/// work that has begun goes on to its end.
pub(super) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|stopped| {
        let wrong = "the work on the disk was stopped";
        Err(Error::new(ErrorKind::Cancelled, "go on with a download", wrong)
            .next("try again")
            .caused_by(stopped))
    })
}
