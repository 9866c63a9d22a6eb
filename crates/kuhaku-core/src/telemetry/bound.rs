//! The trace id of the request under way.

use std::cell::RefCell;
use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::ids::TraceId;

thread_local! {
    /// Set only while a [`BoundToTrace`] is polled or dropped on this thread.
    static CURRENT: RefCell<Option<TraceId>> = const { RefCell::new(None) };
}

impl TraceId {
    /// The id that the work under way is bound to; `None` outside of a request.
    ///
    /// It does not follow work that is handed to another task or thread: bind that as well.
    pub fn current() -> Option<Self> {
        // Threads that are about to end have no storage any more, and no request.
        CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
    }

    /// Binds some work to this id: within it, [`TraceId::current`] gives the id. Bindings nest.
    ///
    /// ```
    /// use kuhaku_core::TraceId;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> kuhaku_core::Result<()> {
    /// let work = async { TraceId::current() };
    /// let id = TraceId::new("request-7")?;
    /// assert_eq!(id.clone().bind(work).await, Some(id));
    /// assert_eq!(TraceId::current(), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn bind<F: Future>(self, work: F) -> BoundToTrace<F> {
        BoundToTrace { id: self, work: Some(Box::pin(work)) }
    }
}

/// A future that is bound to a trace id; made by [`TraceId::bind`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct BoundToTrace<F> {
    id: TraceId,
    work: Option<Pin<Box<F>>>,
}

impl<F> fmt::Debug for BoundToTrace<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundToTrace").field("id", &self.id).finish_non_exhaustive()
    }
}

impl<F: Future> Future for BoundToTrace<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _within = Within::enter(&self.id);
        match &mut self.work {
            Some(work) => work.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}

impl<F> Drop for BoundToTrace<F> {
    fn drop(&mut self) {
        // What ends by being dropped, a cancelled request for one, still tells whose end it was.
        let _within = Within::enter(&self.id);
        drop(self.work.take());
    }
}

/// Restores the id around it when dropped, panics included.
struct Within {
    outer: Option<TraceId>,
}

impl Within {
    fn enter(id: &TraceId) -> Self {
        let swap = |current: &RefCell<Option<TraceId>>| current.replace(Some(id.clone()));
        Self { outer: CURRENT.try_with(swap).ok().flatten() }
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        let outer = mem::take(&mut self.outer);
        let _ = CURRENT.try_with(|current| current.replace(outer));
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::pin::pin;
    use std::task::Waker;

    use super::*;

    fn id(text: &str) -> TraceId {
        TraceId::new(text).unwrap()
    }

    fn now() -> String {
        TraceId::current().unwrap_or_else(TraceId::unknown).to_string()
    }

    /// OBS-01
    #[tokio::test]
    async fn an_inner_binding_wins_and_the_outer_one_comes_back_also_after_errors() {
        assert_eq!(now(), "-");
        let nested = async {
            assert_eq!(now(), "outer");
            let failing = async {
                assert_eq!(now(), "inner");
                tokio::task::yield_now().await;
                assert_eq!(now(), "inner");
                Err::<(), _>("failed")
            };
            assert_eq!(id("inner").bind(failing).await, Err("failed"));
            now()
        };
        assert_eq!(id("outer").bind(nested).await, "outer");
        assert_eq!(now(), "-");
    }

    /// OBS-01
    #[test]
    fn a_panic_leaves_no_binding_behind() {
        let broken = std::future::poll_fn::<(), _>(|_| panic!("a custom part"));
        let mut work = id("a").bind(broken);
        let mut poll = || Pin::new(&mut work).poll(&mut Context::from_waker(Waker::noop()));
        assert!(std::panic::catch_unwind(AssertUnwindSafe(&mut poll)).is_err());
        assert_eq!(now(), "-");
    }

    #[tokio::test]
    async fn requests_on_one_thread_do_not_see_each_others_ids() {
        let ask = |name: &'static str| {
            id(name).bind(async move {
                for _ in 0..5 {
                    assert_eq!(now(), name);
                    tokio::task::yield_now().await;
                }
            })
        };
        tokio::join!(ask("a"), ask("b"), ask("c"));
    }

    #[test]
    fn what_is_dropped_unfinished_ends_under_its_id() {
        struct Ending<'a>(&'a RefCell<String>);
        impl Drop for Ending<'_> {
            fn drop(&mut self) {
                *self.0.borrow_mut() = now();
            }
        }
        let seen = RefCell::new(String::new());
        {
            let ending = Ending(&seen);
            let work = id("cancelled").bind(async move {
                let _ending = ending;
                std::future::pending::<()>().await;
            });
            let mut work = pin!(work);
            assert!(work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert_eq!(*seen.borrow(), "cancelled");
    }
}
