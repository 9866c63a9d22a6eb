//! `deny.toml` holds the same table of edges that [`crate::edges`] does.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use crate::edges;
use crate::error::{Result, cannot};
use crate::files;
use crate::tidy::Finding;

const PATH: &str = "deny.toml";

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let text = files::read(&root.join(PATH))?;
    let table: Table =
        text.parse().map_err(|error: toml::de::Error| cannot("read deny.toml", error))?;
    let entries = table.get("bans").and_then(|bans| bans.get("deny")).and_then(Value::as_array);
    let denied: BTreeMap<&str, Vec<&str>> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let wrappers = entry.get("wrappers").and_then(Value::as_array);
            let wrappers = wrappers.into_iter().flatten().filter_map(Value::as_str).collect();
            Some((entry.get("crate")?.as_str()?, wrappers))
        })
        .collect();
    let mut findings = Vec::new();
    for name in edges::names() {
        let mut expected = edges::parents(name);
        expected.sort_unstable();
        let mut found = denied.get(name).cloned().unwrap_or_default();
        found.sort_unstable();
        if found != expected {
            let entry = format!("crate = \"{name}\"");
            let line = text.lines().position(|line| line.contains(&entry)).map_or(1, |at| at + 1);
            let message =
                format!("write {{ crate = \"{name}\", wrappers = {expected:?} }} in bans.deny");
            findings.push(Finding::new(PATH, line, message));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::shown;
    use crate::tree::Tree;

    fn deny(wrappers_of_rag: &str) -> String {
        let mut text = "[bans]\ndeny = [\n".to_owned();
        for name in edges::names() {
            let parents = format!("{:?}", edges::parents(name));
            let wrappers = if name == "kuhaku-rag" { wrappers_of_rag } else { &parents };
            text.push_str(&format!("{{ crate = \"{name}\", wrappers = {wrappers} }},\n"));
        }
        text + "]\n"
    }

    #[test]
    fn wrappers_that_differ_from_the_table_are_found() {
        let right = deny(r#"["kuhaku", "kuhaku-testkit", "xtask"]"#);
        let tree = Tree::new(&[(PATH, &right)]);
        assert_eq!(check(tree.root()).unwrap(), []);
        for wrong in [r#"["kuhaku", "kuhaku-extract", "kuhaku-testkit", "xtask"]"#, "[]"] {
            tree.put(PATH, &deny(wrong));
            let found = shown(&check(tree.root()).unwrap());
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found.concat().starts_with("deny.toml:13: write { crate = \"kuhaku-rag\""));
        }
    }
}
