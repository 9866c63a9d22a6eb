//! Each feature alone, and the tests that only a feature brings.

use std::path::Path;

use crate::cargo::run;
use crate::error::Result;
use crate::workspace::{Member, members};

/// Checks every crate without features, and with each of its features alone: what only another
/// feature uses is dead code then, which clippy reports.
pub(crate) fn check_each_alone(root: &Path) -> Result<()> {
    for member in members(root)?.iter().filter(|member| !member.features.is_empty()) {
        let features = member.features.iter().map(String::as_str);
        let each = std::iter::once("").chain(features.filter(|feature| *feature != "default"));
        for feature in each {
            let package = ["clippy", "--quiet", "--package", &member.name];
            let only = ["--no-default-features", "--features", feature, "--", "-D", "warnings"];
            run(root, &[package.as_slice(), &only].concat())?;
        }
    }
    Ok(())
}

/// Runs the tests of the crates that have features beyond their default ones, with all of them.
pub(crate) fn test_all(root: &Path) -> Result<()> {
    for member in members(root)?.iter().filter(|member| has_more_than_default(member)) {
        run(root, &["test", "--quiet", "--package", &member.name, "--all-features"])?;
    }
    Ok(())
}

fn has_more_than_default(member: &Member) -> bool {
    let features = member.manifest.get("features");
    let default = features.and_then(|features| features.get("default"));
    let default: Vec<_> = default
        .and_then(toml::Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_str)
        .collect();
    member.features.iter().any(|name| name != "default" && !default.contains(&name.as_str()))
}
