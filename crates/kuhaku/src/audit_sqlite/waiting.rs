//! Waiting for a future on the thread that calls, without a runtime.
//!
//! A connection to SQLite works on a thread of its own, so that its futures need nothing but to be
//! woken.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Sleeper {
    thread: Thread,
    /// Since what is polled may park as well, and take an unparking that was meant for this.
    woken: AtomicBool,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Polls a future to its end.
pub(super) fn wait<F: Future>(future: F) -> F::Output {
    let sleeper = Arc::new(Sleeper { thread: thread::current(), woken: AtomicBool::new(false) });
    let waker = Waker::from(Arc::clone(&sleeper));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        while !sleeper.woken.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}
