//! `cargo xtask tidy`: the house rules that the compiler, clippy and cargo-deny cannot check.
//!
//! A check takes the root of a tree and returns its findings. Each one's tests build a bad tree and
//! see the finding.

mod api;
mod configuration;
mod deny;
mod dependencies;
mod edges;
mod machine_paths;
mod manifests;
mod module_docs;
mod names;
mod onnx;
mod parity;
mod size;
mod unsafe_code;

use std::fmt;
use std::path::{Path, PathBuf};

pub(crate) use dependencies::{LIST as DEPENDENCY_LIST, render as dependency_list};

use crate::error::{Error, Result, cannot};

/// Something to put right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Relative to the root.
    pub(crate) path: PathBuf,
    /// From 1.
    pub(crate) line: usize,
    /// What is wrong and what to do.
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn new(path: impl Into<PathBuf>, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.into(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}

type Check = fn(&Path) -> Result<Vec<Finding>>;

/// Every check by name, the quick ones first.
const CHECKS: &[(&str, Check)] = &[
    ("edges", edges::check),
    ("deny", deny::check),
    ("manifests", manifests::check),
    ("dependencies", dependencies::check),
    ("docs", module_docs::check),
    ("size", size::check),
    ("names", names::check),
    ("unsafe", unsafe_code::check),
    ("paths", machine_paths::check),
    ("configuration", configuration::check),
    ("onnx", onnx::check),
    ("parity", parity::check),
    ("api", api::check),
];

/// The names of the checks.
pub(crate) fn names() -> Vec<&'static str> {
    CHECKS.iter().map(|(name, _)| *name).collect()
}

/// What the checks found, and the checks that could not be done.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) findings: Vec<Finding>,
    pub(crate) failures: Vec<Error>,
}

/// Runs the named checks, or all of them when none is named.
pub(crate) fn run(root: &Path, chosen: &[String]) -> Result<Outcome> {
    if let Some(unknown) = chosen.iter().find(|name| !names().contains(&name.as_str())) {
        let wrong = format!("there is none of that name; next: choose from {}", names().join(", "));
        return Err(cannot(format!("run the check {unknown:?}"), wrong));
    }
    let mut outcome = Outcome::default();
    for (name, check) in CHECKS {
        if chosen.is_empty() || chosen.iter().any(|chosen| chosen == name) {
            match check(root) {
                Ok(findings) => outcome.findings.extend(findings),
                Err(failure) => outcome.failures.push(failure),
            }
        }
    }
    outcome.findings.sort();
    Ok(outcome)
}

/// The messages of findings, for the tests of the checks.
#[cfg(test)]
fn shown(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(Finding::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn a_check_that_cannot_be_done_hides_no_finding_of_another() {
        let tree = Tree::new(&[("crates/a/src/lib.rs", "fn undocumented() {}\n")]);
        let chosen = ["deny", "docs"].map(str::to_owned);
        let outcome = run(tree.root(), &chosen).unwrap();
        assert_eq!(outcome.findings.len(), 1, "{outcome:?}");
        assert_eq!(outcome.failures.len(), 1, "{outcome:?}");
        assert!(outcome.failures.iter().all(|failure| failure.to_string().contains("deny.toml")));
    }

    #[test]
    fn an_unknown_check_is_refused_with_the_known_ones() {
        let error = run(Path::new("."), &["typo".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("\"typo\"") && error.contains("edges"), "{error}");
    }
}
