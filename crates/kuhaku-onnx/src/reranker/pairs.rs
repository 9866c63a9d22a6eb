//! Queries and passages as the rows that a cross-encoder takes.

use tokenizers::{Encoding, TruncationDirection};

use crate::error::{Error, ErrorKind, Result};
use crate::model::{Row, TextTokenizer};

/// What becomes of a passage that is longer than the model takes beside the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LongPassage {
    /// All of it is read, in windows of which each repeats the last `overlap` tokens of the one
    /// before, at most half a window; the best window counts.
    Windows {
        /// In tokens.
        overlap: usize,
    },
    /// What does not fit is left out at the end, as most implementations do.
    Cut,
}

impl Default for LongPassage {
    /// Windows that repeat 64 tokens.
    fn default() -> Self {
        Self::Windows { overlap: 64 }
    }
}

/// The share of a row that is kept for the passage, whatever the query's length: one in this many.
const KEPT_FOR_PASSAGE: usize = 4;

/// Rows for the model, and which passages they are of.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) rows: Vec<Row>,
    /// In the order of the passages.
    pub(super) rows_per_passage: Vec<usize>,
    pub(super) windowed: usize,
    pub(super) cut: usize,
}

impl Pairs {
    /// Pairs one query with each passage; no row is longer than `longest` tokens.
    ///
    /// # Errors
    /// [`kuhaku_core::ErrorKind::ContextTooLong`] when the query is too long;
    /// [`ErrorKind::Inference`] when the tokenizer fails.
    pub(super) fn of(
        tokenizer: &TextTokenizer,
        query: &str,
        passages: &[String],
        longest: usize,
        long: LongPassage,
    ) -> Result<Self> {
        let query = tokenizer.bare(query)?;
        let around = tokenizer.pair(query.clone(), Encoding::default())?.len();
        let room = longest.saturating_sub(around);
        if room < (longest / KEPT_FOR_PASSAGE).max(1) {
            return Err(too_long(query.len(), longest));
        }
        let mut pairs = Self::default();
        for passage in passages {
            let windows = pairs.windows(tokenizer.bare(passage)?, room, long);
            pairs.rows_per_passage.push(windows.len());
            for window in windows {
                pairs.rows.push(tokenizer.pair(query.clone(), window)?);
            }
        }
        Ok(pairs)
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.rows.extend(more.rows);
        self.rows_per_passage.extend(more.rows_per_passage);
        self.windowed += more.windowed;
        self.cut += more.cut;
    }

    /// The parts of a passage that are read, each at most `room` tokens.
    fn windows(&mut self, mut passage: Encoding, room: usize, long: LongPassage) -> Vec<Encoding> {
        if passage.len() <= room {
            return vec![passage];
        }
        let overlap = match long {
            LongPassage::Windows { overlap } => overlap.min(room / 2),
            LongPassage::Cut => 0,
        };
        passage.truncate(room, overlap, TruncationDirection::Right);
        let others = passage.take_overflowing();
        match long {
            LongPassage::Windows { .. } => {
                self.windowed += 1;
                std::iter::once(passage).chain(others).collect()
            }
            LongPassage::Cut => {
                self.cut += 1;
                vec![passage]
            }
        }
    }
}

fn too_long(query: usize, longest: usize) -> Error {
    let kind = ErrorKind::Core(kuhaku_core::ErrorKind::ContextTooLong);
    let wrong = format!("the query has {query} tokens, and the model takes {longest} for the pair");
    Error::new(kind, "judge passages", wrong).next("ask with a shorter query")
}
