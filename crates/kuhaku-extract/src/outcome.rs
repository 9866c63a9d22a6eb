//! How an extraction ended, and where its values came from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How an extraction ended, from best to worst: when several hold, the greatest is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExtractionStatus {
    /// Every required field has a valid value.
    Complete,
    /// Required fields are missing, and a question asks for them.
    NeedsClarification,
    /// A value breaks the schema's or the caller's rules, and asking again would not mend it.
    Invalid,
    /// The model gave nothing usable, however often it was asked.
    Failed,
    /// The text was refused before any model saw it.
    Blocked,
    /// None of the schemas offered fits the text; only routing ends so.
    NoMatch,
}

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Provenance {
    /// It was taken from this text; whether the text states it, evidence says.
    Source,
    /// It was known from an earlier turn.
    Prior,
    /// The schema gives it when the text says nothing.
    Default,
    /// It was taken from this text and replaces another from an earlier turn.
    Corrected,
}

impl ExtractionStatus {
    /// The name, as results and audit lines write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::NeedsClarification => "needs_clarification",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::NoMatch => "no_match",
        }
    }
}

impl Provenance {
    /// The name, as results write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Prior => "prior",
            Self::Default => "default",
            Self::Corrected => "corrected",
        }
    }
}

impl fmt::Display for ExtractionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_written_the_same_way_everywhere() {
        use ExtractionStatus::{Blocked, Complete, Failed, Invalid, NeedsClarification, NoMatch};
        for status in [Complete, NeedsClarification, Invalid, Failed, Blocked, NoMatch] {
            assert_eq!(serde_json::to_value(status).unwrap(), status.to_string());
        }
        use Provenance::{Corrected, Default, Prior, Source};
        for provenance in [Source, Prior, Default, Corrected] {
            assert_eq!(serde_json::to_value(provenance).unwrap(), provenance.to_string());
        }
    }
}
