//! The check of a value: read leniently, completed, and said where it falls short.
//!
//! The validator says what does not fit, and only that is touched: a valid value stays as it is.

use std::collections::HashSet;

use serde_json::Value;

use super::finding::{Finding, What, findings};
use super::numbers::{is_whole_fraction, whole};
use super::walk::{Key, below, description, split};
use super::{Checked, Coerced, Coercion, Compiled, Kind, Missing, Problem};

/// Reading one value leniently may show that another does not fit; so often it is looked again.
const ROUNDS: usize = 16;

/// A value under check.
pub(super) struct Check<'s> {
    schema: &'s Compiled,
    coercion: &'s Coercion,
    value: Value,
    coercions: Vec<Coerced>,
    defaults: Vec<String>,
    /// Where a null was taken out, to see whether the value is required.
    nulls: Vec<String>,
}

impl<'s> Check<'s> {
    pub(super) fn run(schema: &'s Compiled, value: &Value, coercion: &'s Coercion) -> Checked {
        let looked_at = schema.can_look_at(value);
        let mut check = Self {
            schema,
            coercion,
            value: if looked_at { value.clone() } else { Value::Null },
            coercions: Vec::new(),
            defaults: Vec::new(),
            nulls: Vec::new(),
        };
        if !looked_at {
            let what = What::Rule("is nested too deep".into());
            return check.report(vec![Finding { path: String::new(), what }]);
        }
        check.write_whole_numbers();
        let mut found = check.read_leniently();
        if schema.walk.has_defaults {
            found = check.complete(found);
        }
        check.report(found)
    }

    fn findings(&self) -> Vec<Finding> {
        let Compiled { document, validator, cost, .. } = self.schema;
        let may_ask = cost.permits_validation(document, &self.value);
        if may_ask && validator.is_valid(&self.value) {
            return Vec::new();
        }
        if !may_ask || !cost.permits_report(document, &self.value) {
            let what = What::Rule("takes too long to compare with the schema".into());
            return vec![Finding { path: String::new(), what }];
        }
        findings(validator.iter_errors(&self.value), &self.value)
    }

    /// `3.0` where whole numbers are asked for is valid JSON, and no integer to a program.
    fn write_whole_numbers(&mut self) {
        if !self.coercion.lenient || !holds_whole_fraction(&self.value) {
            return;
        }
        let leaves = self.schema.walk.leaves(&self.schema.document, &self.value);
        let whole_ones = leaves
            .into_iter()
            .filter(|leaf| leaf.kind == Kind::Integer && is_whole_fraction(leaf.value));
        for path in whole_ones.map(|leaf| leaf.path).collect::<Vec<_>>() {
            if let Some(place) = self.value.pointer_mut(&path)
                && let Some(number) = place.as_number().and_then(whole)
            {
                *place = Value::Number(number);
                self.coercions.push(Coerced { path, from: Kind::Number, to: Kind::Integer });
            }
        }
    }

    /// Coerces what can be, takes nulls out, and gives what is left.
    fn read_leniently(&mut self) -> Vec<Finding> {
        let mut seen = HashSet::new();
        let mut found = self.findings();
        for _ in 0..ROUNDS {
            let mut changed = false;
            for finding in &found {
                changed |= match &finding.what {
                    What::Null => self.take_null(&finding.path),
                    What::Other(wanted, _) if !seen.contains(&finding.path) => {
                        seen.insert(finding.path.clone());
                        let place = self.value.pointer_mut(&finding.path);
                        place.is_some_and(|place| match wanted.coerce(place, self.coercion) {
                            Some((read, to)) => {
                                let (path, from) = (finding.path.clone(), Kind::of(place));
                                self.coercions.push(Coerced { path, from, to });
                                *place = read;
                                true
                            }
                            None => false,
                        })
                    }
                    _ => false,
                };
            }
            if !changed {
                break;
            }
            found = self.findings();
        }
        found
    }

    /// Takes out a null that a name holds: then the validator tells whether the value is required.
    fn take_null(&mut self, path: &str) -> bool {
        let Some((parent, name)) = split(path) else { return false };
        let parent = self.value.pointer_mut(parent).and_then(Value::as_object_mut);
        let taken = parent.and_then(|parent| parent.remove(&name)).is_some();
        if taken {
            self.nulls.push(path.to_owned());
        }
        taken
    }

