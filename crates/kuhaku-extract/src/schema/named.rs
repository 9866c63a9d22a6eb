//! What of a value its schema names.

use serde_json::{Map, Value};

use super::Schema;
use super::walk::{Key, MOST_SCHEMAS, Walk, below};
use crate::tree;

type Keywords = Map<String, Value>;

impl Schema {
    /// The value without the names that the schema does not have, at every level: what a model adds
    /// on its own. Where a schema says `additionalProperties`, `true` or a schema, and where it names
    /// nothing at all, other names stay; they also stay if the value were not valid without them.
    pub fn without_unknown_names(&self, value: &Value) -> Value {
        let unknown = self.unknown_names(value);
        let mut named = value.clone();
        for path in &unknown {
            tree::remove(&mut named, path);
        }
        let is_needed = !unknown.is_empty() && !self.is_valid(&named) && self.is_valid(value);
        if is_needed { value.clone() } else { named }
    }

    /// The paths of the names that the schema does not have, the outermost of each.
    pub(crate) fn unknown_names(&self, value: &Value) -> Vec<String> {
        self.compiled.walk.unknown_names(&self.compiled.document, value)
    }
}

impl Walk {
    fn unknown_names(&self, root: &Value, value: &Value) -> Vec<String> {
        let mut unknown = Vec::new();
        let mut open = vec![(String::new(), value, self.same_place(root, root, false))];
        while let Some((path, value, place)) = open.pop() {
            match value {
                Value::Object(entries) => {
                    let lists_names = self.lists_names(root, &place);
                    for (name, value) in entries {
                        let path = below(&path, name);
                        if lists_names && !place.iter().any(|keywords| names(keywords, name)) {
                            unknown.push(path);
                            continue;
                        }
                        let place = self.step(root, &place, Key::Name(name), false);
                        open.push((path, value, place));
                    }
                }
                Value::Array(items) => {
                    for (index, value) in items.iter().enumerate() {
                        let place = self.step(root, &place, Key::Index(index), false);
                        open.push((below(&path, &index.to_string()), value, place));
                    }
                }
                _ => {}
            }
        }
        unknown
    }

    /// Whether the schemas of a place say all the names that it has, as far as can be seen from here:
    /// a reference to another document may have more.
    fn lists_names(&self, root: &Value, place: &[&Keywords]) -> bool {
        let leads_outside = |keywords: &&Keywords| {
            let references = ["$ref", "$dynamicRef", "$recursiveRef"];
            let mut targets = references.iter().filter_map(|name| keywords.get(*name)?.as_str());
            targets.any(|target| self.resolve(root, target).is_none())
        };
        place.len() < MOST_SCHEMAS
            && place.iter().any(|keywords| keywords.contains_key("properties"))
            && !place.iter().any(leads_outside)
    }
}

/// Whether a schema has a name, or explicitly takes any.
fn names(keywords: &Keywords, name: &str) -> bool {
    let others = ["additionalProperties", "unevaluatedProperties"];
    let takes_any = |key| matches!(keywords.get(key), Some(Value::Bool(true) | Value::Object(_)));
    let has = |schema: &Value| schema.get("properties").is_some_and(|all| all.get(name).is_some());
    let dependent = keywords.get("dependentSchemas").and_then(Value::as_object);
    let required = keywords.get("required").and_then(Value::as_array);
    let patterns = keywords.get("patternProperties").and_then(Value::as_object);
    // A pattern that only the validator can read is taken to fit.
    let fits = |pattern: &String| regex::Regex::new(pattern).map_or(true, |it| it.is_match(name));
    keywords.get("properties").is_some_and(|all| all.get(name).is_some())
        || required.is_some_and(|all| all.iter().any(|one| one == name))
        || others.into_iter().any(takes_any)
        || keywords.get("if").is_some_and(has)
        || dependent.is_some_and(|all| all.values().any(has))
        || patterns.is_some_and(|all| all.keys().any(fits))
}
