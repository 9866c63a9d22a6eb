//! No file grows beyond 800 lines, tests excluded.

use std::path::Path;

use crate::error::Result;
use crate::files;
use crate::rust_source::{lines, without_unit_tests};
use crate::tidy::Finding;

const CEILING: usize = 800;

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in files::rust(root)? {
        if path.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let lines = lines(&files::read(&root.join(&path))?);
        let length = without_unit_tests(&lines).len();
        if length > CEILING {
            let message = format!("{length} lines, more than {CEILING}; split it by idea");
            findings.push(Finding::new(path, CEILING + 1, message));
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
    fn a_file_over_the_ceiling_is_found_tests_excluded() {
        let code = "fn a() {}\n";
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", code.repeat(900));
        let tree = Tree::new(&[
            ("crates/a/src/lib.rs", &(code.repeat(700) + &tests)),
            ("crates/a/tests/long.rs", &code.repeat(900)),
        ]);
        assert_eq!(check(tree.root()).unwrap(), []);
        tree.put("crates/a/src/lib.rs", &(code.repeat(801) + &tests));
        assert_eq!(
            shown(&check(tree.root()).unwrap()),
            ["crates/a/src/lib.rs:801: 801 lines, more than 800; split it by idea"]
        );
    }
}
