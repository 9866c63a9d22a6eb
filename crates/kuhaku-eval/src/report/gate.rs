//! Conditions that a run must meet, for exit statuses.

use std::fmt;
use std::str::FromStr;

use super::comparison::Comparison;
use super::summary::Summary;
use crate::error::{Error, ErrorKind, Result};
use crate::measures::Measure;

/// A measure and a value: `ndcg@10=0.68`.
///
/// ```
/// use kuhaku_eval::Threshold;
/// let gate: Threshold = "ndcg@10=0.68".parse()?;
/// assert_eq!(gate.to_string(), "ndcg@10=0.68");
/// # Ok::<(), kuhaku_eval::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Threshold {
    /// The measure.
    pub measure: Measure,
    /// The value, in `[0, 1]`.
    pub value: f64,
}

impl FromStr for Threshold {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |wrong| {
            Err(Error::new(ErrorKind::InvalidInput, "read a gate", wrong)
                .next("write a measure and a value such as ndcg@10=0.68"))
        };
        let Some((measure, value)) = text.split_once('=') else {
            return wrong("it has no =");
        };
        let measure = measure.parse()?;
        match value.trim().parse::<f64>() {
            Ok(value) if (0.0..=1.0).contains(&value) => Ok(Self { measure, value }),
            Ok(_) => wrong("its value is not between 0 and 1"),
            Err(_) => wrong("its value is no number"),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.measure, self.value)
    }
}

/// Whether a gate was passed, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// Whether it was.
    pub passed: bool,
    /// The gate and the numbers, in one line.
    pub reason: String,
}

impl Summary {
    /// Whether the means are at least these values. What was not measured passes no gate.
    pub fn at_least(&self, thresholds: &[Threshold]) -> Vec<Verdict> {
        self.check(thresholds, "at least", |mean, value| mean >= value)
    }

    /// Whether the means are at most these values. What was not measured passes no gate.
    pub fn at_most(&self, thresholds: &[Threshold]) -> Vec<Verdict> {
        self.check(thresholds, "at most", |mean, value| mean <= value)
    }

    fn check(
        &self,
        thresholds: &[Threshold],
        relation: &str,
        holds: fn(f64, f64) -> bool,
    ) -> Vec<Verdict> {
        let verdict = |Threshold { measure, value }: &Threshold| match self
            .measure(*measure)
            .and_then(|summary| summary.mean)
        {
            Some(mean) => Verdict {
                passed: holds(mean, *value),
                reason: format!("{measure} {mean:.4}, {relation} {value} asked"),
            },
            None => Verdict { passed: false, reason: format!("{measure} was not measured") },
        };
        thresholds.iter().map(verdict).collect()
    }
}

impl Comparison {
    /// Whether the candidate is no worse: a measure fails when it is worse and the p-value, adjusted
    /// for the number of measures, is at most `alpha`. A measure without pairs fails.
    ///
    /// Few samples find few differences: passing says that none was shown, not that there is none.
    pub fn no_worse(&self, alpha: f64) -> Vec<Verdict> {
        let verdict = |compared: &super::comparison::MeasureComparison| {
            let measure = compared.measure;
            let (Some(difference), Some(p)) = (compared.difference, compared.p_adjusted) else {
                let reason = format!("{measure} has no samples that both runs measured");
                return Verdict { passed: false, reason };
            };
            let worse =
                if measure.higher_is_better() { difference < 0.0 } else { difference > 0.0 };
            Verdict {
                passed: !(worse && p <= alpha),
                reason: format!("{measure} moved by {difference:+.4}, p {p:.4}, alpha {alpha}"),
            }
        };
        self.measures.iter().map(verdict).collect()
    }
}
