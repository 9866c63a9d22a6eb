//! A run in a few numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::measurement::{Measurement, Unmeasured};
use crate::measures::{FieldTally, Measure};
use crate::runner::{Row, Run};
use crate::statistics::{Bootstrap, Interval, mean, percentile};

/// The means of a run with their intervals, by category too, and what it cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// Name of the target.
    pub target: String,
    /// Name of the dataset.
    pub dataset: String,
    /// Its content.
    pub dataset_hash: String,
    /// How many samples were run.
    pub samples: usize,
    /// How many of them failed, by code.
    pub failed: BTreeMap<String, usize>,
    /// The measures, in the order of the run.
    pub measures: Vec<MeasureSummary>,
    /// The same for the samples of each category.
    pub categories: BTreeMap<String, Vec<MeasureSummary>>,
    /// Counts of extracted objects by field.
    pub fields: BTreeMap<String, FieldTally>,
    /// How long samples took.
    pub latency: Option<Latency>,
    /// Tokens used.
    pub tokens: Tokens,
}

/// One measure over many samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MeasureSummary {
    /// The measure.
    pub measure: Measure,
    /// The mean over the samples that were measured; `None` when none was.
    pub mean: Option<f64>,
    /// Its 95 % bootstrap interval; `None` for fewer than two samples.
    pub interval: Option<Interval>,
    /// How many samples were measured.
    pub measured: usize,
    /// How many were not, by reason.
    pub unmeasured: BTreeMap<Unmeasured, usize>,
}

/// Milliseconds per sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Latency {
    /// The median.
    pub p50_ms: f64,
    /// What 95 % of the samples stay below.
    pub p95_ms: f64,
    /// The mean.
    pub mean_ms: f64,
}

/// Tokens over all samples; `None` when no sample reported any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tokens {
    /// Of the requests.
    pub input: Option<u64>,
    /// Of the replies.
    pub output: Option<u64>,
    /// How many samples reported either.
    pub reported: usize,
}

impl Summary {
    /// Sums up a run. Intervals are drawn with the run's seed. A run without samples gives no means.
    pub fn new(run: &Run) -> Self {
        let rows: Vec<&Row> = run.rows.iter().collect();
        let mut by_category: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
        let mut failed = BTreeMap::new();
        let mut fields: BTreeMap<String, FieldTally> = BTreeMap::new();
        for row in &rows {
            if let Some(category) = &row.category {
                by_category.entry(category.clone()).or_default().push(row);
            }
            if let Some(code) = &row.failed {
                *failed.entry(code.clone()).or_default() += 1;
            }
            for (field, tally) in &row.fields {
                fields.entry(field.clone()).or_default().add(tally);
            }
        }
        let of = |rows: &[&Row]| -> Vec<MeasureSummary> {
            let measures = run.header.measures.iter();
            measures.map(|measure| MeasureSummary::new(*measure, rows, run.header.seed)).collect()
        };
        Self {
            target: run.header.target.clone(),
            dataset: run.header.dataset.clone(),
            dataset_hash: run.header.dataset_hash.clone(),
            samples: rows.len(),
            failed,
            measures: of(&rows),
            categories: by_category.into_iter().map(|(name, rows)| (name, of(&rows))).collect(),
            fields,
            latency: Latency::new(&rows),
            tokens: Tokens::new(&rows),
        }
    }

    /// One measure; `None` when the run does not have it.
    pub fn measure(&self, measure: Measure) -> Option<&MeasureSummary> {
        self.measures.iter().find(|summary| summary.measure == measure)
    }
}

impl MeasureSummary {
    fn new(measure: Measure, rows: &[&Row], seed: u64) -> Self {
        let name = measure.to_string();
        let mut values = Vec::new();
        let mut unmeasured = BTreeMap::new();
        for row in rows {
            match row.scores.get(&name) {
                Some(Measurement::Measured(value)) => values.push(*value),
                Some(Measurement::Unmeasured(reason)) => {
                    *unmeasured.entry(*reason).or_default() += 1;
                }
                None => *unmeasured.entry(Unmeasured::Unreported).or_default() += 1,
            }
        }
        let interval = Bootstrap::new(seed).interval(&values);
        Self { measure, mean: mean(&values), interval, measured: values.len(), unmeasured }
    }
}

impl Latency {
    fn new(rows: &[&Row]) -> Option<Self> {
        let times: Vec<f64> = rows.iter().map(|row| row.latency_ms).collect();
        let (p50_ms, p95_ms) = (percentile(&times, 50.0)?, percentile(&times, 95.0)?);
        Some(Self { p50_ms, p95_ms, mean_ms: mean(&times)? })
    }
}

impl Tokens {
    fn new(rows: &[&Row]) -> Self {
        let sum = |of: fn(&Row) -> Option<u64>| {
            rows.iter().filter_map(|row| of(row)).reduce(u64::saturating_add)
        };
        let reports = |row: &&&Row| row.input_tokens.is_some() || row.output_tokens.is_some();
        Self {
            input: sum(|row| row.input_tokens),
            output: sum(|row| row.output_tokens),
            reported: rows.iter().filter(reports).count(),
        }
    }
}
