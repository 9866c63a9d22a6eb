//! The durable engine: one SQLite file holds the truth, memory holds what searching needs.
//!
//! A batch is one transaction (R10). Opening rebuilds the in-memory form from the stored terms of
//! each chunk; texts stay in the file until they are fetched.

mod background;
mod backup;
mod codec;
mod compact;
mod create;
mod examine;
mod failure;
mod finding;
mod follow;
mod insert;
mod keep;
mod lock;
mod maintenance;
mod migrate;
mod open;
mod options;
mod pins;
mod presence;
mod private;
mod purge;
mod reader;
mod record;
mod repair;
mod rows;
mod schema;
mod shape;
mod staged;
mod usage;
mod vectors;
mod verify;
mod walk;
mod writer;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use kuhaku_core::{Runtime, Scope};
use sqlx::SqlitePool;

use self::pins::Pins;
use self::presence::Presence;
use self::reader::SqliteReader;
use self::schema::Mark;
use self::writer::Writer;
use crate::ann::Ann;
use crate::contract::{ChunkIndex, ChunkReader, Maintenance};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::identity::IdKey;
use crate::inverted::{Live, View};
use crate::write::{ApplyReport, Batch};

pub use backup::Backup;
pub use compact::Compaction;
pub use finding::{Finding, FindingKind};
pub use options::{FingerprintParts, OpenOptions};
pub use repair::Repair;
pub use usage::Usage;
pub use verify::{Depth, Verification};

/// An index in a folder: `index.sqlite3`, and beside it `index.open` and, for writers, `index.lock`,
/// both empty.
///
/// Making a reader takes one look into the file, at whether another handle has written, and follows
/// it. Searching needs no disk and never waits for a writer; fetching texts reads the file. One
/// handle at a time writes, across processes: another gets [`crate::ErrorKind::Locked`], or
/// [`crate::ErrorKind::FingerprintMismatch`] when it was opened before the index was replaced with
/// other settings. Texts of what was removed stay for as long as a reader of this handle needs them,
/// and for ten minutes when another handle has the index open. Its async methods need a tokio
/// runtime with timers.
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
    /// Shared with readers, whose texts must stay.
    presence: Arc<Presence>,
    live: Live,
    /// What `live` shows.
    shown: RwLock<Mark>,
    /// Held while another generation is made current.
    following: tokio::sync::Mutex<()>,
    pins: Pins,
    fingerprint: RwLock<Fingerprint>,
    id_key: IdKey,
    runtime: Runtime,
    writer: tokio::sync::Mutex<Writer>,
    ann: Ann,
}

impl fmt::Debug for SqliteIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteIndex").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl SqliteIndex {
    /// What a scope sees, without its texts: the synchronous form of [`ChunkIndex::reader`]. It does
    /// not look whether another handle has written since this one last looked.
    pub fn view(&self, scope: &Scope) -> View {
        self.live.view(scope)
    }

    /// Builds the graphs that are wanted and missing, on a thread that may block, while searches go on
    /// without them. True when they are all there; false when the index changed meanwhile. Opening and
    /// compacting do this.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Storage`] when the work stopped.
    pub async fn build_graphs(&self) -> Result<bool> {
        if self.ann == Ann::Exact {
            return Ok(true);
        }
        let (current, ann) = (self.live.generation(), self.ann);
        let base = Arc::clone(&current);
        let built =
            writer::aside("build a graph of vectors", move || base.with_graphs(ann)).await?;
        let Some(next) = built else { return Ok(true) };
        let _following = self.following.lock().await;
        let is_current = Arc::ptr_eq(&current, &self.live.generation());
        if is_current {
            self.pins.retire(&current, Vec::new());
            self.live.publish(next);
        }
        Ok(is_current)
    }

    /// The number of the last change that readers made now show: for tests that must know after which
    /// batch that is. Part of no answer (D10).
    #[cfg(feature = "seeded-faults")]
    pub fn last_change(&self) -> i64 {
        self.shown().number()
    }

    fn set_fingerprint(&self, fingerprint: Fingerprint) {
        *self.fingerprint.write().unwrap_or_else(PoisonError::into_inner) = fingerprint;
    }
}

#[async_trait]
impl ChunkIndex for SqliteIndex {
    async fn close(&self) {
        SqliteIndex::close(self).await;
    }

    async fn apply(&self, batch: Batch) -> Result<ApplyReport> {
        self.write(batch).await
    }

    async fn reader(&self, scope: &Scope) -> Result<Arc<dyn ChunkReader>> {
        self.follow().await?;
        let (view, pool) = (Arc::new(self.view(scope)), self.pool.clone());
        Ok(Arc::new(SqliteReader { view, pool, _presence: Arc::clone(&self.presence) }))
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
