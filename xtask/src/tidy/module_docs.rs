//! Every module says what it is for: `//!` before its first item.

use std::path::Path;

use crate::error::Result;
use crate::files;
use crate::rust_source::lines;
use crate::tidy::Finding;

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in files::rust(root)? {
        if !is_documented(&files::read(&root.join(&path))?) {
            findings.push(Finding::new(path, 1, "say what the module is for in `//!` at the top"));
        }
    }
    Ok(findings)
}

/// Inner attributes may stand before the text; it may also come from a file.
fn is_documented(text: &str) -> bool {
    let mut inside_attribute = false;
    for line in lines(text) {
        let (code, comment) = (line.code.trim(), line.comment.as_str());
        if comment.strip_prefix("//!").is_some_and(|text| !text.trim().is_empty())
            || code.starts_with("#![doc = include_str!(")
        {
            return true;
        }
        inside_attribute |= code.starts_with("#![");
        if !code.is_empty() && !inside_attribute {
            return false;
        }
        inside_attribute &= !code.ends_with(']');
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::shown;
    use crate::tree::Tree;

    #[test]
    fn a_module_without_its_docs_is_found() {
        let tree = Tree::new(&[
            ("crates/a/src/lib.rs", "//! What a is for.\n"),
            ("crates/a/src/long.rs", "#![doc = include_str!(\"long.md\")]\nmod b;\n"),
            ("crates/a/tests/b.rs", "#![allow(\n    x,\n)]\n\n//! What b shows.\n"),
            ("fixtures/code.rs", "fn main() {}\n"),
        ]);
        assert_eq!(check(tree.root()).unwrap(), []);
        for bad in ["fn a() {}\n", "//!\nfn a() {}\n", "// a\n", "/// b\nfn a() {}\n//! late\n", ""]
        {
            tree.put("crates/a/benches/c.rs", bad);
            let found = shown(&check(tree.root()).unwrap());
            assert_eq!(found.len(), 1, "{bad:?}");
            assert!(found.concat().starts_with("crates/a/benches/c.rs:1: "), "{found:?}");
        }
    }
}
