//! What the suite runs, from a TOML file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::super::matrix::Peer;
use crate::error::{Result, cannot};

/// The suite.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Matrix {
    pub(super) seed: u64,
    /// How many documents are retrieved.
    pub(super) limit: usize,
    pub(super) measures: String,
    /// How much vectors may count, of 1.
    pub(super) weights: Vec<f64>,
    /// How many documents of each ranking may be fused.
    pub(super) depths: Vec<usize>,
    /// Where every candidate is measured: how much vectors count on sets without a training split, and
    /// how many documents each ranking has.
    pub(super) dense: f64,
    pub(super) depth: usize,
    /// Settings of words that the training split prefers.
    pub(super) best: BTreeMap<String, String>,
    #[serde(rename = "set")]
    pub(super) sets: Vec<Set>,
    pub(super) both: Both,
    #[serde(default, rename = "peer")]
    pub(super) peers: Vec<Peer>,
}

/// A set with the vectors of a model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Set {
    pub(super) name: String,
    /// The set whose questions are asked, when it is another.
    pub(super) asked_in: Option<String>,
    pub(super) language: String,
    pub(super) model: String,
    /// Names of files of vectors.
    pub(super) documents: String,
    pub(super) questions: Vec<String>,
    /// The split on which weights are chosen.
    pub(super) chosen_on: Option<String>,
    /// nDCG@10 that is asked of the fusion.
    pub(super) at_least: Option<f64>,
}

/// Words and the vectors of all models of a set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Both {
    pub(super) set: String,
    pub(super) chosen_on: String,
    pub(super) at_least: f64,
}

impl Matrix {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let tried = || format!("read {}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| cannot(tried(), error))?;
        toml::from_str(&text).map_err(|error| cannot(tried(), error))
    }
}

impl Set {
    pub(super) fn heading(&self, split: &str) -> String {
        match &self.asked_in {
            Some(other) => format!("{} {split}, questions of {other}, {}", self.name, self.model),
            None => format!("{} {split}, {}", self.name, self.model),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_matrix_chooses_on_training_splits_alone() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/hybrid.toml");
        let matrix = Matrix::read(&path).unwrap();
        let chosen: Vec<_> = matrix.sets.iter().filter_map(|set| set.chosen_on.clone()).collect();
        assert!(chosen.iter().chain([&matrix.both.chosen_on]).all(|split| split == "train"));
        assert_eq!(chosen.len(), 2);
    }
}
