//! Who has the index open, across processes: a shared OS lock per handle, which dies with it.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use super::failure::{disk, locked};
use super::private;
use super::writer::aside;
use crate::error::Result;

/// How often an opening handle looks whether another has finished deleting, and how long it waits
/// in between: five seconds in all.
const TRIES: u32 = 250;
const PAUSE: Duration = Duration::from_millis(20);

/// Held, shared, from opening to the end of the handle and of its readers. The empty file stays.
/// Nothing is held where the file is missing and cannot be made: who can write there could.
#[derive(Debug)]
pub(super) struct Presence(Option<File>);

impl Presence {
    /// Makes this handle known. Waits while another, which took itself to be alone, deletes rows.
    pub(super) async fn announce(directory: &Path) -> Result<Self> {
        const TRIED: &str = "open the index";
        let path = directory.join("index.open");
        aside(TRIED, move || {
            // Who may only read the folder can still lock a file that is there.
            let file = match private::file(&path).or_else(|_| File::open(&path)) {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self(None)),
                Err(error) => return Err(disk(TRIED, error)),
            };
            for _ in 0..TRIES {
                match file.try_lock_shared() {
                    Ok(()) => return Ok(Self(Some(file))),
                    Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                    Err(TryLockError::Error(source)) => return Err(disk(TRIED, source)),
                }
            }
            Err(locked(TRIED))
        })
        .await?
    }

    /// Whether no other handle has the index open; none can open it while the result is kept.
    /// Only for who holds the write lock: for a moment this handle itself is not known.
    pub(super) fn alone(&self) -> Result<Option<Alone<'_>>> {
        const TRIED: &str = "see who has the index open";
        // A lock cannot be turned into an exclusive one: the attempt may lose it.
        let Some(file) = &self.0 else { return Ok(None) };
        file.unlock().map_err(|source| disk(TRIED, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Alone(self))),
            Err(TryLockError::WouldBlock) => {
                self.share();
                Ok(None)
            }
            Err(TryLockError::Error(source)) => {
                self.share();
                Err(disk(TRIED, source))
            }
        }
    }

    fn share(&self) {
        // Only a holder of the write lock takes it exclusively, and that is this handle.
        if self.0.as_ref().is_some_and(|file| file.try_lock_shared().is_err()) {
            tracing::debug!("the index is open without others knowing");
        }
    }

    /// Ends being known, for a handle that reads no texts any more.
    pub(super) fn leave(&self) {
        if self.0.as_ref().is_some_and(|file| file.unlock().is_err()) {
            tracing::debug!("the index stays open in the eyes of others");
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // Closing alone would leave it to a child process that is being started, for a moment.
        self.leave();
    }
}

/// Keeps others from opening the index.
#[derive(Debug)]
pub(super) struct Alone<'a>(&'a Presence);

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.0.leave();
        self.0.share();
    }
}
