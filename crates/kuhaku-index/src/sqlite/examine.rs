//! Looking at stored documents one by one, past damage.

use std::collections::HashSet;
use std::sync::Arc;

use sqlx::SqliteConnection;

use super::codec::{encode_terms, encode_words};
use super::failure::{is_damage, storage};
use super::finding::{Finding, FindingKind, place};
use super::record::record_at;
use super::writer::aside;
use crate::analysis::Analyzer;
use crate::document::DocumentRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::inverted::Drafter;

const TRIED: &str = "examine the index";

fn failed(error: sqlx::Error) -> Error {
    storage(TRIED, error)
}

/// What a query gives, or nothing where the file is damaged.
pub(super) fn undamaged<T>(outcome: sqlx::Result<T>) -> Result<Option<T>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_damage(&error) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Numbers of rows looked up at once, and tried one by one where that fails.
const PAGE: i64 = 256;

/// The rows of documents in ascending order, those that are retired left out.
#[derive(Debug)]
pub(super) struct Rows {
    retired: HashSet<i64>,
    /// Where to go on; nothing at the end.
    next: Option<i64>,
    last: i64,
}

impl Rows {
    /// Nothing when it cannot be told which documents are there and which are removed.
    pub(super) async fn new(connection: &mut SqliteConnection) -> Result<Option<Self>> {
        let retired: sqlx::Result<Vec<i64>> =
            sqlx::query_scalar("SELECT document FROM retired").fetch_all(&mut *connection).await;
        let last: sqlx::Result<Option<i64>> =
            sqlx::query_scalar("SELECT seq FROM sqlite_sequence WHERE name = 'documents'")
                .fetch_optional(&mut *connection)
                .await;
        let (Some(retired), Some(last)) = (undamaged(retired)?, undamaged(last)?) else {
            return Ok(None);
        };
        let retired = HashSet::from_iter(retired);
        Ok(Some(Self { retired, next: Some(1), last: last.unwrap_or_default() }))
    }

    pub(super) fn retired(&self) -> u64 {
        self.retired.len() as u64
    }

    /// The highest number that a row has had.
    pub(super) fn last(&self) -> i64 {
        self.last
    }

    /// The next few; where the table is damaged, numbers that may be rows. None at the end.
    pub(super) async fn next(
        &mut self,
        connection: &mut SqliteConnection,
    ) -> Result<Option<Vec<i64>>> {
        let Some(from) = self.next.filter(|next| *next <= self.last) else { return Ok(None) };
        let found: sqlx::Result<Vec<i64>> =
            sqlx::query_scalar("SELECT row FROM documents WHERE row >= ? ORDER BY row LIMIT ?")
                .bind(from)
                .bind(PAGE)
                .fetch_all(connection)
                .await;
        let mut rows = match undamaged(found)? {
            Some(rows) => {
                self.next = rows.last().and_then(|last| last.checked_add(1));
                rows
            }
            None => {
                self.next = from.checked_add(PAGE);
                (from..=self.last.min(from.saturating_add(PAGE - 1))).collect()
            }
        };
        rows.retain(|row| !self.retired.contains(row));
        Ok(Some(rows))
    }
}

/// A stored document under examination.
#[derive(Debug)]
pub(super) struct Examined {
    /// Absent when it cannot be read whole.
    pub(super) record: Option<DocumentRecord>,
    /// Per chunk, what its terms should be; empty unless asked for.
    pub(super) terms: Vec<Vec<u8>>,
    pub(super) findings: Vec<Finding>,
}

impl Examined {
    /// Whether the document can be kept: all is there but for what is made from its text.
    pub(super) fn is_whole(&self) -> bool {
        self.record.is_some() && self.findings.iter().all(|found| found.kind == FindingKind::Terms)
    }
}

/// Looks at a document; nothing when there is no such row. Its terms are compared with its text when
/// there is an analyzer.
pub(super) async fn examine(
    connection: &mut SqliteConnection,
    row: i64,
    analyzer: Option<&Arc<Analyzer>>,
) -> Result<Option<Examined>> {
    let record = match record_at(connection, row).await {
        // No document is ever given the last number: none could come after it.
        Ok(Some(_)) if row == i64::MAX => {
            let findings = vec![Finding::new(FindingKind::Document, place(None, row))];
            return Ok(Some(Examined { record: None, terms: Vec::new(), findings }));
        }
        Ok(Some(record)) => record,
        Ok(None) => return Ok(None),
        Err(error) if *error.kind() == ErrorKind::Corrupt => {
            let findings = vec![Finding::new(FindingKind::Document, place(None, row))];
            return Ok(Some(Examined { record: None, terms: Vec::new(), findings }));
        }
        Err(error) => return Err(error),
    };
    let mut findings = Vec::new();
    let at = place(Some(&record.id), row);
    let mut find = |kind, place: String| findings.push(Finding::new(kind, place));
    let tags: sqlx::Result<String> = sqlx::query_scalar("SELECT tags FROM documents WHERE row = ?")
        .bind(row)
        .fetch_one(&mut *connection)
        .await;
    if undamaged(tags)?.is_none_or(|tags| tags != encode_words(record.tags.iter())) {
        find(FindingKind::Tags, at.clone());
    }
    let stored: sqlx::Result<Vec<(u32, Vec<u8>)>> =
        sqlx::query_as("SELECT ordinal, terms FROM chunks WHERE document = ? ORDER BY ordinal")
            .bind(row)
            .fetch_all(&mut *connection)
            .await;
    let stored = undamaged(stored)?.unwrap_or_default();
    let in_order = (0_u32..).zip(&stored).all(|(ordinal, (found, _))| ordinal == *found);
    if !in_order || stored.len() != record.chunks.len() {
        find(FindingKind::Chunk, at.clone());
    }
    for (ordinal, chunk) in record.chunks.iter().enumerate() {
        if record.text.as_str().get(chunk.range.clone()).is_none() {
            find(FindingKind::Chunk, format!("{at}, chunk {ordinal}"));
        }
    }
    let Some(analyzer) = analyzer else {
        return Ok(Some(Examined { record: Some(record), terms: Vec::new(), findings }));
    };
    let analyzer = Arc::clone(analyzer);
    let (record, terms) = aside(TRIED, move || {
        let terms = terms(analyzer, &record);
        (record, terms)
    })
    .await?;
    for (ordinal, (made, (_, stored))) in terms.iter().zip(&stored).enumerate() {
        if made != stored {
            findings.push(Finding::new(FindingKind::Terms, format!("{at}, chunk {ordinal}")));
        }
    }
    Ok(Some(Examined { record: Some(record), terms, findings }))
}

fn terms(analyzer: Arc<Analyzer>, record: &DocumentRecord) -> Vec<Vec<u8>> {
    let mut drafter = Drafter::new(analyzer);
    let chunks = record.chunks.iter();
    chunks
        .map(|chunk| {
            let terms = drafter.count(record, chunk);
            encode_terms(&drafter.draft, &terms)
        })
        .collect()
}
