//! A time limit that works on every executor, so that this crate needs none.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Ready when its time has come. A sleeping thread wakes the task; it ends with the alarm.
#[derive(Debug)]
pub(super) struct Alarm {
    due: Instant,
    state: Arc<Mutex<State>>,
    thread: Option<Thread>,
}

#[derive(Debug, Default)]
struct State {
    waker: Option<Waker>,
    dropped: bool,
}

impl Alarm {
    /// Rings after `limit`; at once when no thread can be had, since a limit must hold.
    pub(super) fn after(limit: Duration) -> Self {
        let now = Instant::now();
        let due = now.checked_add(limit).unwrap_or(now);
        let state = Arc::new(Mutex::new(State::default()));
        let sleeping = std::thread::Builder::new().name("kuhaku-alarm".into()).spawn({
            let state = state.clone();
            move || sleep(due, &state)
        });
        match sleeping {
            Ok(sleeping) => Self { due, state, thread: Some(sleeping.thread().clone()) },
            Err(_) => Self { due: now, state, thread: None },
        }
    }
}

fn sleep(due: Instant, state: &Mutex<State>) {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        std::thread::park_timeout(left);
        if state.lock().unwrap_or_else(PoisonError::into_inner).dropped {
            return;
        }
    }
    let waker = state.lock().unwrap_or_else(PoisonError::into_inner).waker.take();
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Future for Alarm {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // The waker is stored before the time is read: the thread may ring in between.
        self.state.lock().unwrap_or_else(PoisonError::into_inner).waker =
            Some(context.waker().clone());
        if Instant::now() >= self.due { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).dropped = true;
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}
