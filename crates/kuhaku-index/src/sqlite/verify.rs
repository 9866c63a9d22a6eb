//! Finding damage, without changing anything.

use std::collections::HashSet;

use kuhaku_core::DocumentId;
use sqlx::{Connection as _, SqliteConnection};

use super::examine::{Means, examine, undamaged};
use super::failure::storage;
use super::finding::{Finding, FindingKind, place};
use super::open::{FILE, Found, access, find, missing};
use super::options::OpenOptions;
use super::shape::examine_tables;
use super::walk::Rows;
use super::{SqliteIndex, rows, schema};
use crate::error::{Error, ErrorKind, Result};

/// Findings that a report lists; those beyond are counted.
const LISTED: usize = 1_000;

fn failed(error: sqlx::Error) -> Error {
    storage("verify the index", error)
}

/// How closely an index is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Depth {
    /// Pages, tables, settings, documents, chunks and vectors.
    Quick,
    /// Also the database's own indexes, and whether each chunk is found by the terms of its text.
    #[default]
    Full,
}

/// What [`SqliteIndex::verify`] has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Verification {
    /// Documents looked at; removed ones are not among them.
    pub documents: u64,
    /// Chunks of these, held-back ones included.
    pub chunks: u64,
    /// Held-back chunks of these.
    pub quarantined: u64,
    /// Removed or replaced documents whose rows are still there.
    pub retired: u64,
    /// What is wrong, at most a thousand findings.
    pub findings: Vec<Finding>,
    /// Findings that are not listed.
    pub unlisted: u64,
}

impl Verification {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty() && self.unlisted == 0
    }

    fn find(&mut self, found: Finding) {
        if self.findings.len() < LISTED {
            self.findings.push(found);
        } else {
            self.unlisted += 1;
        }
    }
}

impl SqliteIndex {
    /// Looks for damage in the index of a folder, as one consistent state, while others may use it.
    /// Of the options, the folder and the runtime count.
    ///
    /// # Errors
    /// As [`SqliteIndex::open`], when the file cannot be recognised or read at all. What can be found
    /// out about a file that is damaged is no error: see [`Verification::findings`].
    pub async fn verify(options: &OpenOptions, depth: Depth) -> Result<Verification> {
        let folder = &options.directory;
        let tried = format!("verify the index `{}`", folder.display());
        if find(&folder.join(FILE), &tried)? == Found::Nothing {
            return Err(missing(folder, tried));
        }
        let (_, mut connection) = access(folder, &options.runtime, &tried).await?;
        let verification = inspect(&mut connection, depth).await?;
        connection.close().await.map_err(failed)?;
        Ok(verification)
    }
}

/// Looks at everything in one transaction.
pub(super) async fn inspect(
    connection: &mut SqliteConnection,
    depth: Depth,
) -> Result<Verification> {
    let mut seen = Verification::default();
    let mut reading = connection.begin().await.map_err(failed)?;
    pages(&mut reading, depth, &mut seen).await?;
    examine_tables(&mut reading).await?.into_iter().for_each(|found| seen.find(found));
    let mut means = settings(&mut reading, &mut seen).await?;
    if depth == Depth::Quick {
        means.analyzer = None;
    }
    match Rows::new(&mut reading).await? {
        Some(rows) => documents(&mut reading, rows, &means, &mut seen).await?,
        None => seen.find(Finding::new(FindingKind::Document, "the list of what was removed")),
    }
    // Nothing was written; where a page is damaged even this can fail.
    undamaged(reading.rollback().await)?;
    Ok(seen)
}

/// Table, row, table that the row belongs to, number of the reference.
type Stray = (String, Option<i64>, String, i64);

async fn pages(
    connection: &mut SqliteConnection,
    depth: Depth,
    seen: &mut Verification,
) -> Result<()> {
    let check = match depth {
        Depth::Quick => "PRAGMA quick_check",
        Depth::Full => "PRAGMA integrity_check",
    };
    let said: sqlx::Result<Vec<String>> =
        sqlx::query_scalar(check).fetch_all(&mut *connection).await;
    match undamaged(said)? {
        // Each line names a page, a table or an index, with numbers.
        Some(lines) => {
            for line in lines.into_iter().filter(|line| line != "ok") {
                seen.find(Finding::new(FindingKind::Page, line));
            }
        }
        None => seen.find(Finding::new(FindingKind::Page, "the check of pages ended early")),
    }
    let strays: sqlx::Result<Vec<Stray>> =
        sqlx::query_as("PRAGMA foreign_key_check").fetch_all(connection).await;
    match undamaged(strays)? {
        Some(strays) => {
            for (table, row, _, _) in strays {
                let row = row.map_or_else(String::new, |row| format!(", row {row}"));
                seen.find(Finding::new(FindingKind::Reference, format!("table {table}{row}")));
            }
        }
        None => seen.find(Finding::new(FindingKind::Page, "the check of references ended early")),
    }
    Ok(())
}

/// What the settings of the index say of its documents, when they can be read.
async fn settings(connection: &mut SqliteConnection, seen: &mut Verification) -> Result<Means> {
    let corrupt = |error: Error| match error.kind() {
        ErrorKind::Corrupt => Ok(()),
        _ => Err(error),
    };
    if let Err(error) = rows::changes(&mut *connection, 0).await {
        corrupt(error)?;
        seen.find(Finding::new(FindingKind::Changes, "table changes"));
    }
    match schema::read(connection, "verify the index").await {
        Ok(meta) => Ok(Means::of(&meta)),
        Err(error) => {
            corrupt(error)?;
            seen.find(Finding::new(FindingKind::Settings, "table meta"));
            Ok(Means::default())
        }
    }
}

async fn documents(
    connection: &mut SqliteConnection,
    mut rows: Rows,
    means: &Means,
    seen: &mut Verification,
) -> Result<()> {
    let sequence = || Finding::new(FindingKind::Settings, "table sqlite_sequence");
    let is_possible = rows.given().is_some();
    if !is_possible {
        seen.find(sequence());
    }
    seen.retired = rows.retired();
    let mut ids: HashSet<DocumentId> = HashSet::new();
    while let Some(page) = rows.next(connection).await? {
        rows.skipped().for_each(|found| seen.find(found));
        for row in page {
            let Some(examined) = examine(connection, row, means).await? else { continue };
            seen.documents += 1;
            if let Some(record) = examined.record {
                seen.chunks += record.chunks.len() as u64;
                let held = record.chunks.iter().filter(|chunk| chunk.quarantine.is_some());
                seen.quarantined += held.count() as u64;
                if ids.contains(&record.id) {
                    let at = place(Some(&record.id), row);
                    seen.find(Finding::new(FindingKind::Duplicate, at));
                }
                ids.insert(record.id);
            }
            examined.findings.into_iter().for_each(|found| seen.find(found));
        }
    }
    if is_possible && rows.given().is_none() {
        seen.find(sequence());
    }
    Ok(())
}
