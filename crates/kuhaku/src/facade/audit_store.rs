//! What keeps the records of an audit: files of lines, or a SQLite file.

use std::path::Path;
use std::sync::Arc;

use kuhaku_core::{
    AuditError, AuditKey, AuditReader, AuditSink, JsonlOptions, JsonlSink, Pruned, SettingValue,
    StoredRecord, Timestamp, Value, Verification, verify_audit,
};

use super::audit::AuditSettings;
#[cfg(feature = "sqlite")]
use crate::audit_sqlite::{SqliteAuditReader, SqliteSink, SqliteSinkOptions};

type Result<T, E = AuditError> = std::result::Result<T, E>;

/// What keeps the records of an audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditFormat {
    /// Files of lines, one JSON object each.
    #[default]
    Jsonl,
    /// A SQLite file with a row for each record.
    #[cfg(feature = "sqlite")]
    Sqlite,
}

impl AuditFormat {
    const ALL: &[Self] = &[
        Self::Jsonl,
        #[cfg(feature = "sqlite")]
        Self::Sqlite,
    ];

    /// As it is written in settings: `jsonl`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            #[cfg(feature = "sqlite")]
            Self::Sqlite => "sqlite",
        }
    }

    /// The name of the log in the folder of its index.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Jsonl => "kuhaku_audit.jsonl",
            #[cfg(feature = "sqlite")]
            Self::Sqlite => "kuhaku_audit.sqlite3",
        }
    }
}

impl SettingValue for AuditFormat {
    #[cfg(feature = "sqlite")]
    const KIND: &'static str = "`jsonl` or `sqlite`";
    #[cfg(not(feature = "sqlite"))]
    const KIND: &'static str = "`jsonl`";

    fn read(value: &Value) -> Result<Self, String> {
        let text = String::read(value)?.trim().to_ascii_lowercase();
        let known = Self::ALL.iter().find(|format| format.as_str() == text);
        known.copied().ok_or_else(|| format!("must be {}", Self::KIND))
    }

    fn show(&self) -> String {
        self.as_str().into()
    }
}

/// The log itself.
#[derive(Clone, Debug)]
pub(super) enum AuditStore {
    Jsonl {
        sink: JsonlSink,
        key: AuditKey,
    },
    #[cfg(feature = "sqlite")]
    Sqlite(SqliteSink),
}

impl AuditStore {
    pub(super) fn new(settings: &AuditSettings, path: &Path, key: AuditKey) -> Self {
        match settings.audit_sink {
            AuditFormat::Jsonl => {
                let mut options = JsonlOptions::default()
                    .max_bytes(settings.audit_max_file_bytes)
                    .sync(settings.audit_strict);
                options.keep = settings.keep();
                Self::Jsonl { sink: JsonlSink::new(path, key.clone(), options), key }
            }
            #[cfg(feature = "sqlite")]
            AuditFormat::Sqlite => {
                let mut options = SqliteSinkOptions::default().sync(settings.audit_strict);
                options.keep = settings.keep();
                Self::Sqlite(SqliteSink::new(path, key, options))
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Jsonl { sink, .. } => sink.path(),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(sink) => sink.path(),
        }
    }

    pub(super) fn sink(&self) -> Arc<dyn AuditSink> {
        match self {
            Self::Jsonl { sink, .. } => Arc::new(sink.clone()),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(sink) => Arc::new(sink.clone()),
        }
    }

    pub(super) fn verify(&self) -> Result<Verification> {
        match self {
            Self::Jsonl { sink, key } => verify_audit(sink.path(), key),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(sink) => sink.verify(),
        }
    }

    pub(super) fn prune(&self, before: Timestamp) -> Result<Pruned> {
        match self {
            Self::Jsonl { sink, .. } => sink.prune(before),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(sink) => sink.prune(before),
        }
    }
}

/// The records of an audit, one by one, oldest first. Nothing is verified. What is no record is an
/// error item, and reading goes on behind it.
#[derive(Debug)]
pub struct AuditRecords(Reader);

#[derive(Debug)]
enum Reader {
    Jsonl(AuditReader),
    #[cfg(feature = "sqlite")]
    Sqlite(SqliteAuditReader),
}

impl AuditRecords {
    pub(super) fn open(format: AuditFormat, path: &Path) -> Result<Self> {
        Ok(Self(match format {
            AuditFormat::Jsonl => Reader::Jsonl(AuditReader::open(path)?),
            #[cfg(feature = "sqlite")]
            AuditFormat::Sqlite => Reader::Sqlite(SqliteAuditReader::open(path)?),
        }))
    }
}

impl Iterator for AuditRecords {
    type Item = Result<StoredRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Reader::Jsonl(reader) => reader.next(),
            #[cfg(feature = "sqlite")]
            Reader::Sqlite(reader) => reader.next(),
        }
    }
}
