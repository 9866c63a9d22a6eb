//! Two runs over the same cases.

use std::collections::HashMap;

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::measures::Measure;
use crate::runner::{Row, Run};
use crate::statistics::{Bootstrap, Interval, PairedT, holm, mean, randomisation_test};

/// Differences below this are rounding.
const TIE: f64 = 1e-12;

/// How two runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComparisonSettings {
    /// The seed of the randomisation test and of the intervals.
    pub seed: u64,
    /// Resamples of the randomisation test and of the intervals.
    pub resamples: usize,
    /// How many of the samples that moved most are listed.
    pub most_moved: usize,
}

impl Default for ComparisonSettings {
    fn default() -> Self {
        Self { seed: 0, resamples: 9_999, most_moved: 10 }
    }
}

/// A candidate set against a baseline, measure by measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The target that is compared with.
    pub baseline: String,
    /// The target that is compared.
    pub candidate: String,
    /// The dataset of both.
    pub dataset: String,
    /// The measures that both runs have, in the baseline's order.
    pub measures: Vec<MeasureComparison>,
    /// The measures that only one of the runs has; nothing is said about them.
    pub not_shared: Vec<Measure>,
}

/// One measure of two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MeasureComparison {
    /// The measure.
    pub measure: Measure,
    /// How many samples both runs measured.
    pub pairs: usize,
    /// How many only one of them measured; they are left out.
    pub left_out: usize,
    /// The mean of the baseline over the pairs.
    pub baseline: Option<f64>,
    /// The mean of the candidate over the pairs.
    pub candidate: Option<f64>,
    /// Candidate minus baseline.
    pub difference: Option<f64>,
    /// The 95 % bootstrap interval of the difference.
    pub interval: Option<Interval>,
    /// [`randomisation_test`]; `None` without pairs.
    pub p: Option<f64>,
    /// The same allowing for the number of measures compared ([`holm`]).
    pub p_adjusted: Option<f64>,
    /// [`PairedT`]'s p.
    pub p_t: Option<f64>,
    /// Cohen's d for pairs.
    pub effect: Option<f64>,
    /// Samples on which the candidate is better.
    pub wins: usize,
    /// Samples on which both are equal.
    pub ties: usize,
    /// Samples on which the candidate is worse.
    pub losses: usize,
    /// The samples that moved most, largest first, ties by id.
    pub most_moved: Vec<Moved>,
}

/// A sample on which two runs differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Moved {
    /// Its id.
    pub id: String,
    /// The baseline's score.
    pub baseline: f64,
    /// The candidate's score.
    pub candidate: f64,
}

impl Comparison {
    /// Compares two runs, pairing samples by id.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] when they were run on other data or have no measure in common.
    pub fn new(baseline: &Run, candidate: &Run, settings: ComparisonSettings) -> Result<Self> {
        let failed = |wrong, next| {
            Err(Error::new(ErrorKind::Mismatch, "compare two runs", wrong).next(next))
        };
        let (before, after) = (&baseline.header, &candidate.header);
        if before.dataset_hash != after.dataset_hash {
            return failed("they were run on different data", "run both on one dataset");
        }
        if before.relevant_from != after.relevant_from || before.objects != after.objects {
            return failed("they were scored by different rules", "score both alike");
        }
        let shared = before.measures.iter().filter(|measure| after.measures.contains(measure));
        let mut measures: Vec<MeasureComparison> = shared
            .map(|measure| MeasureComparison::new(*measure, baseline, candidate, settings))
            .collect();
        if measures.is_empty() {
            return failed("they have no measure in common", "run both with the same measures");
        }
        let tested: Vec<f64> = measures.iter().filter_map(|measure| measure.p).collect();
        let mut adjusted = holm(&tested).into_iter();
        for measure in measures.iter_mut().filter(|measure| measure.p.is_some()) {
            measure.p_adjusted = adjusted.next();
        }
        let is_shared = |measure: &&Measure| {
            before.measures.contains(measure) && after.measures.contains(measure)
        };
        let all = before.measures.iter().chain(&after.measures);
        let not_shared = all.filter(|measure| !is_shared(measure)).copied().collect();
        Ok(Self {
            not_shared,
            baseline: before.target.clone(),
            candidate: after.target.clone(),
            dataset: before.dataset.clone(),
            measures,
        })
    }
}

impl MeasureComparison {
    fn new(measure: Measure, before: &Run, after: &Run, settings: ComparisonSettings) -> Self {
        let by_id: HashMap<&str, &Row> =
            after.rows.iter().map(|row| (row.id.as_str(), row)).collect();
        let (mut pairs, mut left_out) = (Vec::new(), 0);
        for row in &before.rows {
            let other = by_id.get(row.id.as_str()).and_then(|other| other.score(measure));
            match (row.score(measure), other) {
                (Some(baseline), Some(candidate)) => {
                    pairs.push(Moved { id: row.id.clone(), baseline, candidate });
                }
                (None, None) => {}
                _ => left_out += 1,
            }
        }
        let of = |score: fn(&Moved) -> f64| pairs.iter().map(score).collect::<Vec<f64>>();
        let differences: Vec<f64> = pairs.iter().map(Moved::by).collect();
        let sign = if measure.higher_is_better() { 1.0 } else { -1.0 };
        let count = |is: fn(f64) -> bool| differences.iter().filter(|by| is(**by * sign)).count();
        let bootstrap = Bootstrap::new(settings.seed).resamples(settings.resamples);
        let t = PairedT::new(&differences);
        let mut summary = Self {
            measure,
            pairs: pairs.len(),
            left_out,
            baseline: mean(&of(|pair| pair.baseline)),
            candidate: mean(&of(|pair| pair.candidate)),
            difference: mean(&differences),
            interval: bootstrap.interval(&differences),
            p: randomisation_test(&differences, settings.resamples, settings.seed),
            p_adjusted: None,
            p_t: t.map(|test| test.p),
            effect: t.map(|test| test.effect),
            wins: count(|by| by > 0.0),
            ties: count(|by| by == 0.0),
            losses: count(|by| by < 0.0),
            most_moved: Vec::new(),
        };
        pairs.retain(|pair| pair.by() != 0.0);
        pairs.sort_by(|a, b| b.by().abs().total_cmp(&a.by().abs()).then_with(|| a.id.cmp(&b.id)));
        pairs.truncate(settings.most_moved);
        summary.most_moved = pairs;
        summary
    }
}

impl Moved {
    /// Candidate minus baseline, 0 for what is rounding.
    pub fn by(&self) -> f64 {
        let by = self.candidate - self.baseline;
        if by.abs() <= TIE { 0.0 } else { by }
    }
}
