//! Retention: old records go, and the chain stays whole.

use std::path::Path;

use kuhaku_core::{AuditCheck, AuditEnds, AuditError, AuditErrorKind, AuditKey, Pruned, Timestamp};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

use super::Result;
use super::connection::BUSY;
use super::database::Database;
use super::failure::{damaged, storage};
use super::rows::{self, Pages, number};

const TRIED: &str = "remove old audit records";

/// How many records go in one turn, at least, unless there are fewer: writers wait meanwhile.
const STEP: u64 = 1000;

pub(super) fn prune(database: &Database, key: &AuditKey, before: Timestamp) -> Result<Pruned> {
    let mut pruned = Pruned::default();
    // A log that is not there is not made.
    while database.path().exists() {
        let work = async |connection: &mut SqliteConnection| {
            remove(connection, database.path(), key, before).await
        };
        let removed = database.write(TRIED, work)?;
        pruned.records += removed;
        if removed < STEP {
            break;
        }
    }
    if pruned.records > 0 {
        database.write(TRIED, async |connection| forget(connection).await.map_err(failed))?;
    }
    Ok(pruned)
}

fn failed(source: sqlx::Error) -> AuditError {
    storage(AuditErrorKind::Write, TRIED, source)
}

/// Removes the oldest records and moves the beginning, both or neither.
async fn remove(
    connection: &mut SqliteConnection,
    path: &Path,
    key: &AuditKey,
    before: Timestamp,
) -> Result<u64> {
    let mut writing = connection.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    let sealed = rows::anchor(&mut writing).await.map_err(failed)?;
    let mut check = AuditCheck::new(path, sealed.as_deref(), key);
    let mut old = None;
    let mut records = 0;
    let mut pages = Pages::through(i64::MAX);
    'rows: while records < STEP {
        let page = pages.next(&mut writing).await.map_err(failed)?;
        if page.is_empty() {
            break;
        }
        for (row, line) in page {
            match check.add(number(row), &line) {
                Some(link) if check.is_intact() && link.time() >= before => break 'rows,
                Some(link) if check.is_intact() => old = Some((row, link)),
                _ => return Err(damaged(TRIED, "its oldest records do not verify")),
            }
            records += 1;
        }
    }
    let ends = sealed.and_then(|sealed| AuditEnds::open(&sealed, key));
    let (Some((row, link)), Some(mut ends)) = (old, ends) else { return Ok(0) };
    ends.remove_through(&link);
    let delete = sqlx::query("DELETE FROM records WHERE row <= ?").bind(row);
    delete.execute(&mut *writing).await.map_err(failed)?;
    rows::set_anchor(&mut writing, &ends.seal(key)?).await.map_err(failed)?;
    writing.commit().await.map_err(failed)?;
    Ok(records)
}

/// Cuts back SQLite's log, which still has what was removed, if nobody reads from it.
async fn forget(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    // Without waiting for readers: writers would wait as well.
    let cut_back = "PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)";
    sqlx::raw_sql(cut_back).execute(&mut *connection).await?;
    let wait_again = format!("PRAGMA busy_timeout = {}", BUSY.as_millis());
    sqlx::raw_sql(AssertSqlSafe(wait_again)).execute(connection).await?;
    Ok(())
}
