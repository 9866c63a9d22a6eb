//! What a suite runs: sets, configurations and peers, from a TOML file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::error::{Result, cannot};

/// A suite.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Matrix {
    /// How many documents are retrieved.
    pub(crate) depth: usize,
    /// The measures, as `kuhaku eval run --measures` takes them.
    pub(crate) measures: String,
    /// The seed of intervals.
    pub(crate) seed: u64,
    #[serde(rename = "set")]
    pub(crate) sets: Vec<Set>,
    #[serde(rename = "configuration")]
    pub(crate) configurations: Vec<Configuration>,
    #[serde(default, rename = "peer")]
    pub(crate) peers: Vec<Peer>,
}

/// A set in BEIR's layout.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) split: String,
    pub(crate) language: String,
    /// What is asked of the first configuration: measure and value.
    pub(crate) at_least: BTreeMap<String, f64>,
}

/// Settings under a name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Configuration {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) settings: BTreeMap<String, String>,
}

/// A Python program that does the same.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) packages: Vec<String>,
    pub(crate) script: String,
}

impl Matrix {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let tried = || format!("read {}", path.display());
        let text = fs::read_to_string(path).map_err(|error| cannot(tried(), error))?;
        toml::from_str(&text).map_err(|error| cannot(tried(), error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_matrix_can_be_read() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/retrieval.toml");
        let matrix = Matrix::read(&path).unwrap();
        assert_eq!(matrix.configurations[0].name, "default");
        assert!(matrix.configurations[0].settings.is_empty());
        assert!(matrix.sets.iter().any(|set| set.name == "scifact" && set.split == "test"));
    }
}
