//! What a query needs while it runs, kept for the next one.

use std::sync::{Mutex, PoisonError};

use super::best::Candidate;
use super::nearest::Near;
use super::window::Window;
use crate::analysis::QueryMemo;

/// Scratches kept for reuse, at most.
const KEPT: usize = 16;

/// A term of the query that some visible chunk holds.
#[derive(Debug)]
pub(super) struct Term {
    /// Its inverse document frequency times its count in the query.
    pub(super) weight: f64,
}

/// The room of one query.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(super) memo: QueryMemo,
    pub(super) terms: Vec<Term>,
    /// Per term and part: the term's place in the part's dictionary, if it is there.
    pub(super) places: Vec<Option<u32>>,
    pub(super) window: Window,
    pub(super) kept: Vec<Candidate>,
    /// Rows whose cosines may be among the best.
    pub(super) near: Vec<Near>,
}

/// Scratches that wait for a query. For one analyzer.
#[derive(Debug, Default)]
pub(crate) struct ScratchPool(Mutex<Vec<Scratch>>);

impl ScratchPool {
    /// Lends a scratch to `use_it`.
    pub(crate) fn with<T>(&self, use_it: impl FnOnce(&mut Scratch) -> T) -> T {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut scratch = waiting.unwrap_or_default();
        let result = use_it(&mut scratch);
        let mut pool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.len() < KEPT {
            pool.push(scratch);
        }
        result
    }
}
