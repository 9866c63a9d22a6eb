//! How the types of a signature are called, and which of them are foreign.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::edges;

/// Crates of the language itself: their types are called by their last name.
const STANDARD: &[&str] = &["std", "core", "alloc", "proc_macro"];

/// Names for the ids of one rustdoc document.
pub(super) struct Names<'a> {
    json: &'a Value,
    /// Where the crate exports its items.
    exported: HashMap<u64, String>,
    foreign: RefCell<BTreeSet<String>>,
}

impl<'a> Names<'a> {
    pub(super) fn new(json: &'a Value, exported: HashMap<u64, String>) -> Self {
        Self { json, exported, foreign: RefCell::default() }
    }

    /// The foreign types and traits that were named so far.
    pub(super) fn into_foreign(self) -> BTreeSet<String> {
        self.foreign.into_inner()
    }

    /// Whether the crate exports the item or another crate owns it.
    pub(super) fn is_reachable(&self, id: u64) -> bool {
        self.exported.contains_key(&id) || self.owner(id).is_some()
    }

    /// The name of the type or trait `id`, which the source calls `written`.
    pub(super) fn of(&self, id: u64, written: &str) -> String {
        if let Some(path) = self.exported.get(&id) {
            return path.clone();
        }
        let Some(path) = self.path(id) else { return written.to_owned() };
        let last = path.last().copied().unwrap_or(written);
        match self.owner(id) {
            None => path.join("::"),
            Some(owner) if STANDARD.contains(&owner) => last.to_owned(),
            // The crates of the workspace export their items flat.
            Some(owner) if edges::is_member(&owner.replace('_', "-")) => format!("{owner}::{last}"),
            Some(_) => {
                let path = path.join("::");
                self.foreign.borrow_mut().insert(path.clone());
                path
            }
        }
    }

    /// The crate that owns the item; `None` for the documented crate itself.
    fn owner(&self, id: u64) -> Option<&'a str> {
        let number = self.json.get("paths")?.get(id.to_string())?.get("crate_id")?.as_u64()?;
        if number == 0 {
            return None;
        }
        self.json.get("external_crates")?.get(number.to_string())?.get("name")?.as_str()
    }

    fn path(&self, id: u64) -> Option<Vec<&'a str>> {
        let path = self.json.get("paths")?.get(id.to_string())?.get("path")?.as_array()?;
        Some(path.iter().filter_map(Value::as_str).collect())
    }
}
