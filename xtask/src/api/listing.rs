//! From rustdoc's JSON to a line per public item, ordered by path.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::Api;
use super::exports::{Exports, item};
use super::names::Names;
use super::signature::{
    bounds, field, flag, function, generics, list as values, path, text, type_, variant,
};

/// Traits that derives add beside the one that was asked for.
const DERIVED_MARKS: &[&str] = &["StructuralPartialEq"];

/// The traits that callers miss when a type has them no longer.
const MISSED: &[&str] = &["Send", "Sync"];

/// Lists what the documented crate shows to the outside.
pub(super) fn list(json: &Value) -> Api {
    let exports = Exports::of(json);
    let paths = exports
        .items
        .iter()
        .filter_map(|(item, path)| Some((field(item, "id").as_u64()?, path.clone())))
        .collect::<HashMap<_, _>>();
    let mut listing = Listing {
        json,
        names: Names::new(json, paths),
        lines: BTreeSet::new(),
        implemented: BTreeMap::new(),
    };
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
    let Listing { names, mut lines, implemented, .. } = listing;
    for ((params, target), traits) in implemented {
        let traits = traits.into_iter().collect::<Vec<_>>().join(", ");
        lines.insert((target.clone(), format!("impl{params} {traits} for {target}")));
    }
    Api { items: lines.into_iter().map(|(_, line)| line).collect(), foreign: names.into_foreign() }
}

struct Listing<'a> {
    json: &'a Value,
    names: Names<'a>,
    /// Each with the path that it is ordered by.
    lines: BTreeSet<(String, String)>,
    /// The traits by the parameters of the block and the type.
    implemented: BTreeMap<(String, String), BTreeSet<String>>,
}

