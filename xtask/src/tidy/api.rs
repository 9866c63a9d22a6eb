//! D38: the public API of each crate is the committed one, and shows no foreign type that the
//! committed list does not allow.

use std::collections::BTreeSet;
use std::path::Path;

use crate::api::{self, Api};
use crate::error::Result;
use crate::expected;
use crate::files;
use crate::tidy::Finding;

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let apis: Result<Vec<_>> = api::crates(root)?
        .into_iter()
        .map(|name| Ok((name.clone(), api::of_crate(root, &name)?)))
        .collect();
    compare(root, &apis?)
}

fn compare(root: &Path, apis: &[(String, Api)]) -> Result<Vec<Finding>> {
    let allowed = expected::sections(root, api::FOREIGN)?;
    let nothing = BTreeSet::new();
    let mut findings = Vec::new();
    for (name, api) in apis {
        let path = api::snapshot_path(name);
        let committed = files::read_if_present(&root.join(&path))?.unwrap_or_default();
        let numbered: Vec<(usize, &str)> = (1..)
            .zip(committed.lines())
            .filter(|(_, line)| !line.is_empty() && !line.starts_with("# "))
            .collect();
        for (number, gone) in &numbered {
            if !api.items.iter().any(|item| item == gone) {
                let message = format!("gone: {gone}; if it must be, run `cargo xtask update`");
                findings.push(Finding::new(&path, *number, message));
            }
        }
        let mut line = 1;
        for item in &api.items {
            match numbered.iter().find(|(_, committed)| committed == item) {
                Some((number, _)) => line = *number,
                None => {
                    let message = format!("new: {item}; if it must be, run `cargo xtask update`");
                    findings.push(Finding::new(&path, line, message));
                }
            }
        }
        let allowed = allowed.get(name).unwrap_or(&nothing);
        for foreign in api.foreign.difference(allowed) {
            let message = format!(
                "{foreign} occurs in the API of {name}; keep it private, or allow it with \
                 `cargo xtask update --allow-foreign`"
            );
            findings.push(Finding::new(expected::path(api::FOREIGN), 1, message));
        }
        for unused in allowed.difference(&api.foreign) {
            let message = format!("{unused} no longer occurs in the API of {name}; take it off");
            findings.push(Finding::new(expected::path(api::FOREIGN), 1, message));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::shown;
    use crate::tree::Tree;

    fn api(items: &[&str], foreign: &[&str]) -> Vec<(String, Api)> {
        let items = items.iter().map(|item| (*item).to_owned()).collect();
        let foreign = foreign.iter().map(|path| (*path).to_owned()).collect();
        vec![("a".to_owned(), Api { items, foreign })]
    }

    #[test]
    fn a_changed_item_and_a_foreign_type_are_found() {
        let before = api(&["pub fn a::f()", "pub struct a::S"], &["jiff::Timestamp"]);
        let tree = Tree::new(&[
            ("xtask/expected/api/a.txt", &api::snapshot("a", &before[0].1)),
            ("xtask/expected/foreign_types.txt", "[a]\njiff::Timestamp\n"),
        ]);
        assert_eq!(compare(tree.root(), &before).unwrap(), []);

        let after = api(&["pub fn a::f(u: u8)", "pub struct a::S"], &["toml::Table"]);
        let found = shown(&compare(tree.root(), &after).unwrap());
        let expected = [
            "xtask/expected/api/a.txt:3: gone: pub fn a::f();",
            "xtask/expected/api/a.txt:1: new: pub fn a::f(u: u8);",
            "xtask/expected/foreign_types.txt:1: toml::Table occurs in the API of a;",
            "xtask/expected/foreign_types.txt:1: jiff::Timestamp no longer occurs",
        ];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn a_crate_without_a_snapshot_is_found() {
        let tree = Tree::new(&[]);
        let found = shown(&compare(tree.root(), &api(&["pub fn a::f()"], &[])).unwrap());
        assert!(found.concat().starts_with("xtask/expected/api/a.txt:1: new: "), "{found:?}");
    }
}
