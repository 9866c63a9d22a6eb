//! The durable engine: one SQLite file holds the truth, memory holds what searching needs.
//!
//! A batch is one transaction (R10). Opening rebuilds the in-memory form from the stored terms of
//! each chunk; texts stay in the file until they are fetched.

mod codec;
mod failure;
mod lock;
mod maintenance;
mod open;
mod options;
mod reader;
mod rows;
mod schema;
mod writer;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use kuhaku_core::{Runtime, Scope};
use sqlx::SqlitePool;

use self::reader::SqliteReader;
use self::writer::Writer;
use crate::contract::{ChunkIndex, ChunkReader, Maintenance};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::identity::IdKey;
use crate::inverted::{Live, View};
use crate::write::{ApplyReport, Batch};

pub use options::{FingerprintParts, OpenOptions};

/// An index in a folder: `index.sqlite3` and, for writers, `index.lock`.
///
/// Searching needs no disk and never waits for a writer; fetching texts reads the file. One handle
/// at a time writes, across processes: another gets [`crate::ErrorKind::Locked`]. Its async methods
/// need a tokio runtime with timers.
///
/// ```
/// use kuhaku_core::{Runtime, Scope};
/// use kuhaku_index::{ChunkIndex, OpenOptions, SqliteIndex};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let folder = tempfile::tempdir()?;
/// let options = OpenOptions::new(folder.path(), Runtime::system()).create(true);
/// let index = SqliteIndex::open(options).await?;
/// assert_eq!(index.reader(&Scope::anonymous()).await?.visible_chunks(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SqliteIndex {
    directory: PathBuf,
    pool: SqlitePool,
    live: Live,
    fingerprint: RwLock<Fingerprint>,
    id_key: IdKey,
    runtime: Runtime,
    writer: tokio::sync::Mutex<Writer>,
}

impl fmt::Debug for SqliteIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteIndex").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl SqliteIndex {
    /// What a scope sees now, without its texts: the synchronous form of [`ChunkIndex::reader`].
    pub fn view(&self, scope: &Scope) -> View {
        self.live.view(scope)
    }

    fn set_fingerprint(&self, fingerprint: Fingerprint) {
        *self.fingerprint.write().unwrap_or_else(PoisonError::into_inner) = fingerprint;
    }
}

#[async_trait]
impl ChunkIndex for SqliteIndex {
    async fn apply(&self, batch: Batch) -> Result<ApplyReport> {
        self.write(batch).await
    }

    async fn reader(&self, scope: &Scope) -> Result<Arc<dyn ChunkReader>> {
        Ok(Arc::new(SqliteReader { view: self.view(scope), pool: self.pool.clone() }))
    }

    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn id_key(&self) -> IdKey {
        self.id_key.clone()
    }

    fn maintenance(&self) -> &dyn Maintenance {
        self
    }
}
