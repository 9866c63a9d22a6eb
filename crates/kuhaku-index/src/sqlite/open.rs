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

fn missing(folder: &Path, tried: String) -> Error {
    Error::new(ErrorKind::NotFound, tried, format!("`{}` holds no index", folder.display()))
        .next("run `kuhaku ingest PATH --index DIR` first, or name the folder of an index")
}

/// Makes the folder of a new index, readable by its owner alone where the system knows that: it
/// will hold restricted text. A folder that is there stays as it is, and those above are ordinary.
fn make_folder(folder: &Path) -> std::io::Result<()> {
    if let Some(above) = folder.parent() {
        std::fs::create_dir_all(above)?;
    }
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
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
        let file = options.directory.join("index.sqlite3");
        let exists = match std::fs::metadata(&file) {
            Ok(found) if found.is_file() => true,
            Ok(_) => {
                return Err(super::failure::corrupt(tried(), "index.sqlite3 is not a file"));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(disk(tried(), error)),
        };
        if !exists && !options.create {
            return Err(missing(&options.directory, tried()));
        }
        if !exists {
            make_folder(&options.directory).map_err(|error| disk(tried(), error))?;
        }
        let recognised = if exists { look(&file, &tried()).await? } else { Recognised::Blank };
        if recognised == Recognised::Blank {
            if !options.create {
                return Err(missing(&options.directory, tried()));
            }
            make(&file, &options, &tried()).await?;
        }
        let pool = SqlitePoolOptions::new()
            .max_connections(CONNECTIONS)
            .connect_with(connect(&file))
            .await
            .map_err(|error| storage(tried(), error))?;
        let mut reading = pool.begin().await.map_err(|error| storage(tried(), error))?;
        let Meta { fingerprint, id_key, commit } = schema::read(&mut reading, &tried()).await?;
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
        reading.rollback().await.map_err(|error| storage(tried(), error))?;
        let analyzer = Analyzer::new(fingerprint.tokenizer, fingerprint.language);
        let writer = Writer::at(commit);
        let generation = aside("open the index", move || Generation::of(draft)).await?;
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

async fn look(file: &Path, tried: &str) -> Result<Recognised> {
    let failed = |error| storage(tried.to_owned(), error);
    let mut connection = SqliteConnection::connect_with(&connect(file)).await.map_err(failed)?;
    let recognised = schema::recognise(&mut connection, tried).await;
    connection.close().await.map_err(failed)?;
    recognised
}

async fn make(file: &Path, options: &OpenOptions, tried: &str) -> Result<()> {
    let failed = |error| storage("create the index", error);
    let _lock = WriteLock::acquire(&options.directory)?;
    let with = connect(file).create_if_missing(true).journal_mode(SqliteJournalMode::Wal);
    let mut connection = SqliteConnection::connect_with(&with).await.map_err(failed)?;
    // Another process may have made it in between.
    if schema::recognise(&mut connection, tried).await? == Recognised::Blank {
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
