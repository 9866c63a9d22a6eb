//! A consistent copy of an index in use.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use sqlx::{Connection as _, SqliteConnection};

use super::failure::{corrupt, disk, storage};
use super::lock::WriteLock;
use super::open::{FILE, connect};
use super::verify::{Depth, inspect};
use super::{SqliteIndex, private};
use crate::error::{Error, ErrorKind, Result};

const TRIED: &str = "back the index up";

/// Between the name of a backup in the making and 16 random hexadecimal digits.
const UNFINISHED: &str = ".unfinished-";

fn failed(error: sqlx::Error) -> Error {
    storage(TRIED, error)
}

fn unusable(error: std::io::Error) -> Error {
    disk(TRIED, error)
}

/// What [`SqliteIndex::backup`] has made.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Backup {
    /// The folder: an index of its own, to be opened where it is or moved into place.
    pub folder: PathBuf,
    /// Documents in it.
    pub documents: u64,
    /// Chunks in it, held-back ones included.
    pub chunks: u64,
    /// Bytes of its database.
    pub bytes: u64,
}

impl SqliteIndex {
    /// Copies the index as it is at one moment into a folder that is made for it, while readers and
    /// writers go on. What was removed is not in the copy. The folder appears when the copy is
    /// complete, on the disk, and verified.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when something of that name is there, and nothing is touched then;
    /// [`ErrorKind::Storage`] from the disk.
    pub async fn backup(&self, folder: &Path) -> Result<Backup> {
        let taken = |wrong| {
            let next = "name a folder that does not exist yet";
            Error::new(ErrorKind::InvalidInput, TRIED, wrong).next(next)
        };
        if folder.try_exists().map_err(unusable)? {
            return Err(taken("something of that name is there"));
        }
        let name = folder.file_name().ok_or_else(|| taken("the path names no folder"))?;
        let random: [u8; 8] =
            self.runtime.random().map_err(|error| error.map_kind(|_| ErrorKind::Storage))?;
        let mut prefix = name.to_owned();
        prefix.push(UNFINISHED);
        remove_leftovers(folder, &prefix);
        let mut unfinished = prefix;
        unfinished.push(format!("{:016x}", u64::from_le_bytes(random)));
        let site = Unfinished(folder.with_file_name(unfinished));
        private::folder(&site.0).map_err(unusable)?;
        // Tells other backups that somebody is at work here.
        let lock = WriteLock::acquire(&site.0)?;
        let file = site.0.join(FILE);
        private::file(&file).map_err(unusable)?;
        let path = file.to_str().ok_or_else(|| taken("the path is not Unicode"))?;
        let mut connection = self.connection().await?;
        sqlx::query("VACUUM INTO ?").bind(path).execute(&mut *connection).await.map_err(failed)?;
        drop(connection);

        let mut copy = SqliteConnection::connect_with(&connect(&file)).await.map_err(failed)?;
        // Nobody reads the copy yet, so nobody needs what was removed or follows its log.
        let clean = "DELETE FROM documents WHERE row IN (SELECT document FROM retired); \
                     DELETE FROM changes; VACUUM; PRAGMA journal_mode = WAL";
        sqlx::raw_sql(clean).execute(&mut copy).await.map_err(failed)?;
        let verified = inspect(&mut copy, Depth::Quick).await?;
        copy.close().await.map_err(failed)?;
        if !verified.is_sound() {
            return Err(corrupt(TRIED, "the index is damaged, and so would be the copy"));
        }
        fs::File::open(&file).and_then(|file| file.sync_all()).map_err(unusable)?;
        private::settle(&site.0).map_err(unusable)?;
        let bytes = private::size(&file);
        // Elsewhere no folder is moved with an open file in it; there, another backup to the same place
        // may take this one for a leftover in the moment between.
        let lock = cfg!(unix).then_some(lock);
        // On Unix this would take the place of an empty folder made since; that is harmless.
        fs::rename(&site.0, folder).map_err(unusable)?;
        drop(lock);
        if let Some(above) = folder.parent().filter(|above| !above.as_os_str().is_empty()) {
            private::settle(above).map_err(unusable)?;
        }
        let (documents, chunks) = (verified.documents, verified.chunks);
        Ok(Backup { folder: folder.to_owned(), documents, chunks, bytes })
    }
}

/// Removes what killed processes have left of backups to the same folder. The locks of those that are
/// at work are held.
fn remove_leftovers(folder: &Path, prefix: &OsStr) {
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(above.unwrap_or(Path::new("."))) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let random = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        let is_ours = random.is_some_and(|random| {
            random.len() == 16 && random.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        });
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if let Ok(lock) = WriteLock::acquire(&entry.path()) {
            drop(lock);
            drop(Unfinished(entry.path()));
        }
    }
}

/// A copy in the making; it goes with whatever is in it unless it was moved into place.
#[derive(Debug)]
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.0.exists() && fs::remove_dir_all(&self.0).is_err() {
            tracing::debug!("an unfinished backup stays");
        }
    }
}
