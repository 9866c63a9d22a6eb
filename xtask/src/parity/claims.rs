//! The acceptance ids in the doc comments of tests.

use std::fmt;
use std::path::Path;

use super::is_id;
use crate::error::Result;
use crate::files;
use crate::rust_source::{Line, lines, words};

/// Where a test is: `crates/kuhaku-core/src/ids.rs::a_chunk_id_orders_by_document`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TestPath(pub(crate) String);

impl fmt::Display for TestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A test and the ids that it says to show, perhaps none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) test: TestPath,
    pub(crate) ids: Vec<String>,
    /// Of the function, from 1.
    pub(crate) line: usize,
}

impl Claim {
    /// The file, as in the test's path.
    pub(crate) fn file(&self) -> &str {
        self.test.0.split("::").next().unwrap_or_default()
    }
}

/// Every test of the crates, sorted by path.
pub(crate) fn claims(root: &Path) -> Result<Vec<Claim>> {
    let mut found = Vec::new();
    for path in files::rust(root)? {
        let text = files::read(&root.join(&path))?;
        found.extend(in_file(&path.display().to_string(), &lines(&text)));
    }
    found.sort_by(|a, b| a.test.cmp(&b.test));
    Ok(found)
}

fn in_file(path: &str, lines: &[Line]) -> Vec<Claim> {
    let mut found = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    let mut is_test = false;
    let mut in_attribute = false;
    for (number, line) in (1..).zip(lines) {
        let code = line.code.trim();
        if let Some(doc) = line.doc() {
            let words = doc.split(|c: char| !c.is_alphanumeric() && c != '-');
            ids.extend(words.filter(|word| is_id(word)).map(str::to_owned));
        } else if in_attribute || code.starts_with("#[") {
            is_test |= is_test_attribute(code);
            in_attribute = !code.ends_with(']');
        } else if !code.is_empty() {
            if let Some(name) = function(code).filter(|_| is_test) {
                let test = TestPath(format!("{path}::{name}"));
                found.push(Claim { test, ids: std::mem::take(&mut ids), line: number });
            }
            ids.clear();
            is_test = false;
        }
    }
    found
}

/// `#[test]`, `#[tokio::test(…)]` and the like.
fn is_test_attribute(code: &str) -> bool {
    let path = code.trim_start_matches("#[").split(['(', ']']).next().unwrap_or_default();
    path.rsplit("::").next() == Some("test")
}

fn function(code: &str) -> Option<&str> {
    let mut words = words(code).skip_while(|word| *word != "fn");
    words.next()?;
    words.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_count_only_in_the_doc_comment_of_a_test() {
        let text = "\
            /// ZZZ-01\nfn not_a_test() {}\n\
            /// Says ZZZ-02, ZZZ-03 (and ERR-6006).\n#[tokio::test(\n    flavor = \"a\",\n)]\n\
            async fn first() {\n    // ZZZ-04\n}\n\
            proptest! {\n    #[test]\n    /// ZZZ-05\n    fn second(a in 0..2) {}\n}\n\
            #[cfg(test)]\nfn third() {}\n#[test]\nfn fourth() {}\n";
        let found = in_file("a.rs", &lines(text));
        let shown: Vec<_> = found
            .iter()
            .map(|claim| format!("{} {} {}", claim.test, claim.line, claim.ids.join(" ")))
            .collect();
        assert_eq!(
            shown,
            ["a.rs::first 7 ZZZ-02 ZZZ-03", "a.rs::second 13 ZZZ-05", "a.rs::fourth 18 "]
        );
    }
}
