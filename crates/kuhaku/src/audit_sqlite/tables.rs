//! The tables of an audit, and what tells them from other files.

use kuhaku_core::{AuditError, AuditErrorKind};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

use super::failure::foreign;

/// `kuau` in ASCII: marks the file as an audit of kuhaku.
pub(super) const APPLICATION: u32 = 0x6b75_6175;

/// Changes with the tables. The line has a version of its own.
const VERSION: i64 = 1;

/// All there is, by name in this order. What is computed from the line is null where that is no JSON.
const TABLES: [(&str, &str); 4] = [
    (
        "anchor",
        "CREATE TABLE anchor (only INTEGER PRIMARY KEY CHECK (only = 1), line TEXT NOT NULL) STRICT",
    ),
    (
        "records",
        "CREATE TABLE records (
    row INTEGER PRIMARY KEY,
    line TEXT NOT NULL,
    sequence INTEGER AS (CASE WHEN json_valid(line) THEN line ->> '$.sequence' END),
    time TEXT AS (CASE WHEN json_valid(line) THEN line ->> '$.time' END),
    trace_id TEXT AS (CASE WHEN json_valid(line) THEN line ->> '$.trace_id' END),
    event TEXT AS (CASE WHEN json_valid(line) THEN line ->> '$.event' END),
    outcome TEXT AS (CASE WHEN json_valid(line) THEN line ->> '$.outcome' END)
) STRICT",
    ),
    ("records_by_time", "CREATE INDEX records_by_time ON records (time)"),
    ("records_by_trace_id", "CREATE INDEX records_by_trace_id ON records (trace_id)"),
];

/// What a database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recognised {
    /// Nothing: it was just made.
    Empty,
    /// An audit.
    Audit,
    /// An audit of a later version.
    Newer,
    /// Something else, or an audit whose tables were changed.
    Foreign,
}

impl Recognised {
    /// What a database that is not of use is refused with.
    pub(super) fn refusal(self, kind: AuditErrorKind, tried: &'static str) -> AuditError {
        match self {
            Self::Newer => AuditError::new(kind, tried, "a newer version of kuhaku has made it")
                .next("use that version, or choose another path"),
            _ => foreign(kind, tried),
        }
    }
}

/// Looks at a database without changing it.
pub(super) async fn recognise(connection: &mut SqliteConnection) -> sqlx::Result<Recognised> {
    let mut reading = connection.begin().await?;
    let application: i64 =
        sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *reading).await?;
    let version: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *reading).await?;
    let found: Vec<(String, String)> =
        sqlx::query_as("SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name LIMIT 10")
            .fetch_all(&mut *reading)
            .await?;
    reading.rollback().await?;
    let ours = application == i64::from(APPLICATION);
    let same = |((name, sql), (found, as_made)): (&(&str, &str), &(String, String))| {
        name == found && sql == as_made
    };
    Ok(if application == 0 && version == 0 && found.is_empty() {
        Recognised::Empty
    } else if ours && version > VERSION {
        Recognised::Newer
    } else if ours
        && version == VERSION
        && found.len() == TABLES.len()
        && TABLES.iter().zip(&found).all(same)
    {
        Recognised::Audit
    } else {
        Recognised::Foreign
    })
}

/// Makes the tables in an empty database.
pub(super) async fn create(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    let mut writing = connection.begin_with("BEGIN IMMEDIATE").await?;
    for (_, sql) in TABLES {
        sqlx::raw_sql(sql).execute(&mut *writing).await?;
    }
    let marks = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};");
    sqlx::raw_sql(AssertSqlSafe(marks)).execute(&mut *writing).await?;
    writing.commit().await
}