    /// Gives what the schema gives where the value says nothing, unless the schema itself would
    /// refuse it.
    fn complete(&mut self, found: Vec<Finding>) -> Vec<Finding> {
        let given = self.given();
        if given.is_empty() {
            return found;
        }
        for (path, default) in given {
            if put(&mut self.value, &path, default) {
                self.defaults.push(path);
            }
        }
        let mut now = self.findings();
        let within = |found: &[Finding], path: &str| {
            found.iter().any(|finding| {
                finding
                    .path
                    .strip_prefix(path)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let refused: Vec<String> =
            self.defaults.iter().filter(|path| within(&now, path)).cloned().collect();
        if !refused.is_empty() {
            for path in &refused {
                take(&mut self.value, path);
            }
            self.defaults.retain(|path| !refused.contains(path));
            now = self.findings();
        }
        // A default may break a rule of what holds it, as when two names exclude each other.
        if now.len() > found.len() {
            for path in std::mem::take(&mut self.defaults) {
                take(&mut self.value, &path);
            }
            return found;
        }
        now
    }

    /// The defaults of the names that the value lacks.
    fn given(&self) -> Vec<(String, Value)> {
        let Compiled { document, walk, .. } = self.schema;
        let mut given = Vec::new();
        let root = walk.same_place(document, document, true);
        let mut open = vec![(String::new(), &self.value, root)];
        while let Some((path, value, place)) = open.pop() {
            match value {
                Value::Object(entries) => {
                    let declared = place.iter().filter_map(|keywords| {
                        keywords.get("properties").and_then(Value::as_object)
                    });
                    for name in declared.flat_map(|names| names.keys()) {
                        let below = below(&path, name);
                        if entries.contains_key(name)
                            || given.iter().any(|(path, _)| *path == below)
                        {
                            continue;
                        }
                        let place = walk.step(document, &place, Key::Name(name), true);
                        let default = place.iter().find_map(|keywords| keywords.get("default"));
                        if let Some(default) = default.filter(|default| !default.is_null()) {
                            given.push((below, default.clone()));
                        }
                    }
                    for (name, value) in entries {
                        let place = walk.step(document, &place, Key::Name(name), true);
                        open.push((below(&path, name), value, place));
                    }
                }
                Value::Array(items) => {
                    for (index, value) in items.iter().enumerate() {
                        let place = walk.step(document, &place, Key::Index(index), true);
                        open.push((below(&path, &index.to_string()), value, place));
                    }
                }
                _ => {}
            }
        }
        given
    }

    fn report(mut self, found: Vec<Finding>) -> Checked {
        let mut missing: Vec<Missing> = Vec::new();
        let mut problems = Vec::new();
        for finding in found {
            match finding.what {
                What::Absent | What::Null if !finding.path.is_empty() => {
                    if missing.iter().all(|known| known.path != finding.path) {
                        missing.push(self.missing(finding.path));
                    }
                }
                What::Absent | What::Null => problems.push(Problem::new("", "must not be null")),
                What::Other(_, message) | What::Rule(message) => {
                    problems.push(Problem::new(finding.path, message));
                }
            }
        }
        for path in &self.nulls {
            if missing.iter().any(|known| known.path == *path) {
                put(&mut self.value, path, Value::Null);
            }
        }
        let Self { value, coercions, defaults, .. } = self;
        Checked { value, coercions, defaults, missing, problems }
    }

    fn missing(&self, path: String) -> Missing {
        let place = self.schema.walk.at(&self.schema.document, &self.value, &path);
        // An item has a number; the name is that of its list.
        let mut named = path.as_str();
        let mut name = String::new();
        while let Some((parent, last)) = split(named) {
            name = last;
            let is_item = self.value.pointer(parent).is_some_and(Value::is_array);
            if !is_item {
                break;
            }
            named = parent;
        }
        Missing { name, description: description(&place), path }
    }
}

/// Puts a value under a name, if the name's object is there.
fn put(value: &mut Value, path: &str, new: Value) -> bool {
    let Some((parent, name)) = split(path) else { return false };
    let parent = value.pointer_mut(parent).and_then(Value::as_object_mut);
    parent.map(|parent| parent.insert(name, new)).is_some()
}

fn take(value: &mut Value, path: &str) {
    let Some((parent, name)) = split(path) else { return };
    if let Some(parent) = value.pointer_mut(parent).and_then(Value::as_object_mut) {
        parent.remove(&name);
    }
}

fn holds_whole_fraction(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(holds_whole_fraction),
        Value::Object(entries) => entries.values().any(holds_whole_fraction),
        scalar => is_whole_fraction(scalar),
    }
}
