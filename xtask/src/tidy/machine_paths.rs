//! No committed file names a folder of the machine that it was written on.

use std::path::Path;

use crate::error::{Result, cannot};
use crate::files;
use crate::tidy::Finding;

/// Top folders that exist on somebody's machine only.
const FOLDERS: &[&str] = &["root", "home", "work", "Users"];

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in files::committed(root)? {
        let bytes = std::fs::read(root.join(&path))
            .map_err(|error| cannot(format!("read {}", path.display()), error))?;
        // Other bytes than text are somebody's document.
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(folder) = FOLDERS.iter().find(|folder| names_folder(line, folder)) {
                let message = format!(
                    "a path below `{folder}` exists on one machine only; make it relative or let \
                     it be given"
                );
                findings.push(Finding::new(&path, number, message));
            }
        }
    }
    Ok(findings)
}

/// Whether an absolute path below the folder stands in the line; `a/home/b` is none.
fn names_folder(line: &str, folder: &str) -> bool {
    let path = format!("/{folder}/");
    line.match_indices(&path).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        before
            .is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '}' | '~' | '*'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::shown;
    use crate::tree::Tree;

    #[test]
    fn relative_paths_and_addresses_pass() {
        let good = "see docs/home/a.md, https://example.com/work/b, ../root/c and /srv/d\n";
        let tree = Tree::new(&[("docs/a.md", good)]);
        assert_eq!(check(tree.root()).unwrap(), []);
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        for folder in FOLDERS {
            let bad = format!("first\nsee \"/{folder}/ada/notes\"\n");
            let tree = Tree::new(&[("docs/a.md", &bad)]);
            let found = shown(&check(tree.root()).unwrap());
            assert_eq!(found.len(), 1, "{folder}");
            assert!(found.concat().starts_with("docs/a.md:2: "), "{found:?}");
        }
    }
}
