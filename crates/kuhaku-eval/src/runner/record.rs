//! A run: which target answered which cases how well.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::case::Case;
use crate::datasets::Dataset;
use crate::measurement::Measurement;
use crate::measures::{FieldTally, Measure, Scorer};
use crate::target::Outcome;

/// The version of the form in which runs are written.
pub const RUN_VERSION: u32 = 1;

/// What was run, on what, and how it was measured. The first line of a run's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunHeader {
    /// [`RUN_VERSION`].
    #[serde(rename = "kuhaku_run")]
    pub version: u32,
    /// [`Target::name`](crate::Target::name).
    pub target: String,
    /// [`Dataset::name`].
    pub dataset: String,
    /// [`Dataset::content_hash`].
    pub dataset_hash: String,
    /// How many cases the dataset has.
    pub cases: usize,
    /// The measures, in their order.
    pub measures: Vec<Measure>,
    /// The lowest grade that is relevant.
    pub relevant_from: u64,
    /// How objects are compared.
    pub objects: String,
    /// The seed of the intervals, and of whatever the target draws.
    pub seed: u64,
    /// Settings of the target, by name.
    pub settings: BTreeMap<String, String>,
}

impl RunHeader {
    pub(super) fn new(target: &str, dataset: &Dataset, scorer: &Scorer) -> Self {
        Self {
            version: RUN_VERSION,
            target: target.to_owned(),
            dataset: dataset.name().to_owned(),
            dataset_hash: dataset.content_hash(),
            cases: dataset.cases().len(),
            measures: scorer.measures().to_vec(),
            relevant_from: scorer.lowest_relevant(),
            objects: format!("{:?}, {:?}", scorer.rules().text, scorer.rules().lists),
            seed: 0,
            settings: BTreeMap::new(),
        }
    }

    /// The names of the parts in which two headers differ.
    pub(super) fn differences(&self, other: &Self) -> Vec<&'static str> {
        let parts = [
            ("version", self.version == other.version),
            ("target", self.target == other.target),
            ("dataset", self.dataset_hash == other.dataset_hash),
            ("measures", self.measures == other.measures),
            ("relevant_from", self.relevant_from == other.relevant_from),
            ("objects", self.objects == other.objects),
            ("seed", self.seed == other.seed),
            ("settings", self.settings == other.settings),
        ];
        parts.iter().filter(|(_, same)| !same).map(|(name, _)| *name).collect()
    }
}

/// One sample of a run. A line of a run's file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// The sample's id.
    pub id: String,
    /// The case's category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// How long the target took, in milliseconds.
    pub latency_ms: f64,
    /// Tokens of the requests, where the target reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens of the replies, where the target reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// The code of the error that ended the run of this sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Whether the target declined to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abstained: Option<bool>,
    /// The ids that were retrieved, best first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieved: Option<Vec<String>>,
    /// The ids that the answer cites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cited: Option<Vec<String>>,
    /// The answer, only where [`Evaluation::keep_answers`](crate::Evaluation::keep_answers) asks
    /// for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The extracted object, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Value>,
    /// The measures by name.
    pub scores: BTreeMap<String, Measurement>,
    /// The counts of an extracted object by field.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, FieldTally>,
}

impl Row {
    pub(super) fn new(case: &Case, outcome: Outcome, scorer: &Scorer, latency_ms: f64) -> Self {
        let names = scorer.measures().iter().map(Measure::to_string);
        Self {
            id: case.sample.id.clone(),
            category: case.category.clone(),
            latency_ms,
            scores: names.zip(scorer.score(case, &outcome)).collect(),
            fields: scorer.fields(case, &outcome),
            input_tokens: outcome.usage.input_tokens,
            output_tokens: outcome.usage.output_tokens,
            failed: outcome.failed,
            abstained: outcome.abstained,
            retrieved: outcome.retrieved,
            cited: outcome.cited,
            text: outcome.text,
            object: outcome.object,
        }
    }

    /// One measure; `None` when the run does not have it or it was not measured.
    pub fn score(&self, measure: Measure) -> Option<f64> {
        self.scores.get(&measure.to_string())?.value()
    }
}

/// A run, whole or as far as it came.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// What was run.
    pub header: RunHeader,
    /// One row per case, in the order of the dataset.
    pub rows: Vec<Row>,
}

impl Run {
    /// Whether every case has its row.
    pub fn is_complete(&self) -> bool {
        self.rows.len() == self.header.cases
    }
}
