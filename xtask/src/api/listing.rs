//! From rustdoc's JSON to a line per public item.

use std::collections::HashMap;

use serde_json::Value;

use super::Api;
use super::names::Names;
use super::signature::{
    bounds, field, flag, function, generics, list as values, path, text, type_, variant,
};

/// Traits that derives add beside the one that was asked for.
const DERIVED_MARKS: &[&str] = &["StructuralPartialEq"];

/// Lists what the documented crate shows to the outside.
pub(super) fn list(json: &Value) -> Api {
    let mut exports = Exports { json, items: Vec::new(), elsewhere: Vec::new() };
    let root = field(json, "root");
    let name = item(json, root).map_or("", |item| text(field(item, "name")));
    exports.module(root, name);
    let paths = exports
        .items
        .iter()
        .filter_map(|(item, path)| Some((field(item, "id").as_u64()?, path.clone())))
        .collect::<HashMap<_, _>>();
    let mut listing = Listing { json, names: Names::new(json, paths), lines: Vec::new() };
    for (item, path) in &exports.items {
        listing.item(item, path);
    }
    for (reexport, path) in &exports.elsewhere {
        listing.reexport(reexport, path);
    }
    let index = field(json, "index").as_object();
    for item in index.into_iter().flat_map(|index| index.values()) {
        listing.implementation(item);
    }
    let Listing { names, mut lines, .. } = listing;
    lines.sort();
    lines.dedup();
    Api { items: lines, foreign: names.into_foreign() }
}

