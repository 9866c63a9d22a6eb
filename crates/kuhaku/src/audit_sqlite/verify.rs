//! Checking a log: is it all there, in order, as it was written?

use std::path::Path;

use kuhaku_core::{AuditCheck, AuditErrorKind, AuditKey, Verification};
use sqlx::{Connection as _, SqliteConnection};

use super::Result;
use super::connection::to_read;
use super::failure::storage;
use super::rows::{self, Pages, number};
use super::waiting::wait;

const TRIED: &str = "verify the audit log";

pub(super) fn verify(path: &Path, key: &AuditKey) -> Result<Verification> {
    wait(async {
        let Some(mut connection) = to_read(path, TRIED).await? else {
            return Ok(AuditCheck::new(path, None, key).finish());
        };
        let checked = check(&mut connection, path, key).await;
        // It was only read from, so nothing can be lost.
        drop(connection.close().await);
        checked.map_err(|source| storage(AuditErrorKind::Read, TRIED, source))
    })
}

/// Checks what one transaction sees.
async fn check(
    connection: &mut SqliteConnection,
    path: &Path,
    key: &AuditKey,
) -> sqlx::Result<Verification> {
    let mut reading = connection.begin().await?;
    let anchor = rows::anchor(&mut reading).await?;
    let mut check = AuditCheck::new(path, anchor.as_deref(), key);
    let mut pages = Pages::through(i64::MAX);
    loop {
        let page = pages.next(&mut reading).await?;
        if page.is_empty() {
            break;
        }
        for (row, line) in page {
            check.add(number(row), &line);
        }
    }
    reading.rollback().await?;
    Ok(check.finish())
}
