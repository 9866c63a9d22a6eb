//! Which calls are tried again, when, and until when.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use kuhaku_core::{Error, ErrorKind, HttpClient, HttpRequest, Resilience, Result, Runtime, Status};
use kuhaku_testkit::transcript::{Reply, TranscriptServer};
use tokio::time::{Instant, sleep};

use crate::support::{Metrics, exact, failure, seconds, within};

/// A runtime whose metrics are kept.
fn metered() -> (Runtime, Metrics) {
    let metrics = Metrics::default();
    (Runtime::builder().metrics(metrics.clone()).build(), metrics)
}

/// Fails so many times, then gives the number of attempts.
async fn fail_then_succeed(
    layer: &Resilience,
    failures: u32,
    make: impl Fn() -> Error,
) -> Result<u32> {
    let call = |attempt| {
        let outcome = if attempt <= failures { Err(make()) } else { Ok(attempt) };
        async { outcome }
    };
    layer.call("service", None, call).await
}

/// RTY-01
#[tokio::test(start_paused = true)]
async fn retries_are_counted_and_the_last_failure_stays_what_it_was() {
    let down = || failure(ErrorKind::Unavailable);
    let bad = || failure(ErrorKind::InvalidInput);
    for (attempts, failures, make, tried, counters) in [
        (3, 0, &down as &dyn Fn() -> Error, Ok(1), [0, 0, 0]),
        (3, 2, &down, Ok(3), [2, 1, 0]),
        (3, 9, &down, Err(Status::Persistent), [2, 0, 1]),
        (1, 9, &down, Err(Status::Temporary), [0, 0, 0]),
        (0, 9, &down, Err(Status::Temporary), [0, 0, 0]),
        (3, 9, &bad, Err(Status::Permanent), [0, 0, 0]),
    ] {
        let (runtime, metrics) = metered();
        let layer = exact(&runtime).attempts(attempts);
        match (fail_then_succeed(&layer, failures, make).await, tried) {
            (Ok(seen), Ok(tried)) => assert_eq!(seen, tried),
            (Err(error), Err(status)) => {
                assert_eq!(error.status(), status);
                assert_eq!(error.to_string(), make().to_string());
                assert_eq!(error.kind(), make().kind());
            }
            (seen, expected) => panic!("{seen:?} in place of {expected:?}"),
        }
        assert_eq!(metrics.retries(), counters, "{attempts} attempts, {failures} failures");
    }
}

/// RTY-02: on the clock.
#[tokio::test(start_paused = true)]
async fn attempts_come_after_exactly_the_waits_of_the_table() {
    let table: [(f64, u64, &[f64]); 2] =
        [(1.0, 10, &[1.0, 2.0, 4.0, 8.0, 10.0, 10.0]), (0.5, 5, &[0.5, 1.0, 2.0, 4.0, 5.0])];
    for (base, longest, waits) in table {
        let attempts = u32::try_from(waits.len()).unwrap() + 1;
        let layer = exact(&Runtime::system())
            .attempts(attempts)
            .backoff(Duration::from_secs_f64(base), seconds(longest));
        let started = Instant::now();
        let mut times = Vec::new();
        let call = |_| {
            times.push(started.elapsed());
            async { Err::<(), _>(failure(ErrorKind::Unavailable)) }
        };
        layer.call("service", None, call).await.unwrap_err();
        let gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let expected: Vec<_> = waits.iter().map(|wait| Duration::from_secs_f64(*wait)).collect();
        assert_eq!(gaps, expected);
    }
}

/// RTY-03
#[tokio::test]
async fn statuses_that_may_pass_are_asked_three_times_and_others_once() {
    let (runtime, client) = (Runtime::system(), HttpClient::builder().build().unwrap());
    let table = [408, 429, 500, 502, 503, 504, 529].map(|status| (status, 3));
    for (status, times) in table.into_iter().chain([400, 401, 403, 404, 413, 422].map(|s| (s, 1))) {
        let server = TranscriptServer::start([Reply::new(status)]).await.unwrap();
        let millisecond = Duration::from_millis(1);
        let layer = exact(&runtime).backoff(millisecond, millisecond);
        let (client, runtime, url) = (&client, &runtime, server.url());
        let call = |_| {
            let request = HttpRequest::get(&url);
            async move {
                let reply = client.send(request, 1024).await?;
                reply.failure("ask the service", runtime).map_or(Ok(()), Err)
            }
        };
        layer.call(&url, None, call).await.unwrap_err();
        assert_eq!(server.requests().len(), times, "{status}");
    }
}

