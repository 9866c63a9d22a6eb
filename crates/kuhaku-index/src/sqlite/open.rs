//! Opening: finding or making the file, recognising it, and reading it into memory.

use std::path::Path;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use kuhaku_core::Runtime;
use sqlx::Connection as _;
use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePoolOptions, SqliteSynchronous};

use super::create::make;
use super::failure::{corrupt, disk, no_index, storage};
use super::keep::{Kept, kept};
use super::options::OpenOptions;
use super::pins::Pins;
use super::presence::Presence;
use super::schema::Meta;
use super::writer::{Writer, aside};
use super::{SqliteIndex, migrate, private, rows, schema};
use crate::analysis::Analyzer;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::VectorSpace;
use crate::inverted::{Draft, Generation, Live};

/// The name of the database.
pub(super) const FILE: &str = "index.sqlite3";

/// Connections for reading texts; searching needs none.
const CONNECTIONS: u32 = 4;

/// What SQLite's log of recent writes is cut back to once its content is in the database: 16 MiB.
const LOG_BYTES: &str = "16777216";

/// The same in pages: so much is written before it is copied into the database, so that pages that
/// change again meanwhile are copied once.
const LOG_PAGES: &str = "4096";

pub(super) fn connect(file: &Path) -> SqliteConnectOptions {
    use sqlx::ConnectOptions as _;
    SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(false)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .pragma("secure_delete", "ON")
        .pragma("journal_size_limit", LOG_BYTES)
        .pragma("wal_autocheckpoint", LOG_PAGES)
        .busy_timeout(Duration::from_secs(5))
        .disable_statement_logging()
}

pub(super) fn missing(folder: &Path, tried: String) -> Error {
    Error::new(ErrorKind::NotFound, tried, format!("`{}` holds no index", folder.display()))
        .next("run `kuhaku ingest PATH --index DIR` first, or name the folder of an index")
}

impl SqliteIndex {
    /// Opens the index in a folder and reads what searching needs into memory.
    ///
    /// Without [`OpenOptions::create`] nothing is made; SQLite keeps its own `-wal` and `-shm` files
    /// beside the database while it is open.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is no index and none shall be made;
    /// [`ErrorKind::FingerprintMismatch`] when a part that the caller insists on differs;
    /// [`ErrorKind::InvalidInput`] for another id key than the stored one;
    /// [`ErrorKind::NewerFormat`], [`ErrorKind::Corrupt`], [`ErrorKind::Locked`] or
    /// [`ErrorKind::Storage`] from the file.
    pub async fn open(options: OpenOptions) -> Result<Self> {
        let tried = format!("open the index `{}`", options.directory.display());
        let tried = || tried.clone();
        let file = options.directory.join(FILE);
        if find(&file, &tried())? == Found::Nothing {
            if !options.create {
                return Err(missing(&options.directory, tried()));
            }
            private::folder(&options.directory).map_err(|error| disk(tried(), error))?;
            make(&options).await?;
        }
        let (with, mut connection) = access(&options.directory, &options.runtime, &tried()).await?;
        // Before anything is read, so that nothing of it is deleted by who thinks to be alone.
        let presence = Presence::announce(&options.directory).await?;
        let mut reading = connection.begin().await.map_err(|error| storage(tried(), error))?;
        let meta = schema::read(&mut reading, &tried()).await?;
        let Meta { fingerprint, id_key, commit, .. } = meta.clone();
        options.fingerprint.check(&fingerprint)?;
        if options.id_key.as_ref().is_some_and(|wanted| *wanted != id_key) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "open the index with this id key",
                "it was made with another one",
            )
            .next("leave the id key out, or make a new index with it"));
        }
        // The first connection of the pool is ready by the time that the snapshot is read.
        let (kept, pool) =
            tokio::join!(kept(&options.directory, meta, options.seeded), connections(with));
        let (kept, pool) = (kept?, pool.map_err(|error| storage(tried(), error))?);
        let snapshot = kept.as_ref().map(|(_, mark)| mark.clone());
        let (generation, shown) = match kept {
            Some(kept) => kept,
            None => (load(&mut reading, fingerprint.space()).await?, commit),
        };
        let analyzer = Analyzer::new(fingerprint.tokenizer, fingerprint.language);
        let writer = Writer { fingerprint: fingerprint.clone(), kept: Kept::new(snapshot) };
        let index = Self {
            directory: options.directory,
            pool,
            presence: Arc::new(presence),
            live: Live::new(generation, analyzer, options.seeded),
            shown: RwLock::new(shown),
            following: tokio::sync::Mutex::default(),
            pins: Pins::default(),
            fingerprint: RwLock::new(fingerprint),
            id_key,
            runtime: options.runtime,
            writer: tokio::sync::Mutex::new(writer),
            ann: options.ann,
        };
        // What was committed since the snapshot.
        index.catch_up(&mut reading).await?;
        reading.rollback().await.map_err(|error| storage(tried(), error))?;
        // Not the last one, so that SQLite's files beside the database stay for those of the pool.
        connection.close().await.map_err(|error| storage(tried(), error))?;
        index.build_graphs().await?;
        Ok(index)
    }

    /// Ends all use of the file, and deletes what was removed if no other handle has it open. Searches
    /// of open readers still work; reading texts does not.
    ///
    /// A snapshot that is being written is waited for, or replaced when much has changed since. A handle
    /// that is dropped without closing gives it up, and waits for nothing.
    pub async fn close(&self) {
        let mut writer = self.writer.lock().await;
        if let Err(error) = self.tidy_at_close().await {
            tracing::debug!(code = error.code(), "retired rows stay for now");
        }
        self.keep_at_close(&mut writer.kept).await;
        self.pool.close().await;
        self.presence.leave();
    }
}

