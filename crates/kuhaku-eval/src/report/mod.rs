//! What a run amounts to: summaries, comparisons, gates.

mod comparison;
mod gate;
mod markdown;
mod summary;

pub use comparison::{Comparison, ComparisonSettings, MeasureComparison, Moved};
pub use gate::{Threshold, Verdict};
pub use markdown::table;
pub use summary::{Latency, MeasureSummary, Summary, Tokens};
