//! D38: `unsafe` stands only in the files of a committed list.

use std::path::Path;

use crate::error::Result;
use crate::expected;
use crate::files;
use crate::rust_source::{Line, lines};
use crate::tidy::Finding;

/// Written by hand: a new entry is a decision.
const LIST: &str = "unsafe_files.txt";

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut listed = expected::list(root, LIST)?;
    let mut findings = Vec::new();
    for path in files::rust(root)? {
        let lines = lines(&files::read(&root.join(&path))?);
        let Some(at) = lines.iter().position(is_unsafe) else { continue };
        if !listed.remove(&path.display().to_string()) {
            let message = format!(
                "no unsafe code here; write it safely, or justify the file in {}",
                expected::path(LIST).display()
            );
            findings.push(Finding::new(path, at + 1, message));
        }
    }
    for stale in listed {
        let message = format!("{stale} holds no unsafe code; remove it from the list");
        findings.push(Finding::new(expected::path(LIST), 1, message));
    }
    Ok(findings)
}

fn is_unsafe(line: &Line) -> bool {
    let relaxed = line.has_word("allow") || line.has_word("expect");
    line.has_word("unsafe") || (relaxed && line.has_word("unsafe_code"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::shown;
    use crate::tree::Tree;

    #[test]
    fn unsafe_code_outside_the_list_is_found() {
        let safe = "//! unsafe is a word.\n#![deny(unsafe_code)]\nconst A: &str = \"unsafe\";\n";
        let tree = Tree::new(&[("crates/a/src/lib.rs", safe)]);
        assert_eq!(check(tree.root()).unwrap(), []);
        for bad in ["fn a() { unsafe { b() } }", "#![expect(unsafe_code, reason = \"fast\")]"] {
            tree.put("crates/a/src/scan.rs", &format!("//! A.\n{bad}\n"));
            let found = shown(&check(tree.root()).unwrap());
            assert_eq!(found.len(), 1, "{bad}");
            assert!(found.concat().starts_with("crates/a/src/scan.rs:2: "), "{found:?}");
        }
        tree.put("xtask/expected/unsafe_files.txt", "# Why.\ncrates/a/src/scan.rs\n");
        assert_eq!(check(tree.root()).unwrap(), []);
    }

    #[test]
    fn a_listed_file_without_unsafe_code_is_found() {
        let tree = Tree::new(&[
            ("crates/a/src/lib.rs", "//! A.\n"),
            ("xtask/expected/unsafe_files.txt", "crates/a/src/lib.rs\n"),
        ]);
        let found = shown(&check(tree.root()).unwrap());
        assert!(found.concat().contains("remove it from the list"), "{found:?}");
    }
}
