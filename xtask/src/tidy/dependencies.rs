//! D38: each crate's direct dependencies are those of a committed list.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::Result;
use crate::expected::{self, Sections};
use crate::tidy::Finding;
use crate::workspace::{Dependency, DependencyKind, members};

/// The committed list.
pub(crate) const LIST: &str = "dependencies.txt";

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let committed = expected::sections(root, LIST)?;
    let mut findings = Vec::new();
    let nothing = BTreeSet::new();
    for member in members(root)? {
        let listed = committed.get(&member.name).unwrap_or(&nothing);
        let mut found = BTreeSet::new();
        for dependency in &member.dependencies {
            let entry = entry(dependency);
            if !listed.contains(&entry) {
                let message = format!(
                    "{entry} is not among the committed dependencies of {}; if it must be, run \
                     `cargo xtask update`",
                    member.name
                );
                findings.push(Finding::new(member.manifest_path(), dependency.line, message));
            }
            found.insert(entry);
        }
        for gone in listed.difference(&found) {
            let message =
                format!("{} no longer depends on {gone}; run `cargo xtask update`", member.name);
            findings.push(Finding::new(member.manifest_path(), 1, message));
        }
    }
    Ok(findings)
}

/// The list as the manifests have it now.
pub(crate) fn render(root: &Path) -> Result<String> {
    let mut sections = Sections::new();
    for member in members(root)? {
        sections.insert(member.name, member.dependencies.iter().map(entry).collect());
    }
    let explanation = "The direct dependencies of each crate, written by `cargo xtask update`.";
    Ok(expected::render(explanation, &sections))
}

fn entry(dependency: &Dependency) -> String {
    let kind = match (dependency.kind, dependency.optional) {
        (DependencyKind::Normal, false) => "",
        (DependencyKind::Normal, true) => " (optional)",
        (DependencyKind::Dev, _) => " (dev)",
        (DependencyKind::Build, false) => " (build)",
        (DependencyKind::Build, true) => " (build, optional)",
    };
    format!("{}{kind}", dependency.package)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::shown;
    use crate::tree::Tree;

    #[test]
    fn a_dependency_more_or_less_than_the_list_is_found() {
        let manifest = "[package]\nname = \"a\"\n[dependencies]\nserde = \"1\"\n\
                        [dev-dependencies]\nbm25 = \"2\"\n";
        let tree = Tree::new(&[("Cargo.toml", "[workspace]\n"), ("crates/a/Cargo.toml", manifest)]);
        let list = render(tree.root()).unwrap();
        tree.put("xtask/expected/dependencies.txt", &list);
        assert_eq!(check(tree.root()).unwrap(), []);

        let changed =
            manifest.replace("serde = \"1\"", "serde = { optional = true }\nanyhow = \"1\"");
        tree.put("crates/a/Cargo.toml", &changed);
        assert_eq!(
            shown(&check(tree.root()).unwrap()),
            [
                "crates/a/Cargo.toml:5: anyhow is not among the committed dependencies of a; if it \
                 must be, run `cargo xtask update`",
                "crates/a/Cargo.toml:4: serde (optional) is not among the committed dependencies \
                 of a; if it must be, run `cargo xtask update`",
                "crates/a/Cargo.toml:1: a no longer depends on serde; run `cargo xtask update`",
            ]
        );
    }
}
