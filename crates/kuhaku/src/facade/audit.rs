//! The audit of an index: its settings, its log, and what operators do with it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kuhaku_core::{
    Announcement, AuditKey, AuditLog, AuditSink as _, Pruned, Runtime, Timestamp, Verification,
};
use kuhaku_index::IdKey;

use super::audit_store::{AuditFormat, AuditRecords, AuditStore};
use crate::error::Result;

/// How long a request waits for its record in a strict log.
const STRICT_WAIT: Duration = Duration::from_secs(5);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

kuhaku_core::settings! {
    /// Settings of the audit: top level, variables `KUHAKU_AUDIT_…`.
    pub struct AuditSettings in "" {
        /// Whether every question and search leaves a record beside the index. A temporary index
        /// has no audit.
        audit_enabled: bool = true;
        /// What keeps the records: files of JSON lines, or one SQLite file to query.
        audit_sink: AuditFormat = AuditFormat::Jsonl;
        /// The file of the audit; in the folder of the index without it, `kuhaku_audit.jsonl` or
        /// `kuhaku_audit.sqlite3`. Each index needs a file of its own, since each has its own key.
        audit_log_path: Option<PathBuf> = None;
        /// Whether a request fails when its record cannot be written, and records are forced to
        /// the disk. Without it the request is answered, and the loss is counted and announced.
        audit_strict: bool = false;
        /// The length in bytes at which an audit of JSON lines goes on in a new file.
        audit_max_file_bytes: u64 = 64 * 1024 * 1024, "at least 1" => |bytes| *bytes > 0;
        /// How many days records are kept, of JSON lines in files that are full; for ever without
        /// it.
        audit_retention_days: Option<u32> = None, "at least 1"
            => |days| days.is_none_or(|days| days > 0);
        /// Whether records say how many passages that hold enough of the question were withheld from
        /// the asker. For operators: answers never say it.
        audit_withheld_count: bool = false;
    }
}

impl AuditSettings {
    /// The file of the audit of the index in this folder.
    pub fn path(&self, folder: &Path) -> PathBuf {
        let file = self.audit_sink.file();
        self.audit_log_path.clone().unwrap_or_else(|| folder.join(file))
    }

    /// Whether records of the index in this folder could be written, as far as can be told without
    /// writing. Touches no file when the audit is off.
    ///
    /// # Errors
    /// `audit.write` when the first record would surely fail.
    pub fn writable(&self, folder: &Path) -> Result<()> {
        if self.audit_enabled {
            // The key seals records, and none is written.
            let key = AuditKey::from_bytes([0; 32]);
            AuditStore::new(self, &self.path(folder), key).sink().check()?;
        }
        Ok(())
    }

    /// The records of the index in this folder, oldest first. Needs no key and verifies nothing.
    ///
    /// # Errors
    /// `audit.read` when they cannot be opened.
    pub fn records(&self, folder: &Path) -> Result<AuditRecords> {
        Ok(AuditRecords::open(self.audit_sink, &self.path(folder))?)
    }

    /// How long records are kept.
    pub(super) fn keep(&self) -> Option<Duration> {
        self.audit_retention_days.map(|days| DAY * days)
    }
}

/// The audit of an index, for operators: reading, checking and pruning.
///
/// It is there whether or not requests are put on record today, and whether or not there is a file.
#[derive(Clone, Debug)]
pub struct AuditTrail {
    store: AuditStore,
    format: AuditFormat,
    key: AuditKey,
}

impl AuditTrail {
    pub(crate) fn new(settings: &AuditSettings, folder: &Path, id_key: &IdKey) -> Self {
        let key = AuditKey::derived_from(id_key.as_bytes());
        let store = AuditStore::new(settings, &settings.path(folder), key.clone());
        Self { store, format: settings.audit_sink, key }
    }

    /// The file with the newest records.
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// What keeps the records.
    pub fn format(&self) -> AuditFormat {
        self.format
    }

    /// The records, oldest first.
    ///
    /// # Errors
    /// `audit.read` when the files cannot be listed or opened.
    pub fn read(&self) -> Result<AuditRecords> {
        Ok(AuditRecords::open(self.format, self.path())?)
    }

    /// Checks that all records are there, in order, as they were written.
    ///
    /// # Errors
    /// `audit.read` when the files cannot be read, `audit.damaged` when SQLite can make no sense of
    /// its own. What else is wrong with them is no error.
    pub fn verify(&self) -> Result<Verification> {
        Ok(self.store.verify()?)
    }

    /// Removes records that ended before `before`: of JSON lines full files whose last record did.
    ///
    /// # Errors
    /// `audit.damaged` where the oldest records do not verify, which are kept; `audit.write` when
    /// the file system refuses.
    pub fn prune(&self, before: Timestamp) -> Result<Pruned> {
        Ok(self.store.prune(before)?)
    }

    /// The log that requests are recorded in. One that cannot be written is refused when it is
    /// strict, and else announced, since it may be writable by the next request.
    pub(crate) fn start(&self, settings: &AuditSettings, runtime: &Runtime) -> Result<AuditLog> {
        if !settings.audit_enabled {
            return Ok(AuditLog::disabled());
        }
        let sink = self.store.sink();
        let checked = sink.check();
        let log = AuditLog::builder(self.key.clone(), sink).runtime(runtime.clone());
        if settings.audit_strict {
            checked?;
            return Ok(log.strict(STRICT_WAIT).start()?);
        }
        if let Err(error) = checked {
            let text = format!("requests leave no audit record: {error}");
            runtime.announce(&Announcement::new("audit", text));
        }
        Ok(log.start()?)
    }
}
