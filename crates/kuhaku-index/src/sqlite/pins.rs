//! What readers of this handle may still fetch of documents that are gone.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::inverted::Generation;

/// Rows that readers of a generation, or of one before it, may still fetch.
#[derive(Debug)]
struct Retired {
    generation: Weak<Generation>,
    rows: Vec<i64>,
}

/// The retired rows per generation, oldest first.
#[derive(Debug, Default)]
pub(super) struct Pins(Mutex<VecDeque<Retired>>);

impl Pins {
    /// Notes that rows went with the generation after this one, if any did: readers of this one need
    /// what later ones lose too. To be called before that one is made current.
    pub(super) fn retire(&self, generation: &Arc<Generation>, rows: Vec<i64>) {
        let generation = Arc::downgrade(generation);
        let mut retired = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        forget(&mut retired);
        retired.push_back(Retired { generation, rows });
    }

    /// The rows that are still needed.
    pub(super) fn rows(&self) -> HashSet<i64> {
        let mut retired = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        forget(&mut retired);
        retired.iter().flat_map(|retired| retired.rows.iter().copied()).collect()
    }
}

/// Forgets the oldest as long as nobody reads them.
fn forget(retired: &mut VecDeque<Retired>) {
    while retired.front().is_some_and(|oldest| oldest.generation.strong_count() == 0) {
        retired.pop_front();
    }
}
