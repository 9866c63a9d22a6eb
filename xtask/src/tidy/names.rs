//! Names that say nothing, and marks of unfinished work.

use std::path::Path;

use crate::error::Result;
use crate::files;
use crate::rust_source::{Line, lines, words};
use crate::tidy::Finding;

/// Modules are named for their idea; these name none.
const MODULES: &[&str] = &["utils", "util", "helpers", "helper", "common", "misc"];

/// Endings that add nothing to a type's name.
const TYPE_ENDINGS: &[&str] = &["Manager", "Handler", "Helper", "Processor", "Data", "Info"];

const TYPE_KEYWORDS: &[&str] = &["struct", "enum", "trait", "type", "union"];

/// In code.
const UNFINISHED_CODE: &[&str] = &["todo!", "unimplemented!"];

/// In comments.
const UNFINISHED_COMMENTS: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in files::rust(root)? {
        let parts = path.iter().filter_map(|part| part.to_str());
        for part in parts.map(|part| part.trim_end_matches(".rs")) {
            if MODULES.contains(&part) {
                let message = format!("`{part}` names no idea; name the module for what it holds");
                findings.push(Finding::new(&path, 1, message));
            }
        }
        for (number, line) in (1..).zip(lines(&files::read(&root.join(&path))?)) {
            findings.extend(wrong(&line).map(|message| Finding::new(&path, number, message)));
        }
    }
    Ok(findings)
}

fn wrong(line: &Line) -> Option<String> {
    let words: Vec<&str> = words(&line.code).collect();
    for pair in words.windows(2) {
        let [keyword, name] = pair else { continue };
        if *keyword == "mod" && MODULES.contains(name) {
            return Some(format!("`{name}` names no idea; name the module for what it holds"));
        }
        let ending = TYPE_ENDINGS.iter().find(|ending| name.ends_with(**ending));
        if let Some(ending) = ending.filter(|_| TYPE_KEYWORDS.contains(keyword)) {
            return Some(format!("`{ending}` adds nothing to `{name}`; name what the type is"));
        }
    }
    if let Some(mark) = UNFINISHED_CODE.iter().find(|mark| line.code.contains(**mark)) {
        return Some(format!("`{mark}` is unfinished work; finish it or leave it out"));
    }
    let ignored = line.code.contains("#[ignore")
        || (line.code.contains("cfg_attr") && words.contains(&"ignore"))
        || line.doc().is_some_and(|doc| doc.trim_start().starts_with("```ignore"));
    if ignored {
        return Some("an ignored test shows nothing; make it run or remove it".into());
    }
    let mut commented = line.comment.split(|c: char| !c.is_alphanumeric());
    commented
        .find(|word| UNFINISHED_COMMENTS.contains(word))
        .map(|mark| format!("`{mark}` is unfinished work; do it, or open an issue"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::shown;
    use crate::tree::Tree;

    #[test]
    fn names_that_say_something_pass() {
        let good = "//! The metadata: no `Manager` in a comment is wrong.\n\
                    pub struct Metadata;\npub struct Informed { data: &'static str }\n\
                    const TEXT: &str = \"todo! FIXME struct Helper\";\nfn info(data: Data) {}\n";
        let tree = Tree::new(&[("crates/a/src/metadata.rs", good)]);
        assert_eq!(check(tree.root()).unwrap(), []);
    }

    #[test]
    fn a_name_that_says_nothing_and_unfinished_work_are_found() {
        let cases = [
            ("pub struct IndexManager<T>(T);", "`Manager`"),
            ("pub(crate) enum ErrorInfo {}", "`Info`"),
            ("trait RequestHandler {}", "`Handler`"),
            ("type ChunkData = ();", "`Data`"),
            ("mod helpers {}", "`helpers`"),
            ("fn a() { todo!() }", "`todo!`"),
            ("fn a() { unimplemented!(\"b\") }", "`unimplemented!`"),
            ("#[ignore = \"slow\"]", "ignored test"),
            ("#[cfg_attr(windows, ignore)]", "ignored test"),
            ("/// ```ignore", "ignored test"),
            ("// FIXME: later", "`FIXME`"),
            ("let a = 1; // XXX", "`XXX`"),
        ];
        for (code, expected) in cases {
            let tree = Tree::new(&[("crates/a/src/lib.rs", &format!("//! A.\n{code}\n"))]);
            let found = shown(&check(tree.root()).unwrap());
            assert_eq!(found.len(), 1, "{code}: {found:?}");
            assert!(found.concat().starts_with("crates/a/src/lib.rs:2: "), "{found:?}");
            assert!(found.concat().contains(expected), "{code}: {found:?}");
        }
    }

    #[test]
    fn a_file_or_folder_that_names_no_idea_is_found() {
        for path in ["crates/a/src/utils.rs", "crates/a/src/common/mod.rs", "xtask/src/misc.rs"] {
            let tree = Tree::new(&[(path, "//! A.\n")]);
            let found = shown(&check(tree.root()).unwrap());
            assert!(found.concat().contains("names no idea"), "{path}: {found:?}");
        }
    }
}