/// Finds where the crate exports its items.
struct Exports<'a> {
    json: &'a Value,
    items: Vec<(&'a Value, String)>,
    /// `pub use` of what another crate owns.
    elsewhere: Vec<(&'a Value, String)>,
}

impl<'a> Exports<'a> {
    fn module(&mut self, id: &Value, path: &str) {
        let Some(module) = item(self.json, id) else { return };
        for id in values(field(field(module, "inner"), "module"), "items") {
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

struct Listing<'a> {
    json: &'a Value,
    names: Names<'a>,
    lines: Vec<String>,
}

impl<'a> Listing<'a> {
    fn item(&mut self, item: &Value, called: &str) {
        let Some((kind, inner)) = variant(field(item, "inner")) else { return };
        let open = if is_non_exhaustive(item) { "#[non_exhaustive] " } else { "" };
        let (params, predicates) = generics(&self.names, field(inner, "generics"));
        let head = format!("{open}pub {kind} {called}{params}{predicates}");
        match kind {
            "struct" => {
                let shape = self.shape(field(inner, "kind"), called);
                self.lines.push(format!("{head}{shape}"));
            }
            "enum" => {
                self.lines.push(head);
                for id in values(inner, "variants") {
                    self.variant(id, called);
                }
            }
            "union" => {
                self.lines.push(head);
                self.fields(values(inner, "fields"), called);
            }
            "trait" => {
                let above = bounds(&self.names, values(inner, "bounds"));
                let above = if above.is_empty() { above } else { format!(": {above}") };
                let object = if flag(inner, "is_dyn_compatible") { "" } else { " (not dyn)" };
                let head = format!("pub trait {called}{params}{above}{predicates}{object}");
                self.lines.push(head);
                for id in values(inner, "items") {
                    self.associated(id, called, true);
                }
            }
            "function" => {
                let shown = function(&self.names, called, inner);
                self.lines.push(format!("pub {shown}"));
            }
            "constant" => {
                let shown = type_(&self.names, field(inner, "type"));
                let value = field(inner, "const");
                let value = if flag(value, "is_literal") {
                    format!(" = {}", text(field(value, "expr")))
                } else {
                    String::new()
                };
                self.lines.push(format!("pub const {called}: {shown}{value}"));
            }
            "static" => {
                let shown = type_(&self.names, field(inner, "type"));
                self.lines.push(format!("pub static {called}: {shown}"));
            }
            "type_alias" => {
                let shown = type_(&self.names, field(inner, "type"));
                self.lines.push(format!("pub type {called}{params} = {shown}{predicates}"));
            }
            "macro" | "proc_macro" => self.lines.push(format!("pub macro {called}!")),
            "module" => self.lines.push(format!("pub mod {called}")),
            _ => self.lines.push(head),
        }
    }

    fn reexport(&mut self, reexport: &Value, called: &str) {
        let source = text(field(reexport, "source"));
        let name = match field(reexport, "id").as_u64() {
            Some(id) => self.names.of(id, source),
            None => source.to_owned(),
        };
        self.lines.push(format!("pub use {called} = {name}"));
    }

    fn shape(&mut self, kind: &Value, called: &str) -> String {
        match variant(kind) {
            Some(("plain", plain)) => {
                self.fields(values(plain, "fields"), called);
                let hidden = flag(plain, "has_stripped_fields");
                if hidden { " { .. }".into() } else { " { }".into() }
            }
            Some(("tuple", _)) => self.tuple(values(kind, "tuple")),
            Some(("struct", fields)) => {
                self.fields(values(fields, "fields"), called);
                " { }".into()
            }
            _ => String::new(),
        }
    }

    /// The types of unnamed fields, `_` for a private one.
    fn tuple(&self, fields: &[Value]) -> String {
        let types = fields.iter().map(|id| match item(self.json, id) {
            Some(item) => type_(&self.names, field(field(item, "inner"), "struct_field")),
            None => "_".into(),
        });
        format!("({})", types.collect::<Vec<_>>().join(", "))
    }

    fn fields(&mut self, ids: &[Value], owner: &str) {
        for item in ids.iter().filter_map(|id| item(self.json, id)) {
            let name = text(field(item, "name"));
            let shown = type_(&self.names, field(field(item, "inner"), "struct_field"));
            self.lines.push(format!("pub field {owner}::{name}: {shown}"));
        }
    }

    fn variant(&mut self, id: &Value, owner: &str) {
        let Some(item) = item(self.json, id) else { return };
        let called = format!("{owner}::{}", text(field(item, "name")));
        let open = if is_non_exhaustive(item) { "#[non_exhaustive] " } else { "" };
        let shape = self.shape(field(field(field(item, "inner"), "variant"), "kind"), &called);
        self.lines.push(format!("{open}pub variant {called}{shape}"));
    }

    /// A method, type or constant of a trait or of an inherent implementation.
    fn associated(&mut self, id: &Value, owner: &str, of_trait: bool) {
        let Some(item) = item(self.json, id) else { return };
        let called = format!("{owner}::{}", text(field(item, "name")));
        let Some((kind, inner)) = variant(field(item, "inner")) else { return };
        let line = match kind {
            "function" => {
                let given = if of_trait && flag(inner, "has_body") { " (provided)" } else { "" };
                format!("pub {}{given}", function(&self.names, &called, inner))
            }
            "assoc_const" => {
                format!("pub const {called}: {}", type_(&self.names, field(inner, "type")))
            }
            "assoc_type" => {
                let limits = bounds(&self.names, values(inner, "bounds"));
                let limits = if limits.is_empty() { limits } else { format!(": {limits}") };
                format!("pub type {called}{limits}")
            }
            _ => return,
        };
        self.lines.push(line);
    }

    /// An `impl` block: the items of an inherent one, the headline of a trait's.
    fn implementation(&mut self, found: &Value) {
        let Some(("impl", block)) = variant(field(found, "inner")) else { return };
        let negative = flag(block, "is_negative");
        let inferred =
            !field(block, "blanket_impl").is_null() || (flag(block, "is_synthetic") && !negative);
        if field(found, "crate_id").as_u64() != Some(0) || inferred {
            return;
        }
        let target = field(block, "for");
        let id = target.get("resolved_path").and_then(|path| field(path, "id").as_u64());
        if id.is_some_and(|id| !self.names.is_reachable(id)) {
            return;
        }
        let implemented = field(block, "trait");
        let shown = type_(&self.names, target);
        if implemented.is_null() {
            for id in values(block, "items") {
                self.associated(id, &shown, false);
            }
            return;
        }
        if DERIVED_MARKS.contains(&text(field(implemented, "path"))) {
            return;
        }
        let (params, predicates) = generics(&self.names, field(block, "generics"));
        let mark = if negative { "!" } else { "" };
        let types = self.associated_types(values(block, "items"));
        let implemented = path(&self.names, implemented);
        self.lines.push(format!("impl{params} {mark}{implemented} for {shown}{predicates}{types}"));
    }

    fn associated_types(&self, ids: &[Value]) -> String {
        let mut types: Vec<_> = ids
            .iter()
            .filter_map(|id| item(self.json, id))
            .filter_map(|item| {
                let inner = field(item, "inner").get("assoc_type")?;
                let shown = type_(&self.names, field(inner, "type"));
                Some(format!("{} = {shown}", text(field(item, "name"))))
            })
            .collect();
        types.sort();
        if types.is_empty() { String::new() } else { format!(" {{ {} }}", types.join(", ")) }
    }
}

fn item<'a>(json: &'a Value, id: &Value) -> Option<&'a Value> {
    json.get("index")?.get(id.as_u64()?.to_string())
}

fn is_non_exhaustive(item: &Value) -> bool {
    values(item, "attrs").iter().any(|attribute| text(attribute) == "non_exhaustive")
}
