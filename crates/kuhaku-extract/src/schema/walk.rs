//! Following a value through its schema, to learn what the schema says about each place.
//!
//! What is read here describes and completes: names, kinds, defaults. Whether a value is right is
//! the validator's to say, which knows every keyword of every draft.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::Kind;

/// So many schemas may speak of one place; more are not looked at.
pub(super) const MOST_SCHEMAS: usize = 128;

/// A document whose parts can be found.
#[derive(Debug)]
pub(super) struct Walk {
    /// Pointers of the parts that have a name of their own.
    named: HashMap<String, String>,
    pub(super) has_defaults: bool,
}

/// A scalar of a value and what it is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Leaf<'v> {
    /// Where, as a JSON Pointer (RFC 6901).
    pub path: String,
    /// The scalar.
    pub value: &'v Value,
    /// What the schema says it is; where it says nothing, what the value is by itself.
    pub kind: Kind,
}

impl Walk {
    pub(super) fn new(document: &Value) -> Self {
        let mut walk = Self { named: HashMap::new(), has_defaults: false };
        let mut open = vec![(String::new(), document)];
        while let Some((path, part)) = open.pop() {
            match part {
                Value::Object(entries) => {
                    for (key, value) in entries {
                        if let (name, Some(text)) = (key.as_str(), value.as_str()) {
                            match name {
                                "$id" | "id" => drop(walk.named.insert(text.into(), path.clone())),
                                "$anchor" | "$dynamicAnchor" => {
                                    walk.named.insert(format!("#{text}"), path.clone());
                                }
                                _ => {}
                            }
                        }
                        walk.has_defaults |= key == "default";
                        open.push((below(&path, key), value));
                    }
                }
                Value::Array(items) => {
                    let items = items.iter().enumerate();
                    open.extend(items.map(|(n, item)| (below(&path, &n.to_string()), item)));
                }
                _ => {}
            }
        }
        walk
    }

    /// The schemas that speak of the same place as this one. Of alternatives all are given, or
    /// with `certain` the only one that is not null.
    pub(super) fn same_place<'s>(
        &self,
        root: &'s Value,
        schema: &'s Value,
        certain: bool,
    ) -> Vec<&'s Map<String, Value>> {
        self.all_of_place(root, vec![schema], certain)
    }

    fn all_of_place<'s>(
        &self,
        root: &'s Value,
        mut open: Vec<&'s Value>,
        certain: bool,
    ) -> Vec<&'s Map<String, Value>> {
        let mut found: Vec<&Map<String, Value>> = Vec::new();
        while let Some(schema) = open.pop() {
            let Some(keywords) = schema.as_object() else { continue };
            if found.len() >= MOST_SCHEMAS || found.iter().any(|seen| std::ptr::eq(*seen, keywords))
            {
                continue;
            }
            found.push(keywords);
            let mut next = Vec::new();
            for name in ["$ref", "$dynamicRef", "$recursiveRef"] {
                let target = keywords.get(name).and_then(Value::as_str);
                next.extend(target.and_then(|target| self.resolve(root, target)));
            }
            next.extend(keywords.get("allOf").and_then(Value::as_array).into_iter().flatten());
            for name in ["anyOf", "oneOf"] {
                let all = keywords.get(name).and_then(Value::as_array).into_iter().flatten();
                let branches: Vec<&Value> = all.filter(|branch| !is_null(branch)).collect();
                if !certain || branches.len() == 1 {
                    next.extend(branches);
                }
            }
            if !certain {
                next.extend(["then", "else"].into_iter().filter_map(|name| keywords.get(name)));
            }
            open.extend(next.into_iter().rev());
        }
        found
    }

    pub(super) fn resolve<'s>(&self, root: &'s Value, target: &str) -> Option<&'s Value> {
        if let Some(path) = self.named.get(target) {
            return root.pointer(path);
        }
        root.pointer(&decoded(target.strip_prefix('#')?))
    }

    /// The schemas of one step down from a place.
    pub(super) fn step<'s>(
        &self,
        root: &'s Value,
        place: &[&'s Map<String, Value>],
        key: Key<'_>,
        certain: bool,
    ) -> Vec<&'s Map<String, Value>> {
        let below = place.iter().rev().flat_map(|keywords| one_below(keywords, key));
        self.all_of_place(root, below.collect(), certain)
    }

    /// What is said about a path of a value, outermost name first.
    pub(super) fn at<'s>(
        &self,
        root: &'s Value,
        value: &Value,
        path: &str,
    ) -> Vec<&'s Map<String, Value>> {
        let mut place = self.same_place(root, root, false);
        let mut here = Some(value);
        for token in path.split('/').skip(1) {
            let name = unescaped(token);
            let index = here.and_then(Value::as_array).and_then(|_| name.parse().ok());
            let key = index.map_or(Key::Name(&name), Key::Index);
            place = self.step(root, &place, key, false);
            here = here.and_then(|value| match key {
                Key::Index(index) => value.get(index),
                Key::Name(name) => value.get(name),
            });
        }
        place
    }

    /// The scalars of a value, in its order.
    pub(super) fn leaves<'v>(&self, root: &Value, value: &'v Value) -> Vec<Leaf<'v>> {
        let mut leaves = Vec::new();
        let mut open = vec![(String::new(), value, self.same_place(root, root, false))];
        while let Some((path, value, place)) = open.pop() {
            let mut next = Vec::new();
            match value {
                Value::Object(entries) => {
                    for (name, value) in entries {
                        let place = self.step(root, &place, Key::Name(name), false);
                        next.push((below(&path, name), value, place));
                    }
                }
                Value::Array(items) => {
                    for (index, value) in items.iter().enumerate() {
                        let place = self.step(root, &place, Key::Index(index), false);
                        next.push((below(&path, &index.to_string()), value, place));
                    }
                }
                _ => {
                    let kind = match kind(&place) {
                        Kind::Any => Kind::of(value),
                        kind => kind,
                    };
                    leaves.push(Leaf { path, value, kind });
                }
            }
            open.extend(next.into_iter().rev());
        }
        leaves
    }
}

