//! The counter of what was masked.

use kuhaku_core::{Redactions, Runtime};

/// Counts masked spans of questions and documents, by placeholder.
const REDACTIONS: &str = "masking_redactions_total";

pub(crate) fn count(runtime: &Runtime, redactions: &Redactions) {
    for (placeholder, count) in redactions.iter() {
        runtime.count(REDACTIONS, placeholder, u64::try_from(count).unwrap_or(u64::MAX));
    }
}
