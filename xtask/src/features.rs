//! Each feature alone, and the tests that only a feature brings.

use std::path::Path;

use crate::cargo::run;
use crate::error::Result;
use crate::workspace::{Member, members};

/// Checks every crate without features, and with each of its features alone.
pub(crate) fn check_each_alone(root: &Path) -> Result<()> {
    for member in members(root)?.iter().filter(|member| !member.features.is_empty()) {
        let check = ["check", "--quiet", "--package", &member.name, "--no-default-features"];
        run(root, &check)?;
        for feature in member.features.iter().filter(|feature| *feature != "default") {
            run(root, &[check.as_slice(), &["--features", feature]].concat())?;
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
