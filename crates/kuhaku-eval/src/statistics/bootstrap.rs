//! How far a mean would move on other questions of the same kind.

use serde::{Deserialize, Serialize};

use super::distributions::{normal_cdf, normal_quantile};
use super::percentile::{mean, of_sorted};
use crate::random::SeededRandom;

/// Up to this many values, resamples are drawn.
const MOST_DRAWN: usize = 5_000;

/// A range that covers the true mean with the asked probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// How intervals are drawn: bias-corrected and accelerated bootstrap (Efron, JASA 1987), which
/// follows skewed values better than plain percentiles. Resamples come from [`SeededRandom`]
/// for the purpose `bootstrap`, by [`SeededRandom::below`] the number of values. For more than 5,000
/// values the normal approximation, mean ± z standard errors, says the same without drawing.
///
/// ```
/// use kuhaku_eval::Bootstrap;
/// let values: Vec<f64> = (0..100).map(|at| f64::from(at % 10) / 10.0).collect();
/// let interval = Bootstrap::new(7).interval(&values).unwrap();
/// assert!(interval.low < 0.45 && 0.45 < interval.high);
/// assert_eq!(Bootstrap::new(7).interval(&[0.5]), None); // one value tells nothing of the spread
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    seed: u64,
    resamples: usize,
    coverage: f64,
}

impl Bootstrap {
    /// 2,000 resamples, 95 % coverage.
    pub fn new(seed: u64) -> Self {
        Self { seed, resamples: 2_000, coverage: 0.95 }
    }

    /// Sets the number of resamples, at least 100.
    #[must_use]
    pub fn resamples(mut self, count: usize) -> Self {
        self.resamples = count.max(100);
        self
    }

    /// Sets the probability to cover the true mean, held in `0.5..=0.999`.
    #[must_use]
    pub fn coverage(mut self, coverage: f64) -> Self {
        self.coverage = if coverage.is_nan() { 0.95 } else { coverage.clamp(0.5, 0.999) };
        self
    }

    /// The interval of the mean; `None` of fewer than two values, of one that is not finite, and
    /// where sums leave the range of numbers.
    pub fn interval(&self, values: &[f64]) -> Option<Interval> {
        if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let observed = mean(values)?;
        let interval = self.around(values, observed)?;
        (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
    }

    fn around(&self, values: &[f64], observed: f64) -> Option<Interval> {
        if values.len() > MOST_DRAWN {
            return Some(self.normal(values, observed));
        }
        let means = self.means(values);
        let acceleration = acceleration(values, observed);
        let bias = bias(&means, observed);
        let end = |tail: f64| {
            let z = bias + normal_quantile(tail);
            let share = normal_cdf(bias + z / (1.0 - acceleration * z));
            of_sorted(&means, share)
        };
        let tail = (1.0 - self.coverage) / 2.0;
        Some(Interval { low: end(tail)?.min(observed), high: end(1.0 - tail)?.max(observed) })
    }

    fn normal(&self, values: &[f64], observed: f64) -> Interval {
        let squares: f64 = values.iter().map(|value| (value - observed).powi(2)).sum();
        let count = values.len() as f64;
        let error = (squares / (count - 1.0) / count).sqrt();
        let reach = normal_quantile((1.0 + self.coverage) / 2.0) * error;
        Interval { low: observed - reach, high: observed + reach }
    }

    /// The means of the resamples, ascending.
    fn means(&self, values: &[f64]) -> Vec<f64> {
        let mut random = SeededRandom::for_purpose(self.seed, "bootstrap");
        let mut draw = || values.get(random.below(values.len())).copied().unwrap_or_default();
        let count = values.len() as f64;
        let mut means: Vec<f64> = (0..self.resamples)
            .map(|_| (0..values.len()).map(|_| draw()).sum::<f64>() / count)
            .collect();
        means.sort_by(f64::total_cmp);
        means
    }
}

/// How far the median of the resamples lies from the mean, in standard deviations; ties count half.
fn bias(sorted: &[f64], observed: f64) -> f64 {
    // Sums in another order differ in the last bits, and a tie must stay one.
    let near = observed.abs().max(1.0) * 1e-12;
    let below = sorted.partition_point(|mean| *mean < observed - near);
    let upto = sorted.partition_point(|mean| *mean <= observed + near);
    let share = (below + upto) as f64 / 2.0 / sorted.len().max(1) as f64;
    if share <= 0.0 || share >= 1.0 { 0.0 } else { normal_quantile(share) }
}

/// A sixth of the skewness of the mean, by leaving one value out at a time: for a mean that is the
/// sum of cubed deviations over six times the 1.5th power of the sum of squared ones.
fn acceleration(values: &[f64], observed: f64) -> f64 {
    let (squares, cubes) = values.iter().fold((0.0, 0.0), |(squares, cubes), value| {
        let off = value - observed;
        (squares + off * off, cubes + off * off * off)
    });
    if squares <= 0.0 { 0.0 } else { cubes / (6.0 * squares.powf(1.5)) }
}