/// RTY-04
#[tokio::test(start_paused = true)]
async fn a_wait_that_the_service_asks_for_is_kept_and_jitter_comes_on_top() {
    let busy = || failure(ErrorKind::RateLimited).with_retry_after(seconds(2));
    let runtime = Runtime::system();
    let started = Instant::now();
    fail_then_succeed(&exact(&runtime), 1, busy).await.unwrap();
    assert_eq!(started.elapsed(), seconds(2));
    for _ in 0..20 {
        let layer = Resilience::new(runtime.clone(), "llm").without_breaker();
        let started = Instant::now();
        fail_then_succeed(&layer, 1, busy).await.unwrap();
        let waited = started.elapsed();
        assert!((seconds(2)..=seconds(3)).contains(&waited), "{waited:?}");
    }
}

/// RTY-04
#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_deadline_is_not_begun_and_the_error_says_so() {
    let layer = exact(&Runtime::system()).attempts(10);
    let asked = || failure(ErrorKind::RateLimited).with_retry_after(seconds(2));
    let plain = || failure(ErrorKind::Unavailable);
    // The second waits 1 and 2 seconds, and would have to wait 4 more.
    for (make, limit, took) in [
        (&asked as &dyn Fn() -> Error, seconds(2), 0),
        (&plain, seconds(7), 3),
        (&plain, seconds(1), 0),
    ] {
        let started = Instant::now();
        let call = |_: u32| {
            let outcome = Err::<(), _>(make());
            async { outcome }
        };
        let error = layer.call("service", Some(within(limit)), call).await.unwrap_err();
        assert_eq!(started.elapsed(), seconds(took));
        assert_eq!(error.kind(), make().kind());
        assert!(error.next_step().unwrap().starts_with("give the call more time"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_longer_than_one_is_ready_for_is_not_begun() {
    let layer = exact(&Runtime::system()).longest_wait(seconds(30));
    let started = Instant::now();
    let busy = || failure(ErrorKind::RateLimited).with_retry_after(seconds(3600));
    let error = fail_then_succeed(&layer, 1, busy).await.unwrap_err();
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert_eq!(error.retry_after(), Some(seconds(3600)));
}

/// RTY-04, R12
#[tokio::test(start_paused = true)]
async fn the_deadline_ends_whatever_is_under_way() {
    let layer = exact(&Runtime::system()).attempts(5);
    let started = Instant::now();
    let calls = AtomicU32::new(0);
    let call = |_| async {
        calls.fetch_add(1, Ordering::Relaxed);
        sleep(seconds(2)).await;
        Err::<(), _>(failure(ErrorKind::Unavailable))
    };
    let error = layer.call("service", Some(within(seconds(4))), call).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::TimedOut);
    assert!(!error.is_outage());
    assert_eq!(started.elapsed(), seconds(4));
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    let error = layer.call("service", Some(within(Duration::ZERO)), call).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::TimedOut);
    assert_eq!(calls.load(Ordering::Relaxed), 2, "nothing is called after the deadline");
}

#[tokio::test(start_paused = true)]
async fn a_slow_attempt_is_ended_and_followed_by_another() {
    let layer = exact(&Runtime::system()).attempt_timeout(seconds(3));
    let started = Instant::now();
    let call = |attempt| async move {
        if attempt == 1 {
            sleep(seconds(60)).await;
        }
        Ok::<_, Error>(attempt)
    };
    assert_eq!(layer.call("service", None, call).await.unwrap(), 2);
    assert_eq!(started.elapsed(), seconds(4));
}

/// Another crate's errors keep their kind.
#[tokio::test(start_paused = true)]
async fn the_layer_serves_errors_of_every_crate() {
    #[derive(Clone, Debug, PartialEq)]
    enum Own {
        Locked,
        Core(ErrorKind),
    }
    impl kuhaku_core::Kind for Own {
        fn code(&self) -> &'static str {
            "own"
        }
        fn status(&self) -> Status {
            Status::Temporary
        }
    }
    impl From<ErrorKind> for Own {
        fn from(kind: ErrorKind) -> Self {
            Self::Core(kind)
        }
    }
    let layer = exact(&Runtime::system());
    let locked = || kuhaku_core::Failure::new(Own::Locked, "write", "it is locked");
    let error = layer.call("store", None, |_| async { Err::<(), _>(locked()) }).await.unwrap_err();
    assert_eq!(*error.kind(), Own::Locked);
    let late = within(Duration::ZERO);
    let error = layer.call("store", Some(late), |_| async { Err::<(), _>(locked()) }).await;
    assert_eq!(*error.unwrap_err().kind(), Own::Core(ErrorKind::TimedOut));
}
