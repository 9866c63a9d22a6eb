//! Whether two systems differ on the same questions.

use super::distributions::student_two_sided;
use super::percentile::mean;
use crate::random::SeededRandom;

/// Up to this many differences, all assignments of signs are gone through.
const EXACT_UP_TO: usize = 14;

/// A paired randomisation test (Fisher; Smucker, Allan and Carterette, CIKM 2007): how often
/// swapping the two systems at random on each question gives a mean difference at least as large.
/// Two-sided.
///
/// Exact for up to 14 differences that are not 0; else `resamples` draws, of which the observed one
/// is counted as one more: p = (c + 1) / (n + 1). Signs are the bits of [`SeededRandom`] for the
/// purpose `randomisation`, lowest first.
///
/// `None` of nothing or of a difference that is not finite; 1 when all are 0.
pub fn randomisation_test(differences: &[f64], resamples: usize, seed: u64) -> Option<f64> {
    if differences.is_empty() || differences.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let moved: Vec<f64> = differences.iter().copied().filter(|value| *value != 0.0).collect();
    let observed = moved.iter().sum::<f64>().abs();
    // Equal sums that were added in another order must not count as smaller.
    let threshold = observed - 1e-12 * moved.iter().map(|value| value.abs()).sum::<f64>();
    if moved.len() <= EXACT_UP_TO {
        let all = 1_u64 << moved.len();
        let extreme = (0..all).filter(|signs| signed_sum(&moved, *signs).abs() >= threshold);
        return Some(extreme.count() as f64 / all as f64);
    }
    let mut random = SeededRandom::for_purpose(seed, "randomisation");
    let mut extreme = 0_usize;
    for _ in 0..resamples {
        let sum: f64 = moved.chunks(64).map(|part| signed_sum(part, random.next_u64())).sum();
        extreme += usize::from(sum.abs() >= threshold);
    }
    Some((extreme + 1) as f64 / (resamples + 1) as f64)
}

/// The sum in which values whose bit is set count negative.
fn signed_sum(values: &[f64], signs: u64) -> f64 {
    let with_sign =
        |(at, value): (usize, &f64)| f64::from_bits(value.to_bits() ^ (((signs >> at) & 1) << 63));
    values.iter().enumerate().map(with_sign).sum()
}

/// Student's paired t-test, two-sided, with the effect size.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PairedT {
    /// Mean difference over its standard error.
    pub t: f64,
    /// One less than the number of pairs.
    pub degrees: usize,
    /// The probability of a t at least as far from 0 if there is no difference.
    pub p: f64,
    /// Cohen's d for pairs: mean difference over the standard deviation of the differences.
    pub effect: f64,
}

impl PairedT {
    /// Tests; `None` of fewer than two differences, of one that is not finite, and when all are
    /// equal, so that there is no spread to compare with.
    pub fn new(differences: &[f64]) -> Option<Self> {
        let degrees = differences.len().checked_sub(1).filter(|degrees| *degrees > 0)?;
        let center = mean(differences).filter(|center| center.is_finite())?;
        let squares: f64 = differences.iter().map(|value| (value - center).powi(2)).sum();
        let deviation = (squares / degrees as f64).sqrt();
        // Equal differences leave rounding alone.
        if !deviation.is_finite() || deviation <= center.abs() * 1e-12 {
            return None;
        }
        let effect = center / deviation;
        let t = effect * (differences.len() as f64).sqrt();
        Some(Self { t, degrees, p: student_two_sided(t, degrees as f64), effect })
    }
}
