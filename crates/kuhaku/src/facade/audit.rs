//! The audit of an index: its settings, its log, and what operators do with it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kuhaku_core::{
    Announcement, AuditKey, AuditLog, AuditReader, AuditSink as _, JsonlOptions, JsonlSink, Pruned,
    Runtime, Timestamp, Verification, verify_audit,
};
use kuhaku_index::IdKey;

use crate::error::Result;

/// The name of the log in the folder of its index.
const LOG: &str = "kuhaku_audit.jsonl";

/// How long a request waits for its record in a strict log.
const STRICT_WAIT: Duration = Duration::from_secs(5);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

kuhaku_core::settings! {
    /// Settings of the audit: top level, variables `KUHAKU_AUDIT_…`.
    pub struct AuditSettings in "" {
        /// Whether every question and search leaves a record beside the index. A temporary index
        /// has no audit.
        audit_enabled: bool = true;
        /// The file of the audit; `kuhaku_audit.jsonl` in the folder of the index without it. Each
        /// index needs a file of its own, since each has its own key.
        audit_log_path: Option<PathBuf> = None;
        /// Whether a request fails when its record cannot be written, and records are forced to
        /// the disk. Without it the request is answered, and the loss is counted and announced.
        audit_strict: bool = false;
        /// The length in bytes at which the audit goes on in a new file.
        audit_max_file_bytes: u64 = 64 * 1024 * 1024, "at least 1" => |bytes| *bytes > 0;
        /// How many days files of the audit that are full are kept; for ever without it.
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
        self.audit_log_path.clone().unwrap_or_else(|| folder.join(LOG))
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
            JsonlSink::new(self.path(folder), key, JsonlOptions::default()).check()?;
        }
        Ok(())
    }
}

/// The audit of an index, for operators: reading, checking and pruning.
///
/// It is there whether or not requests are put on record today, and whether or not there is a file.
#[derive(Clone, Debug)]
pub struct AuditTrail {
    sink: JsonlSink,
    key: AuditKey,
}

impl AuditTrail {
    pub(crate) fn new(settings: &AuditSettings, folder: &Path, id_key: &IdKey) -> Self {
        let key = AuditKey::derived_from(id_key.as_bytes());
        let mut options = JsonlOptions::default()
            .max_bytes(settings.audit_max_file_bytes)
            .sync(settings.audit_strict);
        if let Some(days) = settings.audit_retention_days {
            options = options.keep(DAY * days);
        }
        Self { sink: JsonlSink::new(settings.path(folder), key.clone(), options), key }
    }

    /// The file with the newest records.
    pub fn path(&self) -> &Path {
        self.sink.path()
    }

    /// The records, oldest first.
    ///
    /// # Errors
    /// `audit.read` when the files cannot be listed or opened.
    pub fn read(&self) -> Result<AuditReader> {
        Ok(AuditReader::open(self.path())?)
    }

    /// Checks that all records are there, in order, as they were written.
    ///
    /// # Errors
    /// `audit.read` when the files cannot be read. What is wrong with them is no error.
    pub fn verify(&self) -> Result<Verification> {
        Ok(verify_audit(self.path(), &self.key)?)
    }

    /// Removes full files whose last record ended before `before`.
    ///
    /// # Errors
    /// `audit.damaged` at a file that does not verify, which is kept; `audit.write` when the file
    /// system refuses.
    pub fn prune(&self, before: Timestamp) -> Result<Pruned> {
        Ok(self.sink.prune(before)?)
    }

    /// The log that requests are recorded in. One that cannot be written is refused when it is
    /// strict, and else announced, since it may be writable by the next request.
    pub(crate) fn start(&self, settings: &AuditSettings, runtime: &Runtime) -> Result<AuditLog> {
        if !settings.audit_enabled {
            return Ok(AuditLog::disabled());
        }
        let log = AuditLog::builder(self.key.clone(), self.sink.clone()).runtime(runtime.clone());
        let checked = self.sink.check();
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
