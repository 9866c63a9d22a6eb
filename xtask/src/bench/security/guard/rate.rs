//! Shares with their intervals.

use serde_json::{Value, json};

/// The 97.5 % point of the normal distribution.
const Z: f64 = 1.959_964;

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rate {
    pub(super) k: usize,
    pub(super) n: usize,
}

impl Rate {
    pub(super) fn of<T>(all: &[T], holds: impl Fn(&T) -> bool) -> Self {
        Self { k: all.iter().filter(|each| holds(each)).count(), n: all.len() }
    }

    /// In percent; 0 of none is 0.
    pub(super) fn percent(self) -> f64 {
        100.0 * self.k as f64 / self.n.max(1) as f64
    }

    /// The 95 % interval of Wilson (JASA 22, 1927), in percent.
    pub(super) fn interval(self) -> (f64, f64) {
        if self.n == 0 {
            return (0.0, 100.0);
        }
        let (k, n) = (self.k as f64, self.n as f64);
        let middle = (k + Z * Z / 2.0) / (n + Z * Z);
        let half = Z / (n + Z * Z) * (k * (n - k) / n + Z * Z / 4.0).sqrt();
        (100.0 * (middle - half).max(0.0), 100.0 * (middle + half).min(1.0))
    }

    /// "12 of 40: 30.0 %".
    pub(super) fn cell(self) -> String {
        format!("{} of {}: {:.1} %", self.k, self.n, self.percent())
    }

    pub(super) fn interval_cell(self) -> String {
        let (low, high) = self.interval();
        format!("{low:.1} to {high:.1}")
    }

    pub(super) fn json(self) -> Value {
        let (low, high) = self.interval();
        json!({ "k": self.k, "n": self.n, "percent": self.percent(), "low": low, "high": high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
    #[test]
    fn intervals_are_those_of_the_literature() {
        for ((k, n), (low, high)) in
            [((81, 263), (25.53, 36.62)), ((15, 148), (6.24, 16.05)), ((0, 20), (0.0, 16.11))]
        {
            let (found_low, found_high) = Rate { k, n }.interval();
            assert!((found_low - low).abs() < 0.01, "{found_low} {low}");
            assert!((found_high - high).abs() < 0.01, "{found_high} {high}");
        }
        assert_eq!(Rate { k: 1, n: 1 }.interval().1, 100.0);
    }
}
