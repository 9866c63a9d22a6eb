//! The bounded queue between requests and the thread that writes.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Why a queue did not take something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It had no room until the deadline.
    Full,
    /// The thread behind it has ended.
    Ended,
}

#[derive(Debug)]
struct State<T> {
    waiting: VecDeque<T>,
    /// Whether the thread is at work on something that it took.
    busy: bool,
    /// No more will come: the thread ends when nothing waits.
    closed: bool,
    /// The thread has ended.
    ended: bool,
}

/// Many put in, one thread takes out.
#[derive(Debug)]
pub(super) struct Queue<T> {
    capacity: usize,
    state: Mutex<State<T>>,
    /// Something was put in, or the queue was closed.
    filled: Condvar,
    /// Something was taken out or done, or the thread has ended.
    drained: Condvar,
}

impl<T> Queue<T> {
    pub(super) fn new(capacity: usize) -> Self {
        let waiting = VecDeque::new();
        Self {
            capacity: capacity.max(1),
            state: Mutex::new(State { waiting, busy: false, closed: false, ended: false }),
            filled: Condvar::new(),
            drained: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `enough` holds or the deadline has passed.
    fn wait<'a>(
        &self,
        mut state: MutexGuard<'a, State<T>>,
        deadline: Instant,
        enough: impl Fn(&State<T>) -> bool,
    ) -> MutexGuard<'a, State<T>> {
        while !enough(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (state, _) =
                self.drained.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Puts something in; waits for room until the deadline, and not at all without one.
    pub(super) fn put(&self, item: T, deadline: Option<Instant>) -> Result<(), Refused> {
        let mut state = self.state();
        if let Some(deadline) = deadline {
            let capacity = self.capacity;
            state =
                self.wait(state, deadline, |state| state.ended || state.waiting.len() < capacity);
        }
        if state.ended || state.closed {
            return Err(Refused::Ended);
        }
        if state.waiting.len() >= self.capacity {
            return Err(Refused::Full);
        }
        state.waiting.push_back(item);
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Takes the oldest out, waiting for one; `None` when the queue is closed and empty.
    pub(super) fn take(&self) -> Option<T> {
        let mut state = self.state();
        state.busy = false;
        self.drained.notify_all();
        loop {
            if let Some(item) = state.waiting.pop_front() {
                state.busy = true;
                self.drained.notify_all();
                return Some(item);
            }
            if state.closed {
                return None;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets the thread end when it has taken all.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.filled.notify_all();
    }

    /// Says that the thread has ended.
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.drained.notify_all();
    }

    /// Whether all that was put in is done by the deadline.
    pub(super) fn idle(&self, deadline: Instant) -> bool {
        let idle = |state: &State<T>| state.waiting.is_empty() && !state.busy;
        let state = self.wait(self.state(), deadline, |state| state.ended || idle(state));
        idle(&state)
    }

    /// Waits for the end of the thread until the deadline.
    pub(super) fn wait_for_end(&self, deadline: Instant) {
        drop(self.wait(self.state(), deadline, |state| state.ended));
    }
}
