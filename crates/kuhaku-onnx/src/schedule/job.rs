//! Rows that one caller waits for, worked off batch by batch.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::error::Result;
use crate::model::Row;

/// Rows, their batches, and who waits for what they give.
#[derive(Debug)]
pub(super) struct Job {
    rows: Vec<Row>,
    batches: Vec<Vec<usize>>,
    state: Mutex<State>,
    /// The place in the queue, free again when the job is gone.
    _place: OwnedSemaphorePermit,
}

#[derive(Debug)]
struct State {
    next: usize,
    left: usize,
    given: Vec<Vec<f32>>,
    caller: Option<oneshot::Sender<Result<Vec<Vec<f32>>>>>,
}

impl Job {
    pub(super) fn new(
        rows: Vec<Row>,
        batches: Vec<Vec<usize>>,
        caller: oneshot::Sender<Result<Vec<Vec<f32>>>>,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let given = vec![Vec::new(); rows.len()];
        let state = State { next: 0, left: batches.len(), given, caller: Some(caller) };
        Self { rows, batches, state: Mutex::new(state), _place: place }
    }

    /// The next batch, and whether others wait after it. None when all are taken, when one failed,
    /// or when nobody waits any longer.
    pub(super) fn claim(&self) -> Option<(usize, bool)> {
        let mut state = self.state();
        if state.caller.as_ref().is_none_or(oneshot::Sender::is_closed) {
            return None;
        }
        let batch = state.next;
        (batch < self.batches.len()).then(|| {
            state.next += 1;
            (batch, state.next < self.batches.len())
        })
    }

    /// The rows of a batch.
    pub(super) fn rows(&self, batch: usize) -> Vec<&Row> {
        self.places(batch).filter_map(|row| self.rows.get(row)).collect()
    }

    /// Takes what a batch gave; the last one, and the first that failed, answer the caller.
    pub(super) fn finish(&self, batch: usize, given: Result<Vec<Vec<f32>>>) {
        let mut state = self.state();
        match given {
            Ok(given) => {
                for (row, numbers) in self.places(batch).zip(given) {
                    if let Some(place) = state.given.get_mut(row) {
                        *place = numbers;
                    }
                }
                state.left = state.left.saturating_sub(1);
                if state.left == 0 {
                    let given = std::mem::take(&mut state.given);
                    answer(&mut state, Ok(given));
                }
            }
            Err(error) => answer(&mut state, Err(error)),
        }
    }

    fn places(&self, batch: usize) -> impl Iterator<Item = usize> {
        self.batches.get(batch).into_iter().flatten().copied()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A caller that has gone needs no answer.
fn answer(state: &mut State, answer: Result<Vec<Vec<f32>>>) {
    if let Some(caller) = state.caller.take() {
        let _ = caller.send(answer);
    }
}
