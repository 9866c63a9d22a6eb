//! The connection that the writers of a process share, and their turns.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use kuhaku_core::AuditErrorKind;
use sqlx::{Connection as _, SqliteConnection};

use super::Result;
use super::connection::{folder, private, to_write};
use super::failure::system;
use super::waiting::wait;

#[derive(Debug)]
pub(super) struct Database {
    path: PathBuf,
    sync: bool,
    open: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    connection: SqliteConnection,
    file: Identity,
}

/// What tells a file from another one of the same name.
type Identity = Option<(u64, u64)>;

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).map(|found| Some((found.dev(), found.ino())))
}

/// A file that is open cannot be replaced there.
#[cfg(not(unix))]
fn identity(_: &Path) -> io::Result<Identity> {
    Ok(None)
}

/// Closes the connection, so that the file holds everything when nobody else has it open.
impl Drop for Database {
    fn drop(&mut self) {
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(open) = open {
            drop(wait(open.connection.close()));
        }
    }
}

impl Database {
    /// Touches no file.
    pub(super) fn new(path: PathBuf, sync: bool) -> Self {
        Self { path, sync, open: Mutex::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Does `work` while no other thread or process writes. Folder and file are made if they are
    /// missing.
    ///
    /// SQLite would let writers try again until they find a gap, which some never do; a lock of the
    /// operating system makes them queue.
    pub(super) fn write<T>(
        &self,
        tried: &'static str,
        work: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T>,
    ) -> Result<T> {
        let failed = |source| system(AuditErrorKind::Write, tried, source);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        fs::create_dir_all(folder(&self.path)).map_err(failed)?;
        let turn = private(&self.path.with_extension("lock")).map_err(failed)?;
        turn.lock().map_err(failed)?;
        wait(async {
            let mut current = match self.take_current(&mut open).await {
                Some(current) => current,
                None => {
                    let connection = to_write(&self.path, self.sync, tried).await?;
                    Open { connection, file: identity(&self.path).map_err(failed)? }
                }
            };
            let done = work(&mut current.connection).await;
            match done {
                Ok(_) => *open = Some(current),
                // What state it is in is not worth finding out.
                Err(_) => drop(current.connection.close().await),
            }
            done
        })
    }

    /// The open connection, unless its file is no longer the one of this name.
    async fn take_current(&self, open: &mut Option<Open>) -> Option<Open> {
        let current = open.take()?;
        if identity(&self.path).is_ok_and(|file| file == current.file) {
            return Some(current);
        }
        // SQLite leaves the files beside it alone when it sees that its own was moved.
        drop(current.connection.close().await);
        None
    }
}