/// Connections for reading texts, of which the first is made.
async fn connections(with: SqliteConnectOptions) -> sqlx::Result<SqlitePool> {
    SqlitePoolOptions::new()
        .max_connections(CONNECTIONS)
        .test_before_acquire(false)
        // SQLite ends a transaction by itself when the disk fails it; sqlx then never begins
        // another on that connection.
        .before_acquire(|connection, _| {
            let usable = !connection.is_in_transaction();
            Box::pin(async move { Ok(usable) })
        })
        .connect_with(with)
        .await
}

/// Reads all that searching needs: what the caller's transaction sees.
pub(super) async fn load(
    connection: &mut SqliteConnection,
    space: Option<VectorSpace>,
) -> Result<Generation> {
    let mut draft = Draft::default();
    let dimension = space.as_ref().map_or(0, |space| space.dimension);
    rows::load(connection, &mut draft, 0, i64::MAX, dimension).await?;
    aside("open the index", move || Generation::of(space, draft.finish())).await
}

/// What is in the place of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    File,
}

/// Looks for the database. Errors say that `tried` was tried.
pub(super) fn find(file: &Path, tried: &str) -> Result<Found> {
    let tried = || tried.to_owned();
    match std::fs::metadata(file) {
        Ok(found) if !found.is_file() => Err(corrupt(tried(), "index.sqlite3 is not a file")),
        // Not even looked at: beside an empty file SQLite removes a log that may be of use.
        Ok(found) if found.len() == 0 => Err(no_index(tried())),
        Ok(_) => Ok(Found::File),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Found::Nothing),
        Err(error) => Err(disk(tried(), error)),
    }
}

/// Recognises the file, brings it up to date, and finds out how it can be read. The connection reads it
/// so.
pub(super) async fn access(
    folder: &Path,
    runtime: &Runtime,
    tried: &str,
) -> Result<(SqliteConnectOptions, SqliteConnection)> {
    let file = folder.join(FILE);
    let mut with = connect(&file);
    let (mut connection, version) = match recognised(&with, tried).await {
        Err(error) if *error.kind() == ErrorKind::Storage && is_still(folder) => {
            // SQLite keeps its log in the folder unless it is told that nothing changes.
            with = connect(&file).read_only(true).immutable(true);
            recognised(&with, tried).await.map_err(|_| error)?
        }
        opened => opened?,
    };
    if version < migrate::VERSION {
        migrate::migrate(&mut connection, folder, runtime).await?;
    }
    Ok((with, connection))
}

async fn recognised(with: &SqliteConnectOptions, tried: &str) -> Result<(SqliteConnection, i64)> {
    let opened = SqliteConnection::connect_with(with).await;
    let mut connection = opened.map_err(|error| storage(tried.to_owned(), error))?;
    let version = schema::recognise(&mut connection, tried).await?;
    Ok((connection, version))
}

/// Whether this process may not write to a folder, and nobody else has left anything in its log.
fn is_still(folder: &Path) -> bool {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    let written = private::file(&folder.join("index.open")).map_err(|error| error.kind());
    matches!(written, Err(PermissionDenied | ReadOnlyFilesystem))
        && private::size(&folder.join(format!("{FILE}-wal"))) == 0
}
