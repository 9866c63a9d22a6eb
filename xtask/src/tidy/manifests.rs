//! Every crate takes the lints, edition and versions of the workspace.

use std::path::Path;

use toml::Value;

use crate::edges::XTASK;
use crate::error::Result;
use crate::tidy::Finding;
use crate::workspace::members;

const INHERITED: &[&str] = &["edition", "rust-version", "license", "version"];

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for member in members(root)? {
        let inherits = |value: Option<&Value>| {
            value.and_then(|value| value.get("workspace")).and_then(Value::as_bool) == Some(true)
        };
        let mut find =
            |message: String| findings.push(Finding::new(member.manifest_path(), 1, message));
        if !inherits(member.manifest.get("lints")) {
            find(
                "the lints of the workspace are not in force; add [lints] workspace = true".into(),
            );
        }
        let package = member.manifest.get("package");
        for key in INHERITED {
            // xtask is never published and keeps version 0.
            let own = member.name == XTASK && *key == "version";
            if !own && !inherits(package.and_then(|package| package.get(key))) {
                find(format!("write {key}.workspace = true in [package]"));
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::shown;
    use crate::tree::Tree;

    #[test]
    fn a_crate_with_its_own_edition_or_lints_is_found() {
        let good = "[package]\nname = \"a\"\nedition.workspace = true\nversion.workspace = true\n\
                    license.workspace = true\nrust-version.workspace = true\n\
                    [lints]\nworkspace = true\n";
        let tree = Tree::new(&[("Cargo.toml", "[workspace]\n"), ("crates/a/Cargo.toml", good)]);
        assert_eq!(check(tree.root()).unwrap(), []);
        let bad = good
            .replace("edition.workspace = true", "edition = \"2021\"")
            .replace("[lints]", "[other]");
        tree.put("crates/a/Cargo.toml", &bad);
        let found = shown(&check(tree.root()).unwrap());
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.concat().contains("lints of the workspace"));
        assert!(found.concat().contains("edition.workspace"));
    }
}
