//! `cargo xtask update`: writes anew what is generated or recorded.

use std::path::{Path, PathBuf};

use crate::api;
use crate::configuration;
use crate::error::Result;
use crate::expected::{self, Sections};
use crate::files;
use crate::parity;
use crate::tidy;

const FOREIGN_EXPLANATION: &str = "The types and traits of foreign crates that may occur in a \
    crate's API. Each ties our versions to theirs; `cargo xtask update --allow-foreign` adds them.";

/// Writes the lists, snapshots and generated documents, and returns those that changed. Foreign
/// types are a decision: they are listed only when `allow_foreign`.
pub(crate) fn everything(root: &Path, allow_foreign: bool) -> Result<Vec<PathBuf>> {
    let mut texts = vec![
        (expected::path(tidy::DEPENDENCY_LIST), tidy::dependency_list(root)?),
        (configuration::PAGE.into(), configuration::render(&configuration::chapters())),
        parity(root)?,
    ];
    let mut foreign = Sections::new();
    for (name, api) in api::of_workspace(root)? {
        texts.push((api::snapshot_path(&name), api::snapshot(&name, &api)));
        foreign.insert(name, api.foreign);
    }
    if allow_foreign {
        let text = expected::render(FOREIGN_EXPLANATION, &foreign);
        texts.push((expected::path(api::FOREIGN), text));
    }
    write(root, texts)
}

/// Writes the tests into `docs/parity.md` only.
pub(crate) fn parity_only(root: &Path) -> Result<Vec<PathBuf>> {
    write(root, vec![parity(root)?])
}

fn parity(root: &Path) -> Result<(PathBuf, String)> {
    let page = files::read(&root.join(parity::PAGE))?;
    let filled = parity::with_tests(&page, &parity::claims(root)?);
    Ok((parity::PAGE.into(), filled))
}

fn write(root: &Path, texts: Vec<(PathBuf, String)>) -> Result<Vec<PathBuf>> {
    let mut changed = Vec::new();
    for (path, text) in texts {
        if files::write(&root.join(&path), &text)? {
            changed.push(path);
        }
    }
    Ok(changed)
}
