//! Bringing the tables of older versions up to the current one.

use std::path::Path;

use kuhaku_core::Runtime;
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

use super::failure::{locked, storage};
use super::lock::WriteLock;
use super::presence::Presence;
use super::schema;
use crate::error::{Error, Result};

/// What makes each version of the one before it; the first makes version 2 of version 1.
const STEPS: &[&str] = &[
    // Documents of version 1 count as changed when they are ingested again, and get theirs then.
    "CREATE TABLE folders (document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, \
     folder BLOB NOT NULL, PRIMARY KEY (document, folder)) STRICT, WITHOUT ROWID",
    // No build has written to the table so far.
    "DROP TABLE vectors; \
     CREATE TABLE vectors (chunk INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE, \
     text BLOB NOT NULL, vector BLOB NOT NULL, UNIQUE (text, chunk)) STRICT",
    "CREATE TABLE staged_vectors (chunk INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE, \
     text BLOB NOT NULL, vector BLOB NOT NULL, UNIQUE (text, chunk)) STRICT",
];

/// The version that this build writes.
pub(super) const VERSION: i64 = 1 + STEPS.len() as i64;

const TRIED: &str = "bring the index up to the current format";

fn failed(error: sqlx::Error) -> Error {
    storage(TRIED, error)
}

/// Brings the tables of an index up to date, as one transaction. No other handle may have it open:
/// an older build would go on reading and writing what it takes to be its own tables.
pub(super) async fn migrate(
    connection: &mut SqliteConnection,
    folder: &Path,
    runtime: &Runtime,
) -> Result<()> {
    let _lock = WriteLock::acquire(folder)?;
    let presence = Presence::announce(folder).await?;
    let Some(_alone) = presence.alone()? else { return Err(locked(TRIED)) };
    take(connection, STEPS, runtime).await
}

async fn take(
    connection: &mut SqliteConnection,
    steps: &[&'static str],
    runtime: &Runtime,
) -> Result<()> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    // Within the transaction: another process may have been faster.
    let version: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut *transaction)
        .await
        .map_err(failed)?;
    for (made, step) in (2_i64..).zip(steps).filter(|(made, _)| *made > version) {
        sqlx::raw_sql(*step).execute(&mut *transaction).await.map_err(failed)?;
        let mark = AssertSqlSafe(format!("PRAGMA user_version = {made}"));
        sqlx::raw_sql(mark).execute(&mut *transaction).await.map_err(failed)?;
    }
    // Files derived from the tables as they were are out of date.
    schema::write_commit(&mut transaction, runtime).await?;
    transaction.commit().await.map_err(failed)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::fingerprint::{Fingerprint, Language, Tokenizer};
    use crate::identity::IdKey;

    async fn database() -> SqliteConnection {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        let fingerprint = Fingerprint::new(Tokenizer::Default, Language::En, "none", "none");
        schema::create(&mut connection, &fingerprint, &IdKey::from_bytes([1; 32])).await.unwrap();
        schema::write_commit(&mut connection, &Runtime::system()).await.unwrap();
        sqlx::raw_sql("PRAGMA user_version = 1").execute(&mut connection).await.unwrap();
        connection
    }

    async fn version(connection: &mut SqliteConnection) -> i64 {
        sqlx::query_scalar("PRAGMA user_version").fetch_one(connection).await.unwrap()
    }

    const ADD: &str = "ALTER TABLE documents ADD COLUMN words INTEGER NOT NULL DEFAULT 7";
    const FILL: &str = "UPDATE meta SET value = x'00' WHERE key = 'id_key'; \
                        CREATE TABLE third (a INTEGER) STRICT";

    #[tokio::test]
    async fn steps_that_are_missing_are_taken_in_order_and_those_taken_are_not_repeated() {
        let mut connection = database().await;
        let before = schema::read_mark(&mut connection).await.unwrap();
        take(&mut connection, &[ADD], &Runtime::system()).await.unwrap();
        assert_eq!(version(&mut connection).await, 2);
        take(&mut connection, &[ADD, FILL], &Runtime::system()).await.unwrap();
        assert_eq!(version(&mut connection).await, 3);
        let third = sqlx::raw_sql("SELECT words FROM documents; SELECT a FROM third");
        third.execute(&mut connection).await.unwrap();
        assert_ne!(schema::read_mark(&mut connection).await.unwrap(), before);
    }

    #[tokio::test]
    async fn a_step_that_fails_leaves_the_version_before_all_steps() {
        let mut connection = database().await;
        let before = schema::read_mark(&mut connection).await.unwrap();
        let steps = [ADD, "UPDATE nothing SET a = 1"];
        take(&mut connection, &steps, &Runtime::system()).await.unwrap_err();
        assert_eq!(version(&mut connection).await, 1);
        assert_eq!(schema::read_mark(&mut connection).await.unwrap(), before);
        let words = sqlx::raw_sql("SELECT words FROM documents").execute(&mut connection).await;
        words.unwrap_err();
    }
}