impl Listing<'_> {
    fn add(&mut self, called: &str, line: String) {
        self.lines.insert((called.to_owned(), line));
    }

    fn item(&mut self, item: &Value, called: &str) {
        let Some((kind, inner)) = variant(field(item, "inner")) else { return };
        let open = if is_non_exhaustive(item) { "#[non_exhaustive] " } else { "" };
        let (params, predicates) = generics(&self.names, field(inner, "generics"));
        let head = format!("{open}pub {kind} {called}{params}{predicates}");
        match kind {
            "struct" => {
                let shape = self.shape(field(inner, "kind"), called);
                self.add(called, format!("{head}{shape}"));
            }
            "enum" => {
                self.add(called, head);
                for id in values(inner, "variants") {
                    self.variant(id, called);
                }
            }
            "union" => {
                self.add(called, head);
                self.fields(values(inner, "fields"), called);
            }
            "trait" => {
                let above = bounds(&self.names, values(inner, "bounds"));
                let above = if above.is_empty() { above } else { format!(": {above}") };
                let object = if flag(inner, "is_dyn_compatible") { "" } else { " (not dyn)" };
                let head = format!("pub trait {called}{params}{above}{predicates}{object}");
                self.add(called, head);
                for id in values(inner, "items") {
                    self.associated(id, called, true);
                }
            }
            "function" => {
                let shown = function(&self.names, called, inner);
                self.add(called, format!("pub {shown}"));
            }
            "constant" => {
                let shown = type_(&self.names, field(inner, "type"));
                let value = field(inner, "const");
                let value = if flag(value, "is_literal") {
                    format!(" = {}", text(field(value, "expr")))
                } else {
                    String::new()
                };
                self.add(called, format!("pub const {called}: {shown}{value}"));
            }
            "static" => {
                let shown = type_(&self.names, field(inner, "type"));
                self.add(called, format!("pub static {called}: {shown}"));
            }
            "type_alias" => {
                let shown = type_(&self.names, field(inner, "type"));
                self.add(called, format!("pub type {called}{params} = {shown}{predicates}"));
            }
            "macro" | "proc_macro" => self.add(called, format!("pub macro {called}!")),
            "module" => self.add(called, format!("pub mod {called}")),
            _ => self.add(called, head),
        }
    }

    fn reexport(&mut self, reexport: &Value, called: &str) {
        let source = text(field(reexport, "source"));
        let name = match field(reexport, "id").as_u64() {
            Some(id) => self.names.of(id, source),
            None => source.to_owned(),
        };
        self.add(called, format!("pub use {called} = {name}"));
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
            self.add(&format!("{owner}::{name}"), format!("pub field {owner}::{name}: {shown}"));
        }
    }

    fn variant(&mut self, id: &Value, owner: &str) {
        let Some(item) = item(self.json, id) else { return };
        let called = format!("{owner}::{}", text(field(item, "name")));
        let open = if is_non_exhaustive(item) { "#[non_exhaustive] " } else { "" };
        let shape = self.shape(field(field(field(item, "inner"), "variant"), "kind"), &called);
        self.add(&called, format!("{open}pub variant {called}{shape}"));
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
        self.add(&called, line);
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
        let name = text(field(implemented, "path"));
        if negative && !MISSED.contains(&name) {
            return;
        }
        let (params, predicates) = generics(&self.names, field(block, "generics"));
        let mark = if negative { "!" } else { "" };
        let types = self.associated_types(values(block, "items"));
        let implemented = format!("{mark}{}{types}", path(&self.names, implemented));
        let key = (params, format!("{shown}{predicates}"));
        self.implemented.entry(key).or_default().insert(implemented);
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

fn is_non_exhaustive(item: &Value) -> bool {
    values(item, "attrs").iter().any(|attribute| text(attribute) == "non_exhaustive")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::tree::Tree;

    /// The API of a source text that may use a crate `foreign` with a type `Clock`.
    fn api(source: &str) -> Api {
        let tree = Tree::new(&[("foreign.rs", "pub struct Clock;"), ("ours.rs", source)]);
        let run = |program: &str, arguments: &[&str]| {
            let output = Command::new(program)
                .current_dir(tree.root())
                .args(["--edition=2024", "--crate-type=lib"])
                .args(arguments)
                .env("RUSTC_BOOTSTRAP", "1")
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        run("rustc", &["--emit=metadata", "foreign.rs"]);
        let json = ["-Zunstable-options", "--output-format=json", "--out-dir=out", "ours.rs"];
        let foreign = ["--extern", "foreign=libforeign.rmeta"];
        run("rustdoc", &[foreign.as_slice(), &json].concat());
        let text = std::fs::read_to_string(tree.root().join("out/ours.json")).unwrap();
        list(&serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn every_kind_of_public_item_has_its_line() {
        let api = api("
            mod hidden {
                #[derive(Clone, Hash)]
                #[non_exhaustive]
                pub struct Open { pub name: String, secret: u8 }
                impl Open {
                    pub const MOST: usize = 3;
                    pub fn new(name: impl Into<String>) -> Self {
                        Self { name: name.into(), secret: 0 }
                    }
                    pub async fn wait(&mut self) -> u8 { self.secret }
                    fn private(&self) {}
                }
                pub struct Pair(pub u8, u16);
                pub fn unreachable() {}
            }
            pub use hidden::{Open as Opened, Pair};
            pub enum Choice<'a, T: Clone> {
                Unit,
                Tuple(&'a T),
                #[non_exhaustive]
                Named { at: [T; 2] },
            }
            pub trait Walk: Send {
                type Step;
                fn walk(&self, steps: &dyn Fn(u8) -> Option<Self::Step>);
                fn rest(self) -> Self where Self: Sized { self }
            }
            impl<T: Walk + ?Sized> Walk for Box<T> {
                type Step = T::Step;
                fn walk(&self, steps: &dyn Fn(u8) -> Option<Self::Step>) { (**self).walk(steps) }
            }
            pub const NAME: &str = \"n\";
            pub type Steps<T> = Vec<<T as Walk>::Step>;
            pub mod inner { pub static COUNT: u8 = 1; }
            #[macro_export] macro_rules! shout { () => {} }
        ");
        let boxed = "ours::Walk { Step = <T as ours::Walk>::Step } for Box<T>";
        let expected = [
            &format!("impl<T: ours::Walk + ?Sized> {boxed}"),
            "pub enum ours::Choice<'a, T: Clone>",
            "#[non_exhaustive] pub variant ours::Choice::Named { }",
            "pub field ours::Choice::Named::at: [T; 2]",
            "pub variant ours::Choice::Tuple(&'a T)",
            "pub variant ours::Choice::Unit",
            "pub const ours::NAME: &str = \"n\"",
            "#[non_exhaustive] pub struct ours::Opened { .. }",
            "impl Clone, Hash for ours::Opened",
            "pub const ours::Opened::MOST: usize",
            "pub field ours::Opened::name: String",
            "pub fn ours::Opened::new(name: impl Into<String>) -> Self",
            "pub async fn ours::Opened::wait(&mut self) -> u8",
            "pub struct ours::Pair(u8, _)",
            "pub type ours::Steps<T> = Vec<<T as ours::Walk>::Step>",
            "pub trait ours::Walk: Send",
            "pub type ours::Walk::Step",
            "pub fn ours::Walk::rest(self) -> Self where Self: Sized (provided)",
            "pub fn ours::Walk::walk(&self, steps: &dyn Fn(u8) -> Option<Self::Step>)",
            "pub mod ours::inner",
            "pub static ours::inner::COUNT: u8",
            "pub macro ours::shout!",
        ];
        assert_eq!(api.items, expected);
        assert!(api.foreign.is_empty(), "{:?}", api.foreign);
    }

    #[test]
    fn foreign_types_are_listed_wherever_they_occur() {
        let uses = [
            "pub fn read(clock: &foreign::Clock) {}",
            "pub struct Watch { pub clock: Option<foreign::Clock> }",
            "pub struct A; impl PartialEq<foreign::Clock> for A {
                fn eq(&self, _: &foreign::Clock) -> bool { true }
            }",
            "pub use foreign::Clock;",
            "pub trait Tick { fn tick(&self) -> Box<dyn Iterator<Item = foreign::Clock>>; }",
        ];
        for source in uses {
            let foreign: Vec<_> = api(source).foreign.into_iter().collect();
            assert_eq!(foreign, ["foreign::Clock"], "{source}");
        }
        assert!(api("pub struct Watch { clock: foreign::Clock }").foreign.is_empty());
    }

    #[test]
    fn what_async_trait_writes_reads_as_an_async_function() {
        let api = api("
            use std::{future::Future, pin::Pin};
            pub trait Read {
                fn read<'life0, 'async_trait>(&'life0 self, name: String)
                    -> Pin<Box<dyn Future<Output = Option<u8>> + Send + 'async_trait>>
                where 'life0: 'async_trait, Self: 'async_trait;
            }
        ");
        let read = "pub async fn ours::Read::read(&self, name: String) -> Option<u8>";
        assert_eq!(api.items, ["pub trait ours::Read", read]);
    }
}
