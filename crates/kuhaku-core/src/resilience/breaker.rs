//! Circuit breakers: a service that is down is left alone for a while.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// When a circuit opens and closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BreakerPolicy {
    /// So many calls in a row must find the service down; at least 1.
    pub failures: u32,
    /// How long the circuit then stays open.
    pub reset: Duration,
    /// So many probes, one at a time, must succeed before it closes; at least 1.
    pub successes: u32,
}

impl Default for BreakerPolicy {
    /// Five failures, 60 seconds, one success.
    fn default() -> Self {
        Self { failures: 5, reset: Duration::from_secs(60), successes: 1 }
    }
}

impl BreakerPolicy {
    /// Sets all three.
    pub fn new(failures: u32, reset: Duration, successes: u32) -> Self {
        Self { failures, reset, successes }
    }
}

/// The breakers by endpoint. They live as long as the runtime; endpoints come from settings, so
/// there are few.
#[derive(Debug, Default)]
pub(crate) struct Breakers(Mutex<HashMap<String, Arc<Breaker>>>);

impl Breakers {
    pub(super) fn of(&self, endpoint: &str) -> Arc<Breaker> {
        let mut breakers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(breaker) = breakers.get(endpoint) {
            return breaker.clone();
        }
        breakers.entry(endpoint.to_owned()).or_default().clone()
    }
}

/// The state of one endpoint.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Calls go through; so many in a row have found the service down.
    Closed { failures: u32 },
    /// No call goes through until then.
    Open { until: Instant },
    /// One call at a time goes through, to see.
    HalfOpen { successes: u32, probing: bool },
}

impl Default for State {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

impl Breaker {
    /// Lets a call through, or says for how long none will be; zero while a probe is under way.
    pub(super) fn admit(
        self: &Arc<Self>,
        policy: BreakerPolicy,
        now: Instant,
    ) -> Result<Permit, Duration> {
        let mut state = self.state();
        if let State::Open { until } = *state {
            if now < until {
                return Err(until - now);
            }
            *state = State::HalfOpen { successes: 0, probing: false };
        }
        let probe = match &mut *state {
            State::HalfOpen { probing: true, .. } => return Err(Duration::ZERO),
            State::HalfOpen { probing, .. } => {
                *probing = true;
                true
            }
            _ => false,
        };
        Ok(Permit { breaker: self.clone(), policy, probe })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that was let through. Dropped without a verdict, it says nothing about the service.
#[derive(Debug)]
pub(super) struct Permit {
    breaker: Arc<Breaker>,
    policy: BreakerPolicy,
    probe: bool,
}

impl Permit {
    /// Whether the circuit waits for this call to see how the service is.
    pub(super) fn is_probe(&self) -> bool {
        self.probe
    }

    /// The service is up.
    pub(super) fn succeeded(mut self) {
        let mut state = self.breaker.state();
        match &mut *state {
            State::Closed { failures } => *failures = 0,
            State::HalfOpen { successes, probing } if self.probe => {
                *probing = false;
                *successes += 1;
                if *successes >= self.policy.successes {
                    *state = State::default();
                }
            }
            // A late verdict on what the service was before the circuit opened.
            _ => {}
        }
        drop(state);
        self.probe = false;
    }

    /// The service is down.
    pub(super) fn failed(mut self, now: Instant) {
        let mut state = self.breaker.state();
        let open = State::Open { until: now + self.policy.reset };
        match &mut *state {
            State::Closed { failures } => {
                *failures += 1;
                if *failures >= self.policy.failures {
                    *state = open;
                }
            }
            State::HalfOpen { .. } if self.probe => *state = open,
            _ => {}
        }
        drop(state);
        self.probe = false;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.probe
            && let State::HalfOpen { probing, .. } = &mut *self.breaker.state()
        {
            *probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RESET: Duration = Duration::from_secs(60);

    fn policy(failures: u32, successes: u32) -> BreakerPolicy {
        BreakerPolicy::new(failures, RESET, successes)
    }

    #[test]
    fn a_circuit_opens_after_failures_in_a_row_and_closes_after_a_probe() {
        let (breaker, now) = (Arc::new(Breaker::default()), Instant::now());
        let admit = |now| breaker.admit(policy(2, 1), now);
        admit(now).unwrap().failed(now);
        admit(now).unwrap().succeeded();
        admit(now).unwrap().failed(now);
        admit(now).unwrap().failed(now);
        assert_eq!(admit(now + RESET / 4).unwrap_err(), RESET * 3 / 4);
        let then = now + RESET;
        let probe = admit(then).unwrap();
        assert_eq!(admit(then).unwrap_err(), Duration::ZERO);
        probe.failed(then);
        assert_eq!(admit(then).unwrap_err(), RESET);
        admit(then + RESET).unwrap().succeeded();
        assert!(!admit(then + RESET).unwrap().is_probe());
    }

    #[test]
    fn a_probe_without_a_verdict_leaves_its_place_to_the_next() {
        let (breaker, now) = (Arc::new(Breaker::default()), Instant::now());
        breaker.admit(policy(1, 2), now).unwrap().failed(now);
        let then = now + RESET;
        drop(breaker.admit(policy(1, 2), then).unwrap());
        breaker.admit(policy(1, 2), then).unwrap().succeeded();
        assert!(breaker.admit(policy(1, 2), then).unwrap().is_probe());
    }

    proptest! {
        /// Whatever calls do, at most one is let through between opening and closing.
        #[test]
        fn no_two_probes_are_under_way(steps in prop::collection::vec((0u8..5, 0u64..90), 0..60)) {
            let (breaker, mut now) = (Arc::new(Breaker::default()), Instant::now());
            let mut under_way: Vec<Permit> = Vec::new();
            for (step, seconds) in steps {
                now += Duration::from_secs(seconds);
                match (step, under_way.is_empty()) {
                    (0 | 1, _) | (_, true) => under_way.extend(breaker.admit(policy(1, 2), now)),
                    (2, _) => under_way.swap_remove(0).succeeded(),
                    (3, _) => under_way.swap_remove(0).failed(now),
                    _ => drop(under_way.pop()),
                }
                let probes = under_way.iter().filter(|permit| permit.is_probe()).count();
                prop_assert!(probes <= 1);
            }
        }
    }
}
