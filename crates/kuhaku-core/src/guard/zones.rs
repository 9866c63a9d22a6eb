//! What a score means for a question.

use crate::error::{Error, ErrorKind, Result};

/// What is done with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zone {
    /// Nothing.
    Pass,
    /// A question is answered from the sources alone, with a notice; a passage is reported.
    Restricted,
    /// A question is refused; a passage is held back.
    Reject,
}

impl Zone {
    /// The stable name, as it stands in reports and audit records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Restricted => "restricted",
            Self::Reject => "reject",
        }
    }
}

/// What a second stage, such as a classifier model, says of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It is an attack.
    Attack,
    /// It is none, with a confidence of 0 to 1.
    Harmless {
        /// How sure the stage is.
        confidence: f64,
    },
}

/// Where the zones begin.
///
/// Why a second stage was asked is no part of it: a text that was sampled is in the zone in which it
/// would be by its score and the verdict. A stage that is absent changes nothing (D26).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zones {
    low: f64,
    high: f64,
}

/// Harmless with less confidence than this is not enough to pass.
const CONFIDENT: f64 = 0.7;

impl Zones {
    /// Zones that begin at these scores: `low` the restricted one, `high` the refusal.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] unless `0 <= low <= high <= 1`.
    pub fn new(low: f64, high: f64) -> Result<Self> {
        if (0.0..=1.0).contains(&low) && (low..=1.0).contains(&high) {
            return Ok(Self { low, high });
        }
        let wrong = format!("{low} and {high} are not in order from 0 to 1");
        Err(Error::new(ErrorKind::InvalidInput, "set the zones of the guard", wrong)
            .next("give two numbers from 0 to 1, the lower one first"))
    }

    /// The zone of a score, and of a verdict if a second stage was asked.
    pub fn zone(&self, score: f64, verdict: Option<Verdict>) -> Zone {
        match verdict {
            Some(Verdict::Attack) => Zone::Reject,
            _ if score >= self.high => Zone::Reject,
            Some(Verdict::Harmless { confidence }) if confidence < CONFIDENT => Zone::Restricted,
            _ if score >= self.low => Zone::Restricted,
            _ => Zone::Pass,
        }
    }
}

impl Default for Zones {
    /// 0.3 and 0.7.
    fn default() -> Self {
        Self { low: 0.3, high: 0.7 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GRD-12. Whether the second stage was asked for the score or for a sample makes no difference:
    /// there is nothing to tell it by.
    #[test]
    fn zones_follow_the_score_and_the_verdict() {
        let zones = Zones::new(0.3, 0.7).unwrap();
        let harmless = |confidence| Some(Verdict::Harmless { confidence });
        for (score, verdict, zone) in [
            (0.1, None, Zone::Pass),
            (0.3, None, Zone::Restricted),
            (0.5, None, Zone::Restricted),
            (0.7, None, Zone::Reject),
            (0.9, None, Zone::Reject),
            (0.95, None, Zone::Reject),
            (0.1, Some(Verdict::Attack), Zone::Reject),
            (0.1, harmless(0.4), Zone::Restricted),
            (0.1, harmless(0.95), Zone::Pass),
            (0.4, harmless(0.95), Zone::Restricted),
            (0.95, harmless(0.95), Zone::Reject),
        ] {
            assert_eq!(zones.zone(score, verdict), zone, "{score} {verdict:?}");
        }
        assert_eq!(zones, Zones::default());
    }

    #[test]
    fn zones_out_of_order_are_refused() {
        for (low, high) in [(0.7, 0.3), (-0.1, 0.5), (0.5, 1.1), (f64::NAN, 0.5), (0.1, f64::NAN)] {
            let error = Zones::new(low, high).unwrap_err();
            assert_eq!(error.code(), "core.invalid_input");
        }
    }
}
