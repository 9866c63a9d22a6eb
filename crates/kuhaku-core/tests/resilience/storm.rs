//! Many callers, and a service that asks all of them to wait.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kuhaku_core::{ErrorKind, Resilience, Runtime};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::support::{failure, seconds, within};

const CALLERS: u32 = 200;

/// RTY-04: of 200 callers.
#[tokio::test(start_paused = true)]
async fn a_storm_keeps_its_distance_and_spreads_out() {
    let started = Instant::now();
    let runtime = Runtime::system();
    let times: Arc<Mutex<Vec<(u32, Duration)>>> = Arc::default();
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (runtime, times) = (runtime.clone(), times.clone());
        callers.spawn(async move {
            let layer = Resilience::new(runtime, "llm").attempts(10);
            let call = |_| {
                let at = started.elapsed();
                times.lock().unwrap().push((caller, at));
                let busy = failure(ErrorKind::RateLimited).with_retry_after(seconds(1));
                async move { if at < seconds(3) { Err(busy) } else { Ok(()) } }
            };
            layer.call("service", Some(within(seconds(30))), call).await
        });
    }
    while let Some(outcome) = callers.join_next().await {
        outcome.unwrap().expect("there is time enough");
    }
    let times = times.lock().unwrap();
    for caller in 0..CALLERS {
        let own: Vec<_> = times.iter().filter(|(by, _)| *by == caller).map(|(_, at)| *at).collect();
        assert!(own.len() <= 10);
        let gaps = own.windows(2).map(|pair| pair[1] - pair[0]);
        for gap in gaps {
            assert!(gap >= seconds(1), "an attempt came after {gap:?}");
        }
    }
    let mut bins = std::collections::BTreeMap::new();
    for (_, at) in times.iter().filter(|(_, at)| !at.is_zero()) {
        *bins.entry(at.as_millis() / 50).or_insert(0) += 1;
    }
    // Without jitter all 200 would share one of these bins of 50 ms. The first wave is spread
    // evenly over a second, which puts 10 in a bin; 40 would be more than nine deviations above.
    let most = bins.values().max().unwrap();
    assert!(*most < 40, "{bins:?}");
}

#[tokio::test(start_paused = true)]
async fn callers_without_the_time_fail_before_their_deadline() {
    let started = Instant::now();
    let calls = Arc::new(AtomicU32::new(0));
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        let calls = calls.clone();
        callers.spawn(async move {
            let layer = Resilience::new(Runtime::system(), "llm").attempts(10);
            let call = |_| {
                calls.fetch_add(1, Ordering::Relaxed);
                let busy = failure(ErrorKind::RateLimited).with_retry_after(seconds(1));
                async move { Err::<(), _>(busy) }
            };
            layer.call("service", Some(within(Duration::from_millis(2_500))), call).await
        });
    }
    while let Some(outcome) = callers.join_next().await {
        let error = outcome.unwrap().unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::RateLimited);
    }
    assert!(started.elapsed() < Duration::from_millis(2_500));
    let calls = calls.load(Ordering::Relaxed);
    assert!((2 * CALLERS..=3 * CALLERS).contains(&calls), "{calls} attempts");
}
