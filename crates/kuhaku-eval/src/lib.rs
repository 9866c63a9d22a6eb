//! Evaluation: what a system answered, set against what was expected.
//!
//! One contract joins everything that can be measured: a [`Target`] takes a [`Sample`] and gives an
//! [`Outcome`]. Retrievers, answer engines, extractors and services over HTTP are all targets.
//!
//! ```
//! use async_trait::async_trait;
//! use kuhaku_eval::{Outcome, Sample, Target};
//!
//! /// Finds the pages whose name occurs in the query.
//! #[derive(Debug)]
//! struct ByName(Vec<String>);
//!
//! #[async_trait]
//! impl Target for ByName {
//!     fn name(&self) -> &str {
//!         "by-name"
//!     }
//!
//!     async fn run(&self, sample: &Sample) -> Outcome {
//!         let named = self.0.iter().filter(|page| sample.query.contains(page.as_str()));
//!         Outcome::retrieved(named.cloned())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let target = ByName(vec!["leave".into(), "travel".into()]);
//! let outcome = target.run(&Sample::new("q1", "how do I ask for leave?")).await;
//! assert_eq!(outcome.retrieved.as_deref(), Some(&["leave".to_string()][..]));
//! assert_eq!(outcome.text, None); // it answers nothing, which is not an empty answer
//! # }
//! ```
//!
//! # Map
//!
//! | for | take |
//! |---|---|
//! | what is asked, and what should come back | [`Sample`], [`Expected`], [`Case`] |
//! | what is measured | [`Target`], [`Outcome`] |
//! | a measure of one sample | [`Measurement`], [`Unmeasured`] |
//!
//! Datasets, measures, the runner and statistics come with the issue "Measures and the bench".
//!
//! # Invariants
//!
//! - R2: this crate knows none of the tools that it measures; adapters stand in the umbrella.
//! - R7: a failed run carries a code, never the text that failed.
//! - A target sees the [`Sample`] only, never what is [`Expected`].
//! - What was not measured is [`Measurement::Unmeasured`]: it is neither zero nor part of a mean.

mod case;
mod closure;
mod datasets;
mod error;
mod measurement;
mod measures;
mod random;
mod report;
mod runner;
mod statistics;
mod target;

pub use case::{Case, Expected, Sample};
pub use closure::{RecordedTarget, async_target_fn, target_fn};
pub use datasets::{
    BadLine, BeirCorpus, BeirDocument, BeirFolder, Dataset, Loaded, Qrels, TrecRun, read_qrels,
};
pub use error::{Error, ErrorKind, Result};
pub use kuhaku_core::Usage;
pub use measurement::{Measurement, Unmeasured};
pub use measures::{
    Cut, FieldTally, Gain, GradedRanking, ListAlignment, Measure, ObjectComparison, ObjectRules,
    Scorer, TextRule, answer_correctness, exact_match, normal_tokens, token_f1,
};
pub use random::SeededRandom;
pub use report::{
    Comparison, ComparisonSettings, Latency, MeasureComparison, MeasureSummary, Moved, Summary,
    Threshold, Tokens, Verdict, table,
};
pub use runner::{Evaluation, Progress, RUN_VERSION, Row, Run, RunHeader};
pub use statistics::{
    Bootstrap, Interval, PairedT, benjamini_hochberg, holm, mean, percentile, randomisation_test,
};
pub use target::{Outcome, Target};
