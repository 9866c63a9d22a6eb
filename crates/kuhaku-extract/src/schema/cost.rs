//! How much work a schema makes.
//!
//! Schemas that refer to themselves can ask for the same value to be looked at twice per level, and
//! twice that a level down. The validator remembers what is valid, but says of every branch of every
//! alternative what is wrong, which doubles likewise. So the work is counted before it is done; the
//! count itself looks at each pair of a schema and a value once.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::compile::refused;
use super::walk::decoded;
use crate::Result;

/// References in a document; compiling more takes seconds.
const MOST_REFERENCES: usize = 20_000;
/// Schemas that one value passes through in turn, each calling the next.
const LONGEST_CHAIN: usize = 500;
/// Calls within calls that fit the stack of a thread.
const MOST_CALLS: usize = 2_000;
/// Schemas that one value passes through in all.
const MOST_BESIDE: u64 = 100_000;
/// Ways through a schema that are few enough to say of each what is wrong, and to follow each.
const FEW_WAYS: u64 = 4_096;
const MANY_WAYS: u64 = 1_000_000;
/// Schemas looked at per part of a value, and in all, before a full report is given up.
const WORK_PER_PART: u64 = 64;
const LEAST_WORK: u64 = 20_000;

/// The documents of a schema, and what they ask for.
#[derive(Debug)]
pub(super) struct Cost {
    others: Vec<Value>,
    /// Parts that references without a document may start from: (document, pointer).
    resources: Vec<(usize, String)>,
    anchors: HashMap<String, Vec<(usize, String)>>,
    counted: Counted,
}

/// What one schema, or a whole document, asks for. Loops are followed once.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    /// Ways to schemas of the value and its parts.
    ways: u64,
    /// Ways to schemas of the value itself.
    beside: u64,
    /// The longest chain of schemas for one value.
    chain: usize,
    /// The longest chain of schemas in all.
    deepest: usize,
    loops: bool,
}

