//! The public API of each crate as sorted text, so that a change to it shows in review.

mod exports;
mod listing;
mod names;
mod rustdoc;
mod signature;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::expected;
use crate::workspace::members;

pub(crate) use rustdoc::{ACTS_AS_RUSTDOC, act_as_rustdoc};

/// What a crate shows to the outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Api {
    /// A line per item, sorted.
    pub(crate) items: Vec<String>,
    /// The types and traits of foreign crates that occur in it.
    pub(crate) foreign: BTreeSet<String>,
}

/// Which foreign types may occur in which crate's API.
pub(crate) const FOREIGN: &str = "foreign_types.txt";

/// Where a crate's snapshot is, relative to the root.
pub(crate) fn snapshot_path(name: &str) -> PathBuf {
    expected::path("api").join(format!("{name}.txt"))
}

/// The text of a snapshot.
pub(crate) fn snapshot(name: &str, api: &Api) -> String {
    let mut text = format!(
        "# The public API of {name} with all features, written by `cargo xtask update`.\n\n"
    );
    for item in &api.items {
        text.push_str(item);
        text.push('\n');
    }
    text
}

/// The names of the crates that have a library.
pub(crate) fn crates(root: &Path) -> Result<Vec<String>> {
    let members = members(root)?.into_iter().filter(|member| member.has_library);
    Ok(members.map(|member| member.name).collect())
}

/// The API of one crate.
pub(crate) fn of_crate(root: &Path, name: &str) -> Result<Api> {
    Ok(listing::list(&rustdoc::json(root, name)?))
}
