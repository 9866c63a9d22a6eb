//! The audit: one record per request, and a log that shows tampering.
#![cfg(feature = "audit")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod faults;
mod files;
#[cfg(unix)]
mod processes;
mod requests;
mod retention;
mod tampering;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kuhaku_core::{
    AuditError, AuditField, AuditKey, AuditLog, AuthContext, JsonlOptions, JsonlSink, Masked,
    MetricsSink, Placeholder, Roles, Runtime, TraceId,
};

const HITS: AuditField<u64> = AuditField::new("hits");

/// Long enough for any machine; nothing here waits that long unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

fn key() -> AuditKey {
    AuditKey::from_bytes([7; 32])
}

fn trace() -> TraceId {
    TraceId::new("0123456789ab").unwrap()
}

fn ada() -> AuthContext {
    AuthContext::new("ada", Roles::new(["hr", "legal"]))
}

fn log_in(folder: &Path) -> PathBuf {
    folder.join("logs/kuhaku_audit.jsonl")
}

fn sink(path: &Path, options: JsonlOptions) -> JsonlSink {
    JsonlSink::new(path, key(), options)
}

/// A request whose raw input holds an address.
fn request(log: &AuditLog, hits: u64, outcome: &'static str) -> Result<(), AuditError> {
    let mut guard = log.begin("lookup", &trace(), &ada());
    let raw = "mail a@b.com tea";
    guard.input(raw, &Masked::replacing(raw, vec![(5..12, Placeholder::Email)]));
    guard.set(HITS, hits);
    guard.finish(outcome)
}

/// Writes `count` records and waits for them.
fn write(path: &Path, options: JsonlOptions, count: u64) {
    let log = AuditLog::builder(key(), sink(path, options)).strict(PATIENCE).start().unwrap();
    for hits in 1..=count {
        request(&log, hits, "ok").unwrap();
    }
}

/// Counters by `name:label`.
#[derive(Clone, Debug, Default)]
struct Counters(Arc<Mutex<std::collections::BTreeMap<String, u64>>>);

impl Counters {
    fn runtime(&self) -> Runtime {
        Runtime::builder().metrics(self.clone()).build()
    }

    fn of(&self, name: &str) -> u64 {
        self.0.lock().unwrap().get(name).copied().unwrap_or_default()
    }
}

impl MetricsSink for Counters {
    fn count(&self, name: &'static str, label: &str, by: u64) {
        *self.0.lock().unwrap().entry(format!("{name}:{label}")).or_default() += by;
    }
}
