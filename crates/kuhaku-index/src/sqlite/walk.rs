//! The numbers of stored documents' rows, past damage, in bounded time whatever a file says.

use std::collections::HashSet;

use sqlx::SqliteConnection;

use super::examine::undamaged;
use super::finding::{Finding, FindingKind};
use crate::error::Result;

/// Rows looked up at once; fewer where that fails.
const PAGE: i64 = 256;

/// Numbers that are tried one by one where the table is damaged, in all: the rows of some hundred
/// pages. A file may claim to have given any number.
const GUESSES: i64 = 1 << 12;

/// Half of all numbers: no index has given so many, and one that says so has none left to give.
const MOST: i64 = i64::MAX / 2;

/// The rows of documents in ascending order, those that are retired left out.
#[derive(Debug)]
pub(super) struct Rows {
    retired: HashSet<i64>,
    /// Where to go on; nothing at the end.
    next: Option<i64>,
    /// The highest number that a row has had, as the database says.
    given: i64,
    /// The highest that was read.
    seen: i64,
    /// Numbers that may still be tried.
    guesses: i64,
    /// First and last of those that are not.
    skipped: Vec<(i64, i64)>,
}

impl Rows {
    /// Nothing when it cannot be told which documents are there and which are removed.
    pub(super) async fn new(connection: &mut SqliteConnection) -> Result<Option<Self>> {
        let retired: sqlx::Result<Vec<i64>> =
            sqlx::query_scalar("SELECT document FROM retired").fetch_all(&mut *connection).await;
        let given: sqlx::Result<Option<i64>> =
            sqlx::query_scalar("SELECT seq FROM sqlite_sequence WHERE name = 'documents'")
                .fetch_optional(&mut *connection)
                .await;
        let (Some(retired), Some(given)) = (undamaged(retired)?, undamaged(given)?) else {
            return Ok(None);
        };
        let given = given.unwrap_or_default();
        let retired = HashSet::from_iter(retired);
        let (next, guesses, skipped) = (Some(1), GUESSES, Vec::new());
        Ok(Some(Self { retired, next, given, seen: 0, guesses, skipped }))
    }

    pub(super) fn retired(&self) -> u64 {
        self.retired.len() as u64
    }

    /// The highest number that a row has had, if what the database says of it can be; known at the end.
    pub(super) fn given(&self) -> Option<i64> {
        Some(self.given).filter(|given| (self.seen..=MOST).contains(given))
    }

    /// Numbers that may be those of documents and are not looked up; each is told once.
    pub(super) fn skipped(&mut self) -> impl Iterator<Item = Finding> {
        self.skipped.drain(..).map(|(first, last)| {
            let place = format!("documents in rows {first} to {last}, if there are any");
            Finding::new(FindingKind::Document, place)
        })
    }

    /// The next few; where the table is damaged, numbers that may be rows. None at the end.
    pub(super) async fn next(
        &mut self,
        connection: &mut SqliteConnection,
    ) -> Result<Option<Vec<i64>>> {
        let Some(from) = self.next else { return Ok(None) };
        let mut rows = match some(connection, from).await? {
            Some(rows) => {
                let Some(last) = rows.last() else { return Ok(None) };
                self.seen = self.seen.max(*last);
                self.next = last.checked_add(1);
                rows
            }
            None => {
                let whole = self.resume(connection, from).await?;
                self.next = Some(whole).filter(|whole| *whole <= self.given.max(from));
                let tried = self.guesses.min(whole.saturating_sub(from));
                self.guesses -= tried;
                let rest = from.saturating_add(tried);
                if rest < whole {
                    self.skipped.push((rest, whole - 1));
                }
                (from..rest).collect()
            }
        };
        rows.retain(|row| !self.retired.contains(row));
        Ok(Some(rows))
    }

    /// Where rows can be read again after a number where they cannot: by doubling the distance, then by
    /// halving it. The number after the last one given when they nowhere can.
    async fn resume(&self, connection: &mut SqliteConnection, from: i64) -> Result<i64> {
        let (mut bad, mut step) = (from, 1_i64);
        let mut good = loop {
            match bad.checked_add(step).filter(|probe| *probe <= self.given) {
                None => break self.given.max(from).saturating_add(1),
                Some(probe) if read(connection, probe, 1).await?.is_some() => break probe,
                Some(probe) => bad = probe,
            }
            step = step.saturating_mul(2);
        };
        while good - bad > 1 {
            let middle = bad + (good - bad) / 2;
            match read(connection, middle, 1).await? {
                Some(_) => good = middle,
                None => bad = middle,
            }
        }
        Ok(good)
    }
}

/// Rows from a number on, as many as can be read at once; nothing when the first cannot.
async fn some(connection: &mut SqliteConnection, from: i64) -> Result<Option<Vec<i64>>> {
    let mut count = PAGE;
    while count > 0 {
        let rows = read(connection, from, count).await?;
        if rows.is_some() {
            return Ok(rows);
        }
        count /= 2;
    }
    Ok(None)
}

async fn read(
    connection: &mut SqliteConnection,
    from: i64,
    count: i64,
) -> Result<Option<Vec<i64>>> {
    let found: sqlx::Result<Vec<i64>> =
        sqlx::query_scalar("SELECT row FROM documents WHERE row >= ? ORDER BY row LIMIT ?")
            .bind(from)
            .bind(count)
            .fetch_all(connection)
            .await;
    undamaged(found)
}
