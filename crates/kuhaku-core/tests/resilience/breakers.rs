//! When a service is left alone.

use std::sync::atomic::{AtomicU32, Ordering};

use kuhaku_core::{BreakerPolicy, Error, ErrorKind, Resilience, Result, Runtime};
use tokio::time::{advance, sleep};

use crate::support::{exact, failure, seconds, within};

/// A layer of one attempt with a breaker that opens after five failures, for a minute.
fn breaking(runtime: &Runtime) -> Resilience {
    exact(runtime).attempts(1).breaker(BreakerPolicy::default())
}

async fn fail(layer: &Resilience, make: impl Fn() -> Error) -> ErrorKind {
    let call = |_| {
        let outcome = Err::<(), _>(make());
        async { outcome }
    };
    *layer.call("service", None, call).await.unwrap_err().kind()
}

async fn succeed(layer: &Resilience) -> Result<()> {
    layer.call("service", None, |_| async { Ok(()) }).await
}

/// RTY-06
#[tokio::test(start_paused = true)]
async fn only_outages_open_the_circuit() {
    let unpulled = || failure(ErrorKind::Unavailable).with_status(kuhaku_core::Status::Permanent);
    let neutral: [(&str, &dyn Fn() -> Error); 7] = [
        ("401", &|| failure(ErrorKind::Unauthorized)),
        ("400", &|| failure(ErrorKind::InvalidInput)),
        ("429", &|| failure(ErrorKind::RateLimited)),
        ("408", &|| failure(ErrorKind::TimedOut).not_an_outage()),
        ("404 of a model", &unpulled),
        ("garbage", &|| failure(ErrorKind::MalformedResponse)),
        ("cancelled", &|| failure(ErrorKind::Cancelled)),
    ];
    for (name, make) in neutral {
        let layer = breaking(&Runtime::system());
        for _ in 0..6 {
            fail(&layer, make).await;
        }
        assert!(succeed(&layer).await.is_ok(), "{name} opened the circuit");
    }
    for kind in [ErrorKind::Unavailable, ErrorKind::TimedOut] {
        let layer = breaking(&Runtime::system());
        for _ in 0..4 {
            assert_eq!(fail(&layer, || failure(kind)).await, kind);
        }
        succeed(&layer).await.unwrap();
        for _ in 0..5 {
            assert_eq!(fail(&layer, || failure(kind)).await, kind);
        }
        let error = succeed(&layer).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::CircuitOpen);
        assert_eq!(error.retry_after(), Some(seconds(60)));
        assert!(
            error.to_string().contains("service") && error.to_string().contains("60"),
            "{error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn breakers_are_shared_by_endpoint_within_a_runtime() {
    let runtime = Runtime::system();
    for _ in 0..5 {
        fail(&breaking(&runtime), || failure(ErrorKind::Unavailable)).await;
    }
    assert_eq!(*succeed(&breaking(&runtime)).await.unwrap_err().kind(), ErrorKind::CircuitOpen);
    let other = breaking(&runtime).call("other", None, |_| async { Ok::<_, Error>(()) }).await;
    assert!(other.is_ok());
    assert!(succeed(&breaking(&Runtime::system())).await.is_ok(), "nothing is global");
}

#[tokio::test(start_paused = true)]
async fn a_call_is_one_failure_however_often_it_was_tried() {
    let runtime = Runtime::system();
    let layer = breaking(&runtime).attempts(3);
    for _ in 0..4 {
        fail(&layer, || failure(ErrorKind::Unavailable)).await;
    }
    assert!(succeed(&layer).await.is_ok());
}

/// RTY-07
#[tokio::test(start_paused = true)]
async fn of_five_calls_on_a_half_open_circuit_one_reaches_the_service() {
    let runtime = Runtime::system();
    let layer = breaking(&runtime);
    for _ in 0..5 {
        fail(&layer, || failure(ErrorKind::Unavailable)).await;
    }
    advance(seconds(60)).await;
    let reached = AtomicU32::new(0);
    let probe = || {
        layer.call("service", None, |_| async {
            reached.fetch_add(1, Ordering::Relaxed);
            sleep(seconds(1)).await;
            Ok::<_, Error>(())
        })
    };
    let (a, b, c, d, e) = tokio::join!(probe(), probe(), probe(), probe(), probe());
    let outcomes = [a, b, c, d, e];
    assert_eq!(reached.load(Ordering::Relaxed), 1);
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    for error in outcomes.into_iter().filter_map(Result::err) {
        assert_eq!(*error.kind(), ErrorKind::CircuitOpen);
    }
    assert!(succeed(&layer).await.is_ok(), "the probe closed the circuit");
}

#[tokio::test(start_paused = true)]
async fn callers_that_leave_and_deadlines_say_nothing_about_the_service() {
    let layer = breaking(&Runtime::system());
    let hang = |_| std::future::pending::<Result<()>>();
    for _ in 0..6 {
        let left = tokio::time::timeout(seconds(1), layer.call("service", None, hang)).await;
        assert!(left.is_err());
        let late = layer.call("service", Some(within(seconds(1))), hang).await;
        assert_eq!(*late.unwrap_err().kind(), ErrorKind::TimedOut);
    }
    assert!(succeed(&layer).await.is_ok());
    let slow = layer.clone().attempt_timeout(seconds(1));
    for _ in 0..5 {
        slow.call("service", None, hang).await.unwrap_err();
    }
    assert_eq!(*succeed(&layer).await.unwrap_err().kind(), ErrorKind::CircuitOpen);
}
