//! One writer at a time, across processes: an OS lock that dies with its holder.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::failure::{disk, locked};
use super::private;
use crate::error::Result;

/// Held while something is written. The empty file stays; the lock on it does not.
#[derive(Debug)]
pub(super) struct WriteLock(File);

impl Drop for WriteLock {
    fn drop(&mut self) {
        // Closing alone would leave it to a child process that is being started, for a moment.
        if self.0.unlock().is_err() {
            tracing::debug!("the write lock goes when the file is closed");
        }
    }
}

impl WriteLock {
    /// Takes the lock of an index folder, without waiting.
    pub(super) fn acquire(directory: &Path) -> Result<Self> {
        const TRIED: &str = "write to the index";
        let file =
            private::file(&directory.join("index.lock")).map_err(|source| disk(TRIED, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(locked(TRIED)),
            Err(TryLockError::Error(source)) => Err(disk(TRIED, source)),
        }
    }
}
