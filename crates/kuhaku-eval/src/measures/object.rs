//! Measures of an extracted object against its label.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::alignment::{ListAlignment, pairs};
use crate::measurement::{Measurement, Unmeasured};

/// How values are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ObjectRules {
    /// How texts are compared.
    pub text: TextRule,
    /// Which items of two lists belong together.
    pub lists: ListAlignment,
}

impl ObjectRules {
    /// Rules that differ from the default.
    pub fn new(text: TextRule, lists: ListAlignment) -> Self {
        Self { text, lists }
    }
}

/// How texts are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextRule {
    /// Trimmed, in lower case.
    #[default]
    Folded,
    /// Character by character.
    Exact,
}

/// The leaves of one field, counted over one object or many.
///
/// A field is named by its path, with `[]` for the items of a list: `items[].price`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldTally {
    /// Values in the label that are not null.
    pub expected: u64,
    /// Values in the answer that are not null.
    pub given: u64,
    /// Values of the answer that equal the label's.
    pub correct: u64,
    /// Values of the answer where the label has none.
    pub hallucinated: u64,
}

impl FieldTally {
    /// Correct values among those given.
    pub fn precision(&self) -> Measurement {
        share(self.correct, self.given)
    }

    /// Correct values among those expected.
    pub fn recall(&self) -> Measurement {
        share(self.correct, self.expected)
    }

    /// The harmonic mean of precision and recall: 2 correct / (given + expected).
    pub fn f1(&self) -> Measurement {
        share(2 * self.correct, self.given + self.expected)
    }

    /// Values made up among those given; 0 when nothing was given.
    pub fn hallucinated_share(&self) -> Measurement {
        Measurement::from(share(self.hallucinated, self.given).value().unwrap_or(0.0))
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: &Self) {
        self.expected += other.expected;
        self.given += other.given;
        self.correct += other.correct;
        self.hallucinated += other.hallucinated;
    }
}

fn share(part: u64, whole: u64) -> Measurement {
    if whole == 0 {
        Measurement::Unmeasured(Unmeasured::Undefined)
    } else {
        Measurement::from(part as f64 / whole as f64)
    }
}

/// An answer set against a label, leaf by leaf.
///
/// A leaf is a text, a number, a truth value, a null or an empty list or object of the label.
/// Numbers are compared by value (1 equals 1.0), truth values strictly (true is not 1); null equals
/// absent; an empty list does not. Keys that the label lacks do not lower the accuracy, but their
/// values are hallucinated.
///
/// ```
/// use kuhaku_eval::{ObjectComparison, ObjectRules};
/// use serde_json::json;
///
/// let label = json!({"name": "Ada", "age": 36, "title": null});
/// let answer = json!({"name": " ada ", "age": 37, "title": "Countess"});
/// let compared = ObjectComparison::new(&label, Some(&answer), ObjectRules::default()).unwrap();
/// assert_eq!(compared.accuracy().value(), Some(1.0 / 3.0));
/// assert_eq!(compared.total().hallucinated, 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectComparison {
    leaves: u64,
    matched: u64,
    lists_of_equal_length: bool,
    is_object: bool,
    fields: BTreeMap<String, FieldTally>,
}

impl ObjectComparison {
    /// Compares; `None` when the label is no object, so that there is nothing to compare with. An
    /// answer that is absent or no object matches nothing.
    pub fn new(label: &Value, answer: Option<&Value>, rules: ObjectRules) -> Option<Self> {
        let label = label.as_object()?;
        let answer = answer.and_then(Value::as_object);
        let mut walk = Walk::new(rules);
        match answer {
            Some(answer) => walk.objects(label, answer, ""),
            None => {
                walk.null_matches_absent = false;
                walk.missing_object(label, "");
            }
        }
        walk.found.is_object = answer.is_some();
        Some(walk.found)
    }

    /// Matching leaves / leaves of the label; unmeasured for a label without any.
    pub fn accuracy(&self) -> Measurement {
        share(self.matched, self.leaves)
    }

    /// Whether all leaves match and all lists of the label have the length of the answer's.
    pub fn is_exact(&self) -> bool {
        self.is_object && self.matched == self.leaves && self.lists_of_equal_length
    }

    /// The counts by field.
    pub fn fields(&self) -> &BTreeMap<String, FieldTally> {
        &self.fields
    }

    /// The counts of all fields together.
    pub fn total(&self) -> FieldTally {
        self.fields.values().fold(FieldTally::default(), |mut total, field| {
            total.add(field);
            total
        })
    }
}

/// The share of the label's leaves that an answer matches; how alike two items of lists are.
pub(super) fn similarity(label: &Value, answer: &Value, rules: ObjectRules, nesting: u32) -> f64 {
    let mut walk = Walk::new(rules);
    walk.nesting = nesting;
    walk.value(label, Some(answer), "");
    walk.found.accuracy().value().unwrap_or(0.0)
}

struct Walk {
    rules: ObjectRules,
    nesting: u32,
    /// Not so where there is no object at all: nothing given matches nothing.
    null_matches_absent: bool,
    found: ObjectComparison,
}