impl Cost {
    /// Counts what a document asks for.
    ///
    /// # Errors
    /// When that is more than can be done.
    pub(super) fn of(document: &Value, others: Vec<Value>) -> Result<Self> {
        let mut cost = Self {
            others,
            resources: Vec::new(),
            anchors: HashMap::new(),
            counted: Counted::default(),
        };
        let mut references = 0;
        for number in 0..=cost.others.len() {
            let Some(root) = cost.document(document, number) else { continue };
            let mut resources = vec![(number, String::new())];
            let mut anchors = Vec::new();
            let mut open = vec![(String::new(), root)];
            while let Some((path, part)) = open.pop() {
                let below = |name: &str| super::walk::below(&path, name);
                match part {
                    Value::Object(keywords) => {
                        let text = |name: &str| keywords.get(name).and_then(Value::as_str);
                        references += REFERENCES.iter().filter(|name| text(name).is_some()).count();
                        if !path.is_empty() && (text("$id").or(text("id"))).is_some() {
                            resources.push((number, path.clone()));
                        }
                        for name in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text) {
                            anchors.push((name.to_owned(), (number, path.clone())));
                        }
                        if let Some(name) = text("$id").and_then(|id| id.strip_prefix('#')) {
                            anchors.push((name.to_owned(), (number, path.clone())));
                        }
                        open.extend(keywords.iter().map(|(name, part)| (below(name), part)));
                    }
                    Value::Array(items) => {
                        let items = items.iter().enumerate();
                        open.extend(items.map(|(index, part)| (below(&index.to_string()), part)));
                    }
                    _ => {}
                }
            }
            cost.resources.extend(resources);
            for (name, place) in anchors {
                cost.anchors.entry(name).or_default().push(place);
            }
        }
        if references > MOST_REFERENCES {
            return Err(refused(&format!("it has more than {MOST_REFERENCES} references")));
        }
        let counted = cost.count(document);
        if counted.chain > LONGEST_CHAIN {
            let wrong =
                format!("more than {LONGEST_CHAIN} of its parts lead to each other in turn");
            return Err(refused(&wrong));
        }
        if counted.beside > MOST_BESIDE {
            let wrong =
                format!("one value would be compared with more than {MOST_BESIDE} of its parts");
            return Err(refused(&wrong));
        }
        Ok(Self { counted, ..cost })
    }

    /// Whether checking a value of so many levels stays within the stack.
    pub(super) fn fits_the_stack(&self, depth: usize) -> bool {
        let calls = depth.saturating_mul(self.counted.chain);
        let most = if self.counted.loops { usize::MAX } else { self.counted.deepest };
        calls.min(most) <= MOST_CALLS
    }

    /// Whether it can be found out in the work allowed that a value is valid. The validator
    /// remembers what it found where a schema loops, so only other ways count.
    pub(super) fn permits_validation(&self, document: &Value, value: &Value) -> bool {
        self.counted.ways <= MANY_WAYS || self.permits(document, value)
    }

    /// Whether everything that is wrong with a value can be said in the work allowed.
    pub(super) fn permits_report(&self, document: &Value, value: &Value) -> bool {
        let few = !self.counted.loops && self.counted.ways <= FEW_WAYS;
        few || self.permits(document, value)
    }

    fn permits(&self, document: &Value, value: &Value) -> bool {
        let allowed = LEAST_WORK.max(WORK_PER_PART.saturating_mul(parts(value)));
        let mut work = Work { cost: self, document, known: HashMap::new(), allowed };
        work.of(document, value).is_some_and(|work| work <= allowed)
    }

    fn document<'d>(&'d self, document: &'d Value, number: usize) -> Option<&'d Value> {
        match number.checked_sub(1) {
            None => Some(document),
            Some(number) => self.others.get(number),
        }
    }

    /// Everything that a reference may lead to. Which base an address is relative to is not worked
    /// out: where several are possible all are given, which can only overstate the work.
    fn targets<'d>(&'d self, document: &'d Value, reference: &str) -> Vec<&'d Value> {
        let fragment = reference.split_once('#').map_or("", |(_, fragment)| fragment);
        let place = |(number, path): &(usize, String), below: &str| {
            self.document(document, *number)?.pointer(path)?.pointer(below)
        };
        if fragment.is_empty() || fragment.starts_with('/') {
            let fragment = decoded(fragment);
            return self.resources.iter().filter_map(|start| place(start, &fragment)).collect();
        }
        let named = self.anchors.get(fragment).into_iter().flatten();
        named.filter_map(|start| place(start, "")).collect()
    }

    /// The schemas that a schema applies to the same value.
    fn beside<'d>(
        &'d self,
        document: &'d Value,
        keywords: &'d Map<String, Value>,
    ) -> Vec<&'d Value> {
        let mut beside = Vec::new();
        for reference in REFERENCES.iter().filter_map(|name| keywords.get(*name)?.as_str()) {
            beside.extend(self.targets(document, reference));
        }
        for name in ["allOf", "anyOf", "oneOf", "extends"] {
            beside.extend(keywords.get(name).and_then(Value::as_array).into_iter().flatten());
        }
        beside.extend(["not", "if", "then", "else"].iter().filter_map(|name| keywords.get(*name)));
        for name in ["dependentSchemas", "dependencies"] {
            let all = keywords.get(name).and_then(Value::as_object).into_iter().flatten();
            beside.extend(all.map(|(_, schema)| schema));
        }
        beside
    }

    fn count(&self, document: &Value) -> Counted {
        enum Step<'d> {
            Into(&'d Value),
            OutOf(&'d Value),
        }
        // None while a schema is being counted.
        let mut known: HashMap<*const Value, Option<Counted>> = HashMap::new();
        let mut whole = Counted::default();
        let mut open = vec![Step::Into(document)];
        while let Some(step) = open.pop() {
            let (Step::Into(schema) | Step::OutOf(schema)) = step;
            let Some(keywords) = schema.as_object() else { continue };
            let beside = self.beside(document, keywords);
            let below = below(keywords);
            if let Step::Into(_) = step {
                if !known.contains_key(&std::ptr::from_ref(schema)) {
                    known.insert(schema, None);
                    open.push(Step::OutOf(schema));
                    open.extend(beside.into_iter().chain(below).map(Step::Into));
                }
                continue;
            }
            let mut counted = Counted { ways: 1, beside: 1, chain: 1, deepest: 1, loops: false };
            let beside = beside.into_iter().map(|next| (true, next));
            let all = beside.chain(below.into_iter().map(|next| (false, next)));
            for (is_beside, next) in all.filter(|(_, next)| next.is_object()) {
                let Some(next) = known.get(&std::ptr::from_ref(next)).copied().flatten() else {
                    whole.loops = true;
                    continue;
                };
                counted.ways = counted.ways.saturating_add(next.ways);
                counted.deepest = counted.deepest.max(next.deepest + 1);
                if is_beside {
                    counted.beside = counted.beside.saturating_add(next.beside);
                    counted.chain = counted.chain.max(next.chain + 1);
                }
            }
            whole.ways = whole.ways.max(counted.ways);
            whole.beside = whole.beside.max(counted.beside);
            whole.chain = whole.chain.max(counted.chain);
            whole.deepest = whole.deepest.max(counted.deepest);
            known.insert(schema, Some(counted));
        }
        whole
    }
}

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
const OF_NAMES: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "propertyNames"];
const OF_ITEMS: [&str; 4] = ["items", "additionalItems", "contains", "unevaluatedItems"];

