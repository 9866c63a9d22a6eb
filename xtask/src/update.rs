//! `cargo xtask update`: writes anew what is generated or recorded.

use std::path::{Path, PathBuf};

use crate::api;
use crate::configuration;
use crate::error::{Error, Result};
use crate::expected;
use crate::files;
use crate::parity;
use crate::tidy;

const FOREIGN_EXPLANATION: &str = "The types and traits of foreign crates that may occur in a \
    crate's API. Each ties our versions to theirs; `cargo xtask update --allow-foreign` adds them.";

/// What was written, and what could not be.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) changed: Vec<PathBuf>,
    pub(crate) failures: Vec<Error>,
}

impl Outcome {
    fn write(&mut self, root: &Path, path: PathBuf, text: &str) -> Result<()> {
        if files::write(&root.join(&path), text)? {
            self.changed.push(path);
        }
        Ok(())
    }
}

/// Writes the lists, snapshots and generated documents. A crate that does not compile keeps its
/// snapshot. Foreign types are a decision: they are listed only when `allow_foreign`.
pub(crate) fn everything(root: &Path, allow_foreign: bool) -> Result<Outcome> {
    let mut outcome = parity_only(root)?;
    let list = tidy::dependency_list(root)?;
    outcome.write(root, expected::path(tidy::DEPENDENCY_LIST), &list)?;
    let page = configuration::render(&configuration::chapters());
    outcome.write(root, configuration::PAGE.into(), &page)?;

    let mut foreign = expected::sections(root, api::FOREIGN)?;
    let names = api::crates(root)?;
    foreign.retain(|name, _| names.contains(name));
    for name in names {
        match api::of_crate(root, &name) {
            Ok(api) => {
                outcome.write(root, api::snapshot_path(&name), &api::snapshot(&name, &api))?;
                foreign.insert(name, api.foreign);
            }
            Err(failure) => outcome.failures.push(failure),
        }
    }
    if allow_foreign {
        let text = expected::render(FOREIGN_EXPLANATION, &foreign);
        outcome.write(root, expected::path(api::FOREIGN), &text)?;
    }
    Ok(outcome)
}

/// Writes the tests into `docs/parity.md` only.
pub(crate) fn parity_only(root: &Path) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let page = files::read(&root.join(parity::PAGE))?;
    let filled = parity::with_tests(&page, &parity::claims(root)?);
    outcome.write(root, parity::PAGE.into(), &filled)?;
    Ok(outcome)
}
