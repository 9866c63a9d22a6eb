//! Making a new index: in a folder beside, moved into place when it is complete.
//!
//! A process that is killed in between leaves no half-made index, only a folder that the next one
//! removes.

use std::fs;
use std::path::{Path, PathBuf};

use kuhaku_core::Runtime;
use sqlx::Connection as _;
use sqlx::sqlite::SqliteConnection;

use super::failure::{disk, storage};
use super::lock::WriteLock;
use super::open::{FILE, connect};
use super::options::OpenOptions;
use super::schema;
use crate::error::{Error, ErrorKind, Result};
use crate::identity::IdKey;

const TRIED: &str = "create the index";
const PREFIX: &str = "index.new-";

fn unusable(source: std::io::Error) -> Error {
    disk(TRIED, source)
}

/// Makes the folder of a new index, readable by its owner alone where the system knows that: it
/// will hold restricted text. A folder that is there stays as it is, and those above are ordinary.
pub(super) fn make_folder(folder: &Path) -> std::io::Result<()> {
    if let Some(above) = folder.parent() {
        fs::create_dir_all(above)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Makes an index in a folder that has none.
pub(super) async fn make(options: &OpenOptions) -> Result<()> {
    let failed = |error| storage(TRIED, error);
    let folder = &options.directory;
    let _lock = WriteLock::acquire(folder)?;
    let file = folder.join(FILE);
    // Another process may have made it in between.
    if file.try_exists().map_err(unusable)? {
        return Ok(());
    }
    let site = Site::new(folder, &options.runtime)?;
    let id_key = match &options.id_key {
        Some(key) => key.clone(),
        None => IdKey::random(&options.runtime)?,
    };
    let draft = site.0.join(FILE);
    let with = connect(&draft).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&with).await.map_err(failed)?;
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    schema::create(&mut transaction, &options.fingerprint.for_new(), &id_key).await?;
    schema::write_commit(&mut transaction, &options.runtime).await?;
    transaction.commit().await.map_err(failed)?;
    // Last, so that all of it is in the one file that is moved.
    sqlx::raw_sql("PRAGMA journal_mode = WAL").execute(&mut connection).await.map_err(failed)?;
    connection.close().await.map_err(failed)?;
    fs::File::open(&draft).and_then(|file| file.sync_all()).map_err(unusable)?;
    // What an index that someone removed has left would be replayed into this one.
    for rest in ["-wal", "-shm", "-journal"] {
        remove(fs::remove_file(folder.join(format!("{FILE}{rest}"))))?;
    }
    fs::rename(&draft, &file).map_err(unusable)?;
    #[cfg(unix)]
    fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(unusable)?;
    Ok(())
}

/// What is not there needs no removing.
fn remove(removed: std::io::Result<()>) -> Result<()> {
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unusable(error)),
        _ => Ok(()),
    }
}

/// The folder in which an index is made; it goes with whatever is in it.
#[derive(Debug)]
struct Site(PathBuf);

impl Site {
    /// A folder of its own name, since a killed attempt's database may be closing still. The caller
    /// holds the write lock, so what other attempts have left is nobody's.
    fn new(folder: &Path, runtime: &Runtime) -> Result<Self> {
        for entry in fs::read_dir(folder).map_err(unusable)?.flatten() {
            let is_site = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
            if is_site && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                remove(fs::remove_dir_all(entry.path()))?;
            }
        }
        let random: [u8; 8] =
            runtime.random().map_err(|error| error.map_kind(|_| ErrorKind::Storage))?;
        let path = folder.join(format!("{PREFIX}{:016x}", u64::from_le_bytes(random)));
        make_folder(&path).map_err(unusable)?;
        Ok(Self(path))
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(kind = %error.kind(), "the folder of a new index stays for now");
        }
    }
}
