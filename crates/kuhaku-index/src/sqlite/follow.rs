//! Following what other handles and processes commit (D13).

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, PoisonError};

use kuhaku_core::AccessTags;
use sqlx::SqliteConnection;

use super::SqliteIndex;
use super::failure::storage;
use super::open::load;
use super::rows::{self, ChangeKind};
use super::schema::{self, Mark};
use super::writer::aside;
use crate::analysis::Analyzer;
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::inverted::{Body, Draft, Drafters};

const TRIED: &str = "read the index";

fn failed(error: sqlx::Error) -> Error {
    storage(TRIED, error)
}

impl SqliteIndex {
    /// Makes sure that the current generation shows all that was committed before this call, by
    /// whomever. One look at an indexed row when nothing has changed.
    pub(super) async fn follow(&self) -> Result<()> {
        if self.live.seeded().has(Fault::OtherHandlesIgnored) {
            return Ok(());
        }
        let mark = schema::read_mark(&mut *self.connection().await?).await?;
        if mark == self.shown() {
            return Ok(());
        }
        let _following = self.following.lock().await;
        let mut reading = self.pool.begin().await.map_err(failed)?;
        self.catch_up(&mut reading).await?;
        reading.rollback().await.map_err(failed)
    }

    /// The mark of the transaction that the current generation shows, or of one before it.
    pub(super) fn shown(&self) -> Mark {
        self.shown.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// To be called after the generation was made current.
    pub(super) fn set_shown(&self, mark: Mark) {
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = mark;
    }

    /// Takes over what was committed since, as the caller's transaction sees it. The caller holds
    /// `following`.
    pub(super) async fn catch_up(&self, connection: &mut SqliteConnection) -> Result<()> {
        let meta = schema::read(&mut *connection, TRIED).await?;
        let shown = self.shown();
        if meta.commit == shown {
            return Ok(());
        }
        let before = self.live.generation();
        let changes = rows::changes(&mut *connection, shown.number()).await?;
        // A log that does not go on from here cannot be followed: that of a restored backup, or one
        // whose oldest changes are gone by now. Its numbers have no gaps.
        let news = meta.commit.number().saturating_sub(shown.number());
        let whole = news > 0 && i64::try_from(changes.len()).is_ok_and(|found| found == news);
        let mut step = Step { reset: !whole, ..Step::default() };
        for (kind, row) in changes {
            step.take(kind, row);
        }
        let Step { reset, mut retired, gone, come } = step;
        if reset {
            // Which rows went is not known of a log with gaps.
            retired = before
                .documents()
                .iter()
                .filter_map(|(found, ..)| Self::row(&found.body))
                .collect();
            let generation = load(connection, meta.fingerprint.space()).await?;
            let analyzer = Analyzer::new(meta.fingerprint.tokenizer, meta.fingerprint.language);
            self.pins.retire(&before, retired);
            self.live.replace(generation, Arc::new(Drafters::new(analyzer)));
            self.set_fingerprint(meta.fingerprint);
        } else {
            let mut draft = Draft::default();
            let dimension = before.space.as_ref().map_or(0, |space| space.dimension);
            for (from, to) in runs(&come) {
                if self.live.seeded().has(Fault::DeltaWithoutTags) {
                    let none = |_: &str| Some(AccessTags::none());
                    rows::load_with(&mut *connection, &mut draft, from, to, dimension, none)
                        .await?;
                    continue;
                }
                rows::load(&mut *connection, &mut draft, from, to, dimension).await?;
            }
            let known = rows::ids(&mut *connection, &gone).await?;
            let base = before.clone();
            let work = move || {
                let lost = |body: &Body| Self::row(body).is_some_and(|row| gone.contains(&row));
                // Rows that are deleted already are found by looking at all documents.
                base.next(&known.unwrap_or_else(|| base.ids(lost)), draft.finish())
            };
            let next = aside(TRIED, work).await?;
            self.pins.retire(&before, retired);
            self.live.publish(next);
        }
        self.set_shown(meta.commit);
        Ok(())
    }
}

/// What changes amount to.
#[derive(Debug, Default)]
struct Step {
    /// Everything is another.
    reset: bool,
    /// Rows of documents that are no more.
    retired: Vec<i64>,
    /// Rows whose documents in memory are out of date.
    gone: HashSet<i64>,
    /// Rows to be read, unless they are retired.
    come: BTreeSet<i64>,
}

impl Step {
    fn take(&mut self, kind: ChangeKind, row: i64) {
        match kind {
            ChangeKind::Store => {
                self.come.insert(row);
            }
            ChangeKind::Release => {
                self.gone.insert(row);
                self.come.insert(row);
            }
            ChangeKind::Retire => {
                self.retired.push(row);
                self.gone.insert(row);
                self.come.remove(&row);
            }
            ChangeKind::Reset => self.reset = true,
        }
    }
}

/// Ascending numbers as ranges of neighbours, both ends included.
fn runs(numbers: &BTreeSet<i64>) -> Vec<(i64, i64)> {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, to)) if to.checked_add(1) == Some(*number) => *to = *number,
            _ => runs.push((*number, *number)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_read_at_once() {
        let numbers = BTreeSet::from([1, 2, 3, 7, 9, 10]);
        assert_eq!(runs(&numbers), [(1, 3), (7, 7), (9, 10)]);
        assert!(runs(&BTreeSet::new()).is_empty());
    }
}
