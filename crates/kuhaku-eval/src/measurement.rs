//! A number, or the reason why there is none.

use serde::{Deserialize, Serialize};

/// One measure of one sample.
///
/// A mean is taken over measured values only, and says how many there were: a sample that nobody
/// judged does not pull it down, and a sample that the target left unanswered is measured as 0.
///
/// ```
/// use kuhaku_eval::{Measurement, Unmeasured};
/// assert_eq!(Measurement::from(0.5).value(), Some(0.5));
/// assert_eq!(Measurement::from(f64::NAN), Measurement::Unmeasured(Unmeasured::Undefined));
/// assert_eq!(Measurement::Unmeasured(Unmeasured::Unjudged).value(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measurement {
    /// The value; finite. Its range is that of the measure.
    Measured(f64),
    /// There is none.
    Unmeasured(Unmeasured),
}

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unmeasured {
    /// The case does not say what would be right.
    Unjudged,
    /// The target does not give what the measure needs, such as ids or tokens used.
    Unreported,
    /// The measure does not apply to this kind of case.
    Inapplicable,
    /// The formula has no finite value here.
    Undefined,
}

impl Measurement {
    /// The value, if there is one.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Measured(value) => Some(value),
            Self::Unmeasured(_) => None,
        }
    }
}

impl From<f64> for Measurement {
    /// Measured when finite, else [`Unmeasured::Undefined`].
    fn from(value: f64) -> Self {
        if value.is_finite() {
            Self::Measured(value)
        } else {
            Self::Unmeasured(Unmeasured::Undefined)
        }
    }
}
