//! An audit in a SQLite file. Nothing here but the tampering runs in a runtime.
#![cfg(feature = "sqlite")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod faults;
#[cfg(unix)]
mod processes;
mod retention;
mod rows;
mod tampering;

use std::path::{Path, PathBuf};
use std::time::Duration;

use kuhaku::core::{
    AuditDamage, AuditError, AuditField, AuditKey, AuditLog, AuthContext, Masked, Placeholder,
    Roles, Runtime, TraceId, Verification,
};
use kuhaku::{SqliteAuditReader, SqliteSink, SqliteSinkOptions};
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};

const HITS: AuditField<u64> = AuditField::new("hits");

/// Long enough for any machine; nothing here waits that long unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

fn key() -> AuditKey {
    AuditKey::from_bytes([7; 32])
}

fn log_in(folder: &Path) -> PathBuf {
    folder.join("logs/kuhaku_audit.sqlite3")
}

fn sink(path: &Path) -> SqliteSink {
    SqliteSink::new(path, key(), SqliteSinkOptions::default())
}

/// A strict log with this clock.
fn strict(sink: SqliteSink, runtime: Runtime) -> AuditLog {
    AuditLog::builder(key(), sink).runtime(runtime).strict(PATIENCE).start().unwrap()
}

/// A request whose raw input holds an address.
fn request(log: &AuditLog, hits: u64, outcome: &'static str) -> Result<(), AuditError> {
    let trace = TraceId::new("0123456789ab").unwrap();
    let mut guard = log.begin("lookup", &trace, &AuthContext::new("ada", Roles::new(["hr"])));
    let raw = "mail a@b.com tea";
    guard.input(raw, &Masked::replacing(raw, vec![(5..12, Placeholder::Email)]));
    guard.set(HITS, hits);
    guard.finish(outcome)
}

/// Writes `count` records and waits for them.
fn write(path: &Path, count: u64) {
    let log = strict(sink(path), Runtime::system());
    (1..=count).for_each(|hits| request(&log, hits, "ok").unwrap());
}

fn verified(path: &Path) -> Verification {
    sink(path).verify().unwrap()
}

fn sequences(path: &Path) -> Vec<u64> {
    let records = SqliteAuditReader::open(path).unwrap().map(Result::unwrap);
    records.map(|record| record.object()["sequence"].as_u64().unwrap()).collect()
}

/// The row and the kind of what was found first.
fn first(verification: &Verification) -> (u64, AuditDamage) {
    let finding = verification.findings.first().expect("the tampering was not seen");
    (finding.line, finding.damage.clone())
}

/// Runs statements as somebody with a shell of SQLite would, and gives the rows of the last one.
fn sql(path: &Path, statements: impl Into<String>) -> Result<Vec<SqliteRow>, sqlx::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
        let mut shell = SqliteConnection::connect_with(&options).await?;
        let statements = sqlx::AssertSqlSafe(statements.into());
        let rows = sqlx::raw_sql(statements).fetch_all(&mut shell).await?;
        shell.close().await?;
        Ok(rows)
    })
}