/// A step into a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key<'k> {
    Name(&'k str),
    Index(usize),
}

fn one_below<'s>(keywords: &'s Map<String, Value>, key: Key<'_>) -> Vec<&'s Value> {
    match key {
        Key::Name(name) => {
            let declared = keywords.get("properties").and_then(|all| all.get(name));
            declared.or_else(|| keywords.get("additionalProperties")).into_iter().collect()
        }
        Key::Index(index) => {
            let prefix = keywords.get("prefixItems").and_then(|all| all.get(index));
            let items = match keywords.get("items") {
                Some(Value::Array(each)) => {
                    each.get(index).or_else(|| keywords.get("additionalItems"))
                }
                one => one,
            };
            prefix.or(items).into_iter().collect()
        }
    }
}

/// What the schemas of a place say that it is.
pub(super) fn kind(place: &[&Map<String, Value>]) -> Kind {
    let mut kinds: Vec<Kind> = Vec::new();
    let mut date = false;
    for keywords in place {
        if keywords.contains_key("enum") || keywords.contains_key("const") {
            return Kind::Choice;
        }
        date |= keywords.get("format").is_some_and(|format| format == "date");
        let names = match keywords.get("type") {
            Some(Value::Array(names)) => names.iter().collect(),
            Some(name) => vec![name],
            None => Vec::new(),
        };
        for name in names.into_iter().filter_map(Value::as_str) {
            let kind = kind_named(name);
            if kind != Kind::Null && !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
    kinds.sort_unstable();
    match kinds.as_slice() {
        [Kind::Text] if date => Kind::Date,
        [one] => *one,
        [Kind::Number, Kind::Integer] => Kind::Number,
        _ => Kind::Any,
    }
}

fn kind_named(name: &str) -> Kind {
    match name {
        "string" => Kind::Text,
        "number" => Kind::Number,
        "integer" => Kind::Integer,
        "boolean" => Kind::Boolean,
        "object" => Kind::Object,
        "array" => Kind::List,
        "null" => Kind::Null,
        _ => Kind::Any,
    }
}

/// The first description that the schemas of a place give.
pub(super) fn description(place: &[&Map<String, Value>]) -> Option<String> {
    let texts = place.iter().filter_map(|keywords| keywords.get("description")?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty()).map(str::to_owned)
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

/// The pointer of a part of a part.
pub(super) fn below(path: &str, name: &str) -> String {
    let mut path = path.to_owned();
    path.push('/');
    for c in name.chars() {
        match c {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            c => path.push(c),
        }
    }
    path
}

/// The pointer of what holds a part, and the part's name.
pub(super) fn split(path: &str) -> Option<(&str, String)> {
    path.rsplit_once('/').map(|(parent, token)| (parent, unescaped(token)))
}

fn unescaped(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// Percent-encoding undone; what is no encoding stays.
pub(super) fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match hex.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
