//! Evaluation: what a system answered, set against what was expected.
//!
//! One contract joins everything that can be measured: a [`Target`] takes a [`Sample`] and gives an
//! [`Outcome`]. Retrievers, answer engines, extractors and services over HTTP are all targets. An
//! [`Evaluation`] runs one over a [`Dataset`] and gives a [`Run`], which a [`Summary`] sums up and a
//! [`Comparison`] sets against another.
//!
//! ```
//! use kuhaku_eval::{
//!     Case, Comparison, ComparisonSettings, Dataset, Evaluation, Expected, Measure, Outcome,
//!     Sample, Scorer, Summary, table, target_fn,
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> kuhaku_eval::Result<()> {
//! let case = |id: &str, question: &str, page: &str| {
//!     Case::new(Sample::new(id, question), Expected::default().relevant([page]))
//! };
//! let set = Dataset::new(
//!     "handbook",
//!     [
//!         case("q1", "how do I ask for leave?", "leave"),
//!         case("q2", "who pays for travel?", "travel"),
//!         case("q3", "where do I park?", "parking"),
//!     ],
//! )?;
//!
//! /// Finds the pages whose name occurs in the question.
//! let pages = ["leave", "travel"];
//! let by_name = target_fn("by-name", |sample| {
//!     Outcome::retrieved(pages.into_iter().filter(|page| sample.query.contains(page)))
//! });
//! let in_order = target_fn("in-order", |_| Outcome::retrieved(["leave", "travel", "parking"]));
//!
//! let evaluation = Evaluation::new(&set, Scorer::new(Measure::list("mrr,recall@1")?));
//! let baseline = evaluation.run(&in_order).await?;
//! let candidate = evaluation.run(&by_name).await?;
//! let summary = Summary::new(&candidate);
//! assert_eq!(summary.measures[1].mean, Some(2.0 / 3.0)); // q3 found nothing, which is a 0
//! println!("{}", table(&[Summary::new(&baseline), summary]));
//!
//! let compared = Comparison::new(&baseline, &candidate, ComparisonSettings::default())?;
//! assert_eq!((compared.measures[0].wins, compared.measures[0].losses), (1, 1));
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | for | take |
//! |---|---|
//! | what is asked, and what should come back | [`Sample`], [`Expected`], [`Case`] |
//! | sets of cases | [`Dataset`] (golden JSON lines, CSV), [`BeirFolder`], [`read_qrels`] |
//! | public sets | with feature `fetch` `SetFetcher`, `PublicSet` |
//! | what is measured | [`Target`], [`Outcome`], [`target_fn`], [`RecordedTarget`], with feature `http` `HttpTarget` |
//! | measures by name | [`Measure`], [`Scorer`], [`Measurement`] |
//! | measures alone | [`GradedRanking`], [`ObjectComparison`], [`token_f1`], [`exact_match`] |
//! | running, resuming | [`Evaluation`], [`Run`] |
//! | reports and gates | [`Summary`], [`Comparison`], [`table`], [`Threshold`] |
//! | statistics alone | [`Bootstrap`], [`randomisation_test`], [`PairedT`], [`holm`], [`percentile`] |
//!
//! # Invariants
//!
//! - R2: this crate knows none of the tools that it measures; adapters stand in the umbrella.
//! - R7: errors, warnings and runs hold ids and numbers. A run holds answers only where
//!   [`Evaluation::keep_answers`] asks for them, and a failed sample a code, never the text that
//!   failed.
//! - A target sees the [`Sample`] only, never what is [`Expected`].
//! - What was not measured is [`Measurement::Unmeasured`]: it is neither zero nor part of a mean.
//! - No measure leaves `[0, 1]`. Retrieval measures agree with trec_eval.
//! - Every random number comes from a seed, by [`SeededRandom`].

mod case;
mod closure;
mod datasets;
mod error;
#[cfg(feature = "fetch")]
mod fetch;
#[cfg(feature = "http")]
mod http;
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
#[cfg(feature = "fetch")]
pub use fetch::{FetchPlan, FetchedSet, PublicSet, SetFetcher, public_sets};
#[cfg(feature = "http")]
pub use http::HttpTarget;
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
