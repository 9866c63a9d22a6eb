//! Score accumulators, reused between queries.

use std::sync::{Mutex, PoisonError};

/// Scratches kept for reuse, at most.
const KEPT: usize = 16;

/// A score to which nothing was added. The sign is the mark: adding any score, zero included, to
/// `-0.0` gives that score with a positive sign.
pub(super) const UNTOUCHED: f64 = -0.0;

/// Accumulators of one query; all [`UNTOUCHED`] between segments.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) scores: Vec<f64>,
    /// The chunks to whose score something was added, each once.
    pub(crate) touched: Vec<u32>,
}

/// Scratches that wait for a query.
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
