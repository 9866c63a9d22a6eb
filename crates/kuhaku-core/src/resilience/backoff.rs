//! How long to wait before the next attempt.

use std::time::Duration;

/// Exponential waits with an upper bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backoff {
    pub(super) base: Duration,
    pub(super) longest: Duration,
    pub(super) jitter: bool,
}

impl Backoff {
    /// The bound on the wait after the failed attempt of this number, counted from 1.
    pub(super) fn bound(&self, attempt: u32) -> Duration {
        let doublings = attempt.saturating_sub(1).min(31);
        self.base.saturating_mul(1 << doublings).min(self.longest)
    }

    /// The wait. With jitter it is drawn evenly from zero to the bound ("full jitter", Brooker,
    /// "Exponential Backoff and Jitter", 2015); `draw` is even over all of `u64`. What the service
    /// asks for comes on top, so that callers which were told the same do not return together.
    pub(super) fn wait(&self, attempt: u32, asked: Option<Duration>, draw: u64) -> Duration {
        let bound = self.bound(attempt);
        match (asked, self.jitter) {
            (Some(asked), true) => asked.saturating_add(share(bound, draw)),
            (Some(asked), false) => asked,
            (None, true) => share(bound, draw),
            (None, false) => bound,
        }
    }
}

/// `draw / 2^64` of a duration, rounded down.
fn share(whole: Duration, draw: u64) -> Duration {
    let nanos = u64::try_from(whole.as_nanos()).unwrap_or(u64::MAX);
    let share = (u128::from(nanos) * u128::from(draw)) >> 64;
    Duration::from_nanos(u64::try_from(share).unwrap_or(nanos))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    /// RTY-02
    #[test]
    fn waits_double_up_to_the_longest() {
        for (base, longest, expected) in [
            (1.0, 10.0, &[1.0, 2.0, 4.0, 8.0, 10.0, 10.0][..]),
            (0.5, 5.0, &[0.5, 1.0, 2.0, 4.0, 5.0]),
        ] {
            let backoff = Backoff { base: seconds(base), longest: seconds(longest), jitter: false };
            for (attempt, wait) in (1..).zip(expected) {
                assert_eq!(backoff.wait(attempt, None, 7), seconds(*wait), "attempt {attempt}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_wait_is_never_shorter_than_asked_nor_longer_than_the_bound_on_top(
            base in 0u64..u64::MAX,
            longest in 0u64..u64::MAX,
            attempt in 0u32..u32::MAX,
            asked in prop::option::of(0u64..u64::MAX),
            draw in any::<u64>(),
        ) {
            let nanos = Duration::from_nanos;
            let backoff = Backoff { base: nanos(base), longest: nanos(longest), jitter: true };
            let (floor, bound) = (nanos(asked.unwrap_or(0)), backoff.bound(attempt));
            let wait = backoff.wait(attempt, asked.map(nanos), draw);
            prop_assert!(bound <= nanos(longest));
            prop_assert!(floor <= wait && wait <= floor + bound);
        }

        #[test]
        fn jitter_reaches_all_of_the_bound(nanos in 1u64..u64::MAX) {
            let whole = Duration::from_nanos(nanos);
            prop_assert_eq!(share(whole, 0), Duration::ZERO);
            prop_assert_eq!(share(whole, u64::MAX), Duration::from_nanos(nanos - 1));
            prop_assert_eq!(share(whole, 1 << 63), Duration::from_nanos(nanos / 2));
        }
    }
}
