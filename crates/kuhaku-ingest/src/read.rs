//! Reading a file no further than allowed.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};

/// The size limit unless another is given: 64 MiB per file.
pub const DEFAULT_MAX_BYTES: u64 = 64 * 1024 * 1024;

const TRIED: &str = "read the file";

/// Reads a regular file of at most `max_bytes` bytes. At most one byte more is ever read, so a file
/// that grows meanwhile is caught.
///
/// # Errors
/// [`ErrorKind::NotFound`], [`ErrorKind::NotRegular`], [`ErrorKind::TooLarge`] or
/// [`ErrorKind::Io`]. The message does not hold the path.
pub fn read_limited(path: impl AsRef<Path>, max_bytes: u64) -> Result<Vec<u8>> {
    let path = path.as_ref();
    // Opening a pipe would wait for its writer, so look first; look again at what was opened. Whoever
    // swaps a pipe in between the two can make this wait: the standard library opens without waiting
    // only by a flag whose number differs between systems.
    regular_len(path)?;
    let file = File::open(path).map_err(|error| io_error(TRIED, error))?;
    let metadata = file.metadata().map_err(|error| io_error(TRIED, error))?;
    if !metadata.is_file() {
        return Err(not_regular(TRIED));
    }
    check_size(TRIED, metadata.len(), max_bytes)?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    file.take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| io_error(TRIED, error))?;
    check_size(TRIED, bytes.len() as u64, max_bytes)?;
    Ok(bytes)
}

/// The length of a regular file.
pub(crate) fn regular_len(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path).map_err(|error| io_error(TRIED, error))?;
    if metadata.is_file() { Ok(metadata.len()) } else { Err(not_regular(TRIED)) }
}

/// Refuses what is over the limit; exactly the limit passes.
pub(crate) fn check_size(tried: &'static str, len: u64, max_bytes: u64) -> Result<()> {
    if len <= max_bytes {
        return Ok(());
    }
    let wrong = format!("it is larger than the limit of {max_bytes} bytes");
    Err(Error::new(ErrorKind::TooLarge, tried, wrong)
        .next("split it, or raise the limit (for the command, KUHAKU_RAG__MAX_UPLOAD_BYTES)"))
}

fn not_regular(tried: &'static str) -> Error {
    Error::new(ErrorKind::NotRegular, tried, "it is not a regular file")
        .next("name a file or a folder of files")
}

/// An input or output error, told apart as far as the next step differs.
pub(crate) fn io_error(tried: &'static str, error: io::Error) -> Error {
    let (kind, wrong, next) = match error.kind() {
        io::ErrorKind::NotFound => {
            (ErrorKind::NotFound, "nothing is there", "check how the path is written")
        }
        io::ErrorKind::PermissionDenied => (
            ErrorKind::Io,
            "this user may not read it",
            "give this user the right to read it, or leave it out",
        ),
        _ => (
            ErrorKind::Io,
            "the operating system refused",
            "see the cause, and try to open it in another program",
        ),
    };
    Error::new(kind, tried, wrong).next(next).caused_by(error)
}
