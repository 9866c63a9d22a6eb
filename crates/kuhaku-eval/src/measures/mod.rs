//! Measures: of rankings, of answers, of objects.

mod alignment;
mod answer;
mod cut;
mod measure;
mod object;
mod ranking;
mod scorer;

pub use alignment::ListAlignment;
pub use answer::{answer_correctness, exact_match, normal_tokens, token_f1};
pub use cut::Cut;
pub use measure::Measure;
pub use object::{FieldTally, ObjectComparison, ObjectRules, TextRule};
pub use ranking::{Gain, GradedRanking};
pub use scorer::Scorer;
