//! Runs every example: what a reader copies must work.

use std::path::Path;

use crate::cargo::run;
use crate::error::Result;
use crate::files;
use crate::workspace::members;

/// Runs the examples of all crates, each with all features of its crate.
pub(crate) fn run_all(root: &Path) -> Result<()> {
    let files = files::rust(root)?;
    for member in members(root)? {
        let folder = member.folder.join("examples");
        let examples = files.iter().filter(|file| file.parent() == Some(&folder));
        for name in examples.filter_map(|file| file.file_stem()?.to_str()) {
            run(
                root,
                &["run", "--quiet", "-p", &member.name, "--all-features", "--example", name],
            )?;
        }
    }
    Ok(())
}