impl Walk {
    fn new(rules: ObjectRules) -> Self {
        let found = ObjectComparison { lists_of_equal_length: true, ..Default::default() };
        Self { rules, nesting: 0, null_matches_absent: true, found }
    }

    fn value(&mut self, label: &Value, answer: Option<&Value>, path: &str) {
        let answer = answer.filter(|answer| !answer.is_null());
        match (label, answer) {
            (Value::Object(label), Some(Value::Object(answer))) => {
                self.objects(label, answer, path);
            }
            (Value::Array(label), Some(Value::Array(answer))) => self.lists(label, answer, path),
            (Value::Null, answer) => {
                self.leaf(answer.is_none());
                self.hallucinated(answer, path);
            }
            (Value::Object(items), answer) if !items.is_empty() => {
                self.missing_object(items, path);
                self.given(answer, path);
            }
            (Value::Array(items), answer) if !items.is_empty() => {
                self.found.lists_of_equal_length = false;
                let path = format!("{path}[]");
                items.iter().for_each(|item| self.missing(item, &path));
                self.given(answer, &path);
            }
            (label, Some(answer)) => {
                let same = same_leaf(label, answer, self.rules.text);
                self.leaf(same);
                self.expected(label, path);
                self.given(Some(answer), path);
                if same && is_value(label) {
                    self.tally(path).correct += 1;
                }
            }
            (label, None) => self.missing(label, path),
        }
    }

    fn objects(&mut self, label: &Map<String, Value>, answer: &Map<String, Value>, path: &str) {
        if label.is_empty() && !path.is_empty() {
            self.leaf(true);
        }
        for (key, value) in label {
            self.value(value, answer.get(key), &below(path, key));
        }
        for (key, value) in answer.iter().filter(|(key, _)| !label.contains_key(*key)) {
            self.hallucinated(Some(value), &below(path, key));
        }
    }

    fn lists(&mut self, label: &[Value], answer: &[Value], path: &str) {
        self.found.lists_of_equal_length &= label.len() == answer.len();
        if label.is_empty() {
            self.leaf(answer.is_empty());
        }
        let path = format!("{path}[]");
        let aligned = pairs(label, answer, self.rules, self.nesting);
        self.nesting += 1;
        for (label, answer) in aligned {
            match (label, answer) {
                (Some(label), Some(answer)) => self.value(label, Some(answer), &path),
                (Some(label), None) => self.missing(label, &path),
                (None, answer) => self.hallucinated(answer, &path),
            }
        }
        self.nesting -= 1;
    }

    fn missing_object(&mut self, label: &Map<String, Value>, path: &str) {
        label.iter().for_each(|(key, value)| self.missing(value, &below(path, key)));
    }

    /// Counts the leaves of a part of the label that the answer lacks as a whole.
    fn missing(&mut self, label: &Value, path: &str) {
        match label {
            Value::Object(items) if !items.is_empty() => self.missing_object(items, path),
            Value::Array(items) if !items.is_empty() => {
                self.found.lists_of_equal_length = false;
                let path = format!("{path}[]");
                items.iter().for_each(|item| self.missing(item, &path));
            }
            Value::Null => self.leaf(self.null_matches_absent),
            _ => {
                self.leaf(false);
                self.expected(label, path);
            }
        }
    }

    fn expected(&mut self, label: &Value, path: &str) {
        if is_value(label) {
            self.tally(path).expected += 1;
        }
    }

    fn given(&mut self, answer: Option<&Value>, path: &str) {
        each_leaf(answer, path, &mut |path| self.tally(path).given += 1);
    }

    fn hallucinated(&mut self, answer: Option<&Value>, path: &str) {
        each_leaf(answer, path, &mut |path| {
            let field = self.tally(path);
            field.given += 1;
            field.hallucinated += 1;
        });
    }

    fn leaf(&mut self, matched: bool) {
        self.found.leaves += 1;
        self.found.matched += u64::from(matched);
    }

    fn tally(&mut self, path: &str) -> &mut FieldTally {
        self.found.fields.entry(path.to_owned()).or_default()
    }
}

/// Null and empty lists and objects are leaves, but not values that can be found or made up.
fn is_value(leaf: &Value) -> bool {
    !matches!(leaf, Value::Null | Value::Array(_) | Value::Object(_))
}

fn each_leaf(value: Option<&Value>, path: &str, visit: &mut impl FnMut(&str)) {
    match value {
        None | Some(Value::Null) => {}
        Some(Value::Object(items)) => {
            items.iter().for_each(|(key, item)| each_leaf(Some(item), &below(path, key), visit));
        }
        Some(Value::Array(items)) => {
            let path = format!("{path}[]");
            items.iter().for_each(|item| each_leaf(Some(item), &path, visit));
        }
        Some(_) => visit(path),
    }
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn same_leaf(label: &Value, answer: &Value, text: TextRule) -> bool {
    match (label, answer) {
        (Value::String(label), Value::String(answer)) => match text {
            TextRule::Folded => label.trim().to_lowercase() == answer.trim().to_lowercase(),
            TextRule::Exact => label == answer,
        },
        (Value::Number(label), Value::Number(answer)) => {
            label == answer || label.as_f64().is_some_and(|label| answer.as_f64() == Some(label))
        }
        (label, answer) => label == answer,
    }
}
