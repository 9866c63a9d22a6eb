//! The paths at which a crate exports its items.

use serde_json::Value;

use super::signature::{field, flag, list, text, variant};

/// What a crate exports, and where.
pub(super) struct Exports<'a> {
    json: &'a Value,
    /// Each with the path that it is exported at.
    pub(super) items: Vec<(&'a Value, String)>,
    /// `pub use` of what another crate owns.
    pub(super) elsewhere: Vec<(&'a Value, String)>,
}

impl<'a> Exports<'a> {
    /// Follows the public modules and re-exports from the root of the crate.
    pub(super) fn of(json: &'a Value) -> Self {
        let mut exports = Self { json, items: Vec::new(), elsewhere: Vec::new() };
        let root = field(json, "root");
        let name = item(json, root).map_or("", |item| text(field(item, "name")));
        exports.module(root, name);
        exports
    }

    fn module(&mut self, id: &Value, path: &str) {
        let Some(module) = item(self.json, id) else { return };
        for id in list(field(field(module, "inner"), "module"), "items") {
            let Some(item) = item(self.json, id) else { continue };
            let name = text(field(item, "name"));
            match variant(field(item, "inner")) {
                Some(("use", reexport)) => self.reexport(reexport, path),
                Some(("module", _)) => {
                    let path = format!("{path}::{name}");
                    self.items.push((item, path.clone()));
                    self.module(id, &path);
                }
                _ => self.items.push((item, format!("{path}::{name}"))),
            }
        }
    }

    fn reexport(&mut self, reexport: &'a Value, path: &str) {
        let id = field(reexport, "id");
        let called = format!("{path}::{}", text(field(reexport, "name")));
        match item(self.json, id) {
            Some(_) if flag(reexport, "is_glob") => self.module(id, path),
            Some(target) => {
                self.items.push((target, called.clone()));
                if target.get("inner").is_some_and(|inner| inner.get("module").is_some()) {
                    self.module(id, &called);
                }
            }
            None if flag(reexport, "is_glob") => {
                self.elsewhere.push((reexport, format!("{path}::*")));
            }
            None => self.elsewhere.push((reexport, called)),
        }
    }
}

/// The documented item of that id; none for what another crate owns.
pub(super) fn item<'a>(json: &'a Value, id: &Value) -> Option<&'a Value> {
    json.get("index")?.get(id.as_u64()?.to_string())
}
