//! Choosing how words and vectors are fused, on a training split.

use kuhaku::eval::{Cut, Dataset, Gain, GradedRanking, mean};
use kuhaku::rag::Fusion;
use serde_json::{Value, json};

use super::super::report::Section;
use super::corpus::{Corpus, Way, Weighted};
use super::matrix::Matrix;
use crate::error::{Result, cannot};

/// How many documents a page of results has.
pub(super) const PAGE: usize = 10;
/// The depth at which weights are compared.
const DEPTH: usize = 100;

/// The fusions with what was tried for each, and the best.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) fusions: Vec<Curve>,
}

/// What was tried for one fusion.
#[derive(Debug)]
pub(super) struct Curve {
    pub(super) best: Weighted,
    /// nDCG@10 on the training split.
    points: Vec<(Weighted, f64)>,
}

pub(super) fn choose(corpus: &Corpus, training: &Dataset, matrix: &Matrix) -> Result<Chosen> {
    let fusions = Fusion::ALL.iter().map(|fusion| {
        let mut curve = Curve {
            best: Weighted { fusion: *fusion, dense: 0.5, depth: DEPTH },
            points: Vec::new(),
        };
        for dense in &matrix.weights {
            curve.try_out(corpus, training, Weighted { dense: *dense, ..curve.best })?;
        }
        curve.settle();
        for depth in matrix.depths.iter().filter(|depth| **depth != DEPTH) {
            curve.try_out(corpus, training, Weighted { depth: *depth, ..curve.best })?;
        }
        curve.settle();
        Ok(curve)
    });
    Ok(Chosen { fusions: fusions.collect::<Result<_>>()? })
}

impl Curve {
    fn try_out(&mut self, corpus: &Corpus, training: &Dataset, way: Weighted) -> Result<()> {
        let rankings = corpus.rankings(training, Way::Both(way), PAGE)?;
        let quality = ndcg(training, |id| rankings.get(id).map_or(&[], Vec::as_slice))?;
        self.points.push((way, quality));
        Ok(())
    }

    /// Takes the best so far; of equals the first.
    fn settle(&mut self) {
        let mut most = f64::NEG_INFINITY;
        for (way, quality) in &self.points {
            if *quality > most {
                (self.best, most) = (*way, *quality);
            }
        }
    }

    fn at(&self, way: Weighted) -> String {
        let point = self.points.iter().find(|(tried, _)| *tried == way);
        point.map_or_else(|| "–".into(), |(_, quality)| format!("{quality:.4}"))
    }
}

/// The mean nDCG@10 of rankings by question.
pub(super) fn ndcg<'a>(dataset: &Dataset, ranking: impl Fn(&str) -> &'a [String]) -> Result<f64> {
    let cut = Cut::at(PAGE).ok_or_else(|| cannot("measure", "the page is empty"))?;
    let of = |case: &kuhaku::eval::Case| {
        let ids = ranking(&case.sample.id).iter().map(String::as_str);
        let grades = case.expected.grades.clone().unwrap_or_default();
        GradedRanking::new(ids, &grades).ndcg(cut, Gain::Linear)
    };
    let all: Vec<f64> = dataset.cases().iter().map(of).collect();
    mean(&all).ok_or_else(|| cannot("measure", "the split has no questions"))
}

impl Chosen {
    pub(super) fn section(&self, heading: String, matrix: &Matrix) -> Section {
        let mut columns = vec!["fusion".to_string()];
        columns.extend(matrix.weights.iter().map(|weight| format!("{weight}")));
        columns.extend(matrix.depths.iter().map(|depth| format!("depth {depth}")));
        columns.push("chosen".into());
        let row = |curve: &Curve| {
            let Weighted { fusion, dense, depth } = curve.best;
            let mut row = vec![fusion.to_string()];
            let weight = |dense: &f64| curve.at(Weighted { dense: *dense, depth: DEPTH, fusion });
            row.extend(matrix.weights.iter().map(weight));
            let deep = |depth: &usize| curve.at(Weighted { dense, depth: *depth, fusion });
            row.extend(matrix.depths.iter().map(deep));
            row.push(format!("{dense}, depth {depth}"));
            row
        };
        Section {
            heading,
            text: format!(
                "nDCG@10 by how much vectors count, at depth {DEPTH}; then by depth at the best of \
                 these."
            ),
            columns,
            rows: self.fusions.iter().map(row).collect(),
        }
    }

    pub(super) fn value(&self) -> Value {
        let points = self.fusions.iter().flat_map(|curve| &curve.points);
        let points = points.map(|(way, quality)| {
            json!({
                "fusion": way.fusion.to_string(), "dense": way.dense, "depth": way.depth,
                "ndcg@10": quality,
            })
        });
        Value::Array(points.collect())
    }
}
