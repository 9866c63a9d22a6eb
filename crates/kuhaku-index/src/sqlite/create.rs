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
use super::{private, schema};
use crate::error::{Error, ErrorKind, Result};
use crate::identity::IdKey;

const TRIED: &str = "create the index";
const PREFIX: &str = "index.new-";

fn unusable(source: std::io::Error) -> Error {
    disk(TRIED, source)
}

/// Makes an index in a folder that has none.
pub(super) async fn make(options: &OpenOptions) -> Result<()> {
    let failed = |error| storage(TRIED, error);
    let folder = &options.directory;
    let _lock = WriteLock::acquire(folder)?;
    // Another process may have made it in between.
    if folder.join(FILE).try_exists().map_err(unusable)? {
        return Ok(());
    }
    let site = Site::new(folder, &options.runtime)?;
    let id_key = match &options.id_key {
        Some(key) => key.clone(),
        None => IdKey::random(&options.runtime)?,
    };
    let mut connection = site.begin().await?;
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    schema::create(&mut transaction, &options.fingerprint.for_new(), &id_key).await?;
    schema::write_commit(&mut transaction, &options.runtime).await?;
    transaction.commit().await.map_err(failed)?;
    site.end(connection).await?;
    site.install(folder)
}

/// Removes what SQLite keeps beside a database: it would be replayed into another one of that name.
pub(super) fn remove_logs(file: &Path) -> Result<()> {
    for rest in ["-wal", "-shm", "-journal"] {
        let mut name = file.as_os_str().to_owned();
        name.push(rest);
        remove(fs::remove_file(name))?;
    }
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
pub(super) struct Site(PathBuf);

impl Site {
    /// A folder of its own name, since a killed attempt's database may be closing still. The caller
    /// holds the write lock, so what other attempts have left is nobody's.
    pub(super) fn new(folder: &Path, runtime: &Runtime) -> Result<Self> {
        for entry in fs::read_dir(folder).map_err(unusable)?.flatten() {
            let is_site = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
            if is_site && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                remove(fs::remove_dir_all(entry.path()))?;
            }
        }
        let random: [u8; 8] =
            runtime.random().map_err(|error| error.map_kind(|_| ErrorKind::Storage))?;
        let path = folder.join(format!("{PREFIX}{:016x}", u64::from_le_bytes(random)));
        private::folder(&path).map_err(unusable)?;
        Ok(Self(path))
    }

    pub(super) fn file(&self) -> PathBuf {
        self.0.join(FILE)
    }

    /// An empty database.
    pub(super) async fn begin(&self) -> Result<SqliteConnection> {
        private::file(&self.file()).map_err(unusable)?;
        let opened = SqliteConnection::connect_with(&connect(&self.file())).await;
        opened.map_err(|error| storage(TRIED, error))
    }

    /// Makes the one file hold all that was written.
    pub(super) async fn end(&self, mut connection: SqliteConnection) -> Result<()> {
        let failed = |error| storage(TRIED, error);
        sqlx::raw_sql("PRAGMA journal_mode = WAL")
            .execute(&mut connection)
            .await
            .map_err(failed)?;
        connection.close().await.map_err(failed)?;
        fs::File::open(self.file()).and_then(|file| file.sync_all()).map_err(unusable)
    }

    /// Moves the database into its place, over another one.
    pub(super) fn install(&self, folder: &Path) -> Result<()> {
        remove_logs(&folder.join(FILE))?;
        fs::rename(self.file(), folder.join(FILE)).map_err(unusable)?;
        private::settle(folder).map_err(unusable)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(kind = %error.kind(), "the folder of a new index stays for now");
        }
    }
}
