//! The audit: a log of the application's, or a file that a setting names.

use std::fs::OpenOptions;
use std::io::{ErrorKind as IoErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use kuhaku_core::{
    Announcement, AuditError, AuditErrorKind, AuditKey, AuditLog, JsonlOptions, JsonlSink, Runtime,
};

/// Counts records that were lost, as the log itself does.
const FAILURES: &str = "audit_failures_total";

/// Where the records of requests go.
#[derive(Clone, Debug, Default)]
pub(crate) enum Audit {
    #[default]
    Off,
    Log(AuditLog),
    /// Opened with the first request, so that nothing is written before (R11).
    File(Arc<AuditFile>),
}

#[derive(Debug)]
pub(crate) struct AuditFile {
    path: PathBuf,
    log: OnceLock<AuditLog>,
}

impl Audit {
    pub(crate) fn file(path: PathBuf) -> Self {
        Self::File(Arc::new(AuditFile { path, log: OnceLock::new() }))
    }

    pub(crate) fn is_on(&self) -> bool {
        !matches!(self, Self::Off)
    }

    /// The log. A file that cannot be used is announced and counted, and requests go on without it.
    pub(crate) fn log(&self, runtime: &Runtime) -> AuditLog {
        match self {
            Self::Off => AuditLog::disabled(),
            Self::Log(log) => log.clone(),
            Self::File(file) => {
                let open = || {
                    open(&file.path, runtime).unwrap_or_else(|error| {
                        tracing::error!(code = error.code(), "the audit cannot be opened");
                        runtime.count(FAILURES, error.code(), 1);
                        let text = format!("extractions leave no audit records: {error}");
                        runtime.announce(&Announcement::new("extraction.audit", text));
                        AuditLog::disabled()
                    })
                };
                file.log.get_or_init(open).clone()
            }
        }
    }
}

fn open(path: &Path, runtime: &Runtime) -> Result<AuditLog, AuditError> {
    let key = key(&key_path(path), runtime)?;
    let sink = JsonlSink::new(path, key.clone(), JsonlOptions::default());
    AuditLog::builder(key, sink).runtime(runtime.clone()).start()
}

fn key_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".key");
    name.into()
}

/// The key beside the file, made when there is none. Two processes that make it at once agree on one.
fn key(path: &Path, runtime: &Runtime) -> Result<AuditKey, AuditError> {
    if let Some(key) = read(path)? {
        return Ok(key);
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|source| unusable("made", source))?;
    }
    let fresh: [u8; 32] = runtime.random().map_err(|error| {
        AuditError::new(AuditErrorKind::Write, "open the audit", "there are no random bytes")
            .next("see why the system gives none")
            .caused_by(error)
    })?;
    let hex: String = fresh.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(mut file) => {
            file.write_all(hex.as_bytes()).map_err(|source| unusable("written", source))?;
            Ok(AuditKey::from_bytes(fresh))
        }
        Err(error) if error.kind() == IoErrorKind::AlreadyExists => read(path)?.ok_or_else(none),
        Err(error) => Err(unusable("made", error)),
    }
}

/// The key that stands in a file; none when there is no file.
fn read(path: &Path) -> Result<Option<AuditKey>, AuditError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == IoErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable("read", error)),
    };
    let digits = text.trim().as_bytes();
    let mut key = [0; 32];
    let fits = digits.len() == 64 && digits.iter().all(u8::is_ascii_hexdigit);
    for (byte, two) in key.iter_mut().zip(digits.chunks(2)) {
        let two = std::str::from_utf8(two).unwrap_or_default();
        *byte = u8::from_str_radix(two, 16).unwrap_or_default();
    }
    if fits { Ok(Some(AuditKey::from_bytes(key))) } else { Err(none()) }
}

fn none() -> AuditError {
    let wrong = "the file beside it with the ending `.key` holds no key of 64 hex digits";
    AuditError::new(AuditErrorKind::Write, "open the audit", wrong)
        .next("put the key back, or move the audit and its key away to begin anew")
}

fn unusable(what: &'static str, source: std::io::Error) -> AuditError {
    let wrong = format!("the file of its key, beside it with the ending `.key`, cannot be {what}");
    AuditError::new(AuditErrorKind::Write, "open the audit", wrong)
        .next("check extraction.audit_log_path and the rights on its folder")
        .caused_by(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = key_path(&folder.path().join("logs/audit.jsonl"));
        let runtime = Runtime::system();
        key(&path, &runtime).unwrap();
        let first = std::fs::read(&path).unwrap();
        key(&path, &runtime).unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), first.len()), (first, 64));
        std::fs::write(&path, "no key").unwrap();
        assert!(key(&path, &runtime).unwrap_err().to_string().contains("64 hex digits"));
    }
}
