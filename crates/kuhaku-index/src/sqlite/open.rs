//! Opening: finding or making the file, recognising it, and reading it into memory.

use std::path::Path;
use std::sync::RwLock;
use std::time::Duration;

use sqlx::Connection as _;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};

use super::failure::{disk, storage};
use super::lock::WriteLock;
use super::options::OpenOptions;
use super::schema::{Meta, Recognised};
use super::writer::{Writer, aside};
use super::{SqliteIndex, rows, schema};
use crate::analysis::Analyzer;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Seeded;
use crate::identity::IdKey;
use crate::inverted::{Draft, Generation, Live};

const TRIED: &str = "open the index";

/// Connections for reading texts; searching needs none.
const CONNECTIONS: u32 = 4;

fn connect(file: &Path) -> SqliteConnectOptions {
    use sqlx::ConnectOptions as _;
    SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(false)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .pragma("secure_delete", "ON")
        .busy_timeout(Duration::from_secs(5))
        .disable_statement_logging()
}

fn missing() -> Error {
    Error::new(ErrorKind::NotFound, TRIED, "the folder holds none")
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
        let file = options.directory.join("index.sqlite3");
        let exists = match std::fs::metadata(&file) {
            Ok(found) if found.is_file() => true,
            Ok(_) => {
                return Err(super::failure::corrupt(TRIED, "index.sqlite3 is not a file"));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(disk(TRIED, error)),
        };
        if !exists && !options.create {
            return Err(missing());
        }
        if !exists {
            std::fs::create_dir_all(&options.directory).map_err(|error| disk(TRIED, error))?;
        }
        let recognised = if exists { look(&file).await? } else { Recognised::Blank };
        if recognised == Recognised::Blank {
            if !options.create {
                return Err(missing());
            }
            make(&file, &options).await?;
        }
        let pool = SqlitePoolOptions::new()
            .max_connections(CONNECTIONS)
            .connect_with(connect(&file))
            .await
            .map_err(|error| storage(TRIED, error))?;
        let mut reading = pool.begin().await.map_err(|error| storage(TRIED, error))?;
        let Meta { fingerprint, id_key, commit } = schema::read(&mut reading).await?;
        options.fingerprint.check(&fingerprint)?;
        if options.id_key.as_ref().is_some_and(|wanted| *wanted != id_key) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "open the index with this id key",
                "it was made with another one",
            )
            .next("leave the id key out, or make a new index with it"));
        }
        let mut draft = Draft::default();
        rows::load(&mut reading, &mut draft, 0, i64::MAX).await?;
        reading.rollback().await.map_err(|error| storage(TRIED, error))?;
        let analyzer = Analyzer::new(fingerprint.tokenizer, fingerprint.language);
        let writer = Writer::at(commit);
        let generation = aside(TRIED, move || Generation::of(draft)).await?;
        Ok(Self {
            directory: options.directory,
            pool,
            live: Live::new(generation, analyzer, Seeded::default()),
            fingerprint: RwLock::new(fingerprint),
            id_key,
            runtime: options.runtime,
            writer: tokio::sync::Mutex::new(writer),
        })
    }

    /// Ends all use of the file. Searches of open readers still work; reading texts does not.
    pub async fn close(&self) {
        let _writing = self.writer.lock().await;
        self.pool.close().await;
    }
}

async fn look(file: &Path) -> Result<Recognised> {
    let failed = |error| storage(TRIED, error);
    let mut connection = SqliteConnection::connect_with(&connect(file)).await.map_err(failed)?;
    let recognised = schema::recognise(&mut connection).await;
    connection.close().await.map_err(failed)?;
    recognised
}

async fn make(file: &Path, options: &OpenOptions) -> Result<()> {
    let failed = |error| storage("create the index", error);
    let _lock = WriteLock::acquire(&options.directory)?;
    let with = connect(file).create_if_missing(true).journal_mode(SqliteJournalMode::Wal);
    let mut connection = SqliteConnection::connect_with(&with).await.map_err(failed)?;
    // Another process may have made it in between.
    if schema::recognise(&mut connection).await? == Recognised::Blank {
        let id_key = match &options.id_key {
            Some(key) => key.clone(),
            None => IdKey::random(&options.runtime)?,
        };
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        schema::create(&mut transaction, &options.fingerprint.for_new(), &id_key).await?;
        schema::write_commit(&mut transaction, &options.runtime).await?;
        transaction.commit().await.map_err(failed)?;
    }
    connection.close().await.map_err(failed)
}
