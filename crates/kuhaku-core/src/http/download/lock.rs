//! One download of a file at a time, across processes.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::time::sleep;

use super::disk::{self, regular_or_none};
use crate::error::Result;

/// How long is waited before the lock is tried again.
const PAUSE: Duration = Duration::from_millis(100);

/// Held while a file is written, by one process at a time. Made by
/// [`Downloader::lock`](super::Downloader::lock). The system gives it back when the process ends, however it ends;
/// the file itself stays, since removing it could let two in.
#[derive(Debug)]
#[must_use]
pub struct DownloadLock(#[expect(dead_code, reason = "holding the file is what locks")] File);

impl DownloadLock {
    /// Waits for the lock; `waiting` is called once if somebody else has it.
    pub(super) async fn acquire(path: &Path, waiting: impl Fn()) -> Result<Self> {
        let failed = |source| disk::failed("lock a download", path, source);
        let file = open(path).map_err(failed)?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
                Err(TryLockError::WouldBlock) => {}
            }
            if !told {
                waiting();
                told = true;
            }
            sleep(PAUSE).await;
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    regular_or_none(path)?;
    File::options().create(true).truncate(false).write(true).open(path)
}
