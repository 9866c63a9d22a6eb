//! R1 and R2: the dependencies between the crates of the workspace, those of tests included.

use std::path::Path;

use crate::edges::{TESTKIT, XTASK, allowed, is_member};
use crate::error::Result;
use crate::tidy::Finding;
use crate::workspace::{DependencyKind, members};

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for member in members(root)? {
        let Some(allowed) = allowed(&member.name) else {
            let message = format!(
                "{} is not in the table of allowed edges; add it to the architecture and to \
                 xtask/src/edges.rs",
                member.name
            );
            findings.push(Finding::new(member.manifest_path(), 1, message));
            continue;
        };
        for dependency in member.dependencies.iter().filter(|found| is_member(&found.package)) {
            let (from, to) = (&member.name, &dependency.package);
            let wrong = match dependency.kind {
                DependencyKind::Dev => (from != XTASK && (to != TESTKIT || from == TESTKIT))
                    .then(|| format!("the tests of {from} may use {TESTKIT} only, not {to}")),
                DependencyKind::Normal | DependencyKind::Build => {
                    if !allowed.contains(&to.as_str()) {
                        Some(format!("{from} may not depend on {to}; let them meet in `kuhaku`"))
                    } else if from == TESTKIT && to != "kuhaku-core" && !dependency.optional {
                        Some(format!("{from} takes {to} behind a feature only; make it optional"))
                    } else {
                        None
                    }
                }
            };
            findings.extend(
                wrong.map(|wrong| Finding::new(member.manifest_path(), dependency.line, wrong)),
            );
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::shown;
    use crate::tree::Tree;

    fn findings(name: &str, dependencies: &str) -> Vec<String> {
        let manifest = format!("[package]\nname = \"{name}\"\n{dependencies}");
        let tree = Tree::new(&[
            ("Cargo.toml", "[workspace.dependencies]\nhidden = { package = \"kuhaku-rag\" }\n"),
            ("crates/a/Cargo.toml", &manifest),
        ]);
        shown(&check(tree.root()).unwrap())
    }

    #[test]
    fn the_allowed_edges_pass() {
        let cases = [
            ("kuhaku-rag", "[dependencies]\nkuhaku-index.workspace = true\nserde = \"1\"\n"),
            ("kuhaku-core", "[dev-dependencies]\nkuhaku-testkit.workspace = true\n"),
            (
                "kuhaku-testkit",
                "[dependencies]\nkuhaku-index = { path = \"x\", optional = true }\n",
            ),
            ("xtask", "[dependencies]\nkuhaku.workspace = true\n"),
        ];
        for (name, dependencies) in cases {
            assert_eq!(findings(name, dependencies), [""; 0], "{name}");
        }
    }

    #[test]
    fn a_forbidden_edge_is_found_whatever_its_table_and_name() {
        let cases = [
            (
                "kuhaku-extract",
                "[dependencies]\nkuhaku-rag.workspace = true\n",
                "may not depend on",
            ),
            ("kuhaku-extract", "[dependencies]\nhidden.workspace = true\n", "on kuhaku-rag"),
            ("kuhaku-core", "[build-dependencies]\nkuhaku-index = \"1\"\n", "may not depend on"),
            (
                "kuhaku-llm",
                "[target.'cfg(unix)'.dependencies]\nkuhaku-onnx = \"1\"\n",
                "may not depend on kuhaku-onnx",
            ),
            ("kuhaku-cli", "[dependencies]\nkuhaku-core = \"1\"\n", "may not depend on"),
            ("kuhaku-hydrag", "[dev-dependencies]\nkuhaku-index = \"1\"\n", "the tests of"),
            ("kuhaku-index", "[dependencies]\nkuhaku-testkit = \"1\"\n", "may not depend on"),
            ("kuhaku-testkit", "[dependencies]\nkuhaku-index = \"1\"\n", "behind a feature"),
            ("kuhaku-new", "", "not in the table"),
        ];
        for (name, dependencies, expected) in cases {
            let found = findings(name, dependencies);
            assert_eq!(found.len(), 1, "{name}: {found:?}");
            assert!(found.concat().contains(expected), "{name}: {found:?}");
            if !dependencies.is_empty() {
                assert!(found.concat().starts_with("crates/a/Cargo.toml:4: "), "{found:?}");
            }
        }
    }
}