/// The schemas that a schema applies to parts of a value.
fn below(keywords: &Map<String, Value>) -> Vec<&Value> {
    let mut below = Vec::new();
    for name in ["properties", "patternProperties"] {
        let all = keywords.get(name).and_then(Value::as_object).into_iter().flatten();
        below.extend(all.map(|(_, schema)| schema));
    }
    for name in ["prefixItems", "items"] {
        below.extend(keywords.get(name).and_then(Value::as_array).into_iter().flatten());
    }
    let single = OF_NAMES.iter().chain(&OF_ITEMS).filter_map(|name| keywords.get(*name));
    below.extend(single.filter(|schema| schema.is_object()));
    below
}

fn below_name<'d>(keywords: &'d Map<String, Value>, name: &str) -> Vec<&'d Value> {
    let patterns = keywords.get("patternProperties").and_then(Value::as_object);
    let patterns = patterns.into_iter().flatten().map(|(_, schema)| schema);
    let own = keywords.get("properties").and_then(|all| all.get(name));
    own.into_iter()
        .chain(patterns)
        .chain(OF_NAMES.iter().filter_map(|name| keywords.get(*name)))
        .collect()
}

fn below_index(keywords: &Map<String, Value>, index: usize) -> Vec<&Value> {
    let each =
        ["prefixItems", "items"].into_iter().filter_map(|name| keywords.get(name)?.get(index));
    each.chain(OF_ITEMS.iter().filter_map(|name| keywords.get(*name))).collect()
}

fn parts(value: &Value) -> u64 {
    let mut open = vec![value];
    let mut parts = 0;
    while let Some(value) = open.pop() {
        parts += 1;
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(entries) => open.extend(entries.values()),
            _ => {}
        }
    }
    parts
}

/// The work of a schema with a value.
struct Work<'d> {
    cost: &'d Cost,
    document: &'d Value,
    known: HashMap<(*const Value, *const Value), u64>,
    allowed: u64,
}

impl<'d> Work<'d> {
    /// None once there are more pairs than work is allowed.
    fn of(&mut self, schema: &'d Value, value: &Value) -> Option<u64> {
        let Some(keywords) = schema.as_object() else { return Some(1) };
        let pair = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        if let Some(work) = self.known.get(&pair) {
            return Some(*work);
        }
        if u64::try_from(self.known.len()).map_or(true, |pairs| pairs >= self.allowed) {
            return None;
        }
        // A schema that comes back to itself with the same value is looked at once.
        self.known.insert(pair, 0);
        let mut work = 1_u64;
        for next in self.cost.beside(self.document, keywords) {
            work = work.saturating_add(self.of(next, value)?);
        }
        match value {
            Value::Object(entries) => {
                for (name, value) in entries {
                    for next in below_name(keywords, name) {
                        work = work.saturating_add(self.of(next, value)?);
                    }
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    for next in below_index(keywords, index) {
                        work = work.saturating_add(self.of(next, value)?);
                    }
                }
            }
            _ => {}
        }
        self.known.insert(pair, work);
        Some(work)
    }
}
