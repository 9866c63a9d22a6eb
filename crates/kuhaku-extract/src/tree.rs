//! Values as trees: places by JSON Pointer, and what can be done there.

use serde_json::Value;

use crate::schema::{Coercion, Schema};

/// Rounds in which wrong values are taken out before the rest is given up.
const ROUNDS: usize = 8;

/// The most levels of a value that comes with a text; readers of JSON stop there too.
pub(crate) const DEEPEST: usize = 128;

/// The holder of a place, and the last name on the path.
fn split(path: &str) -> Option<(&str, String)> {
    let (holder, token) = path.rsplit_once('/')?;
    Some((holder, token.replace("~1", "/").replace("~0", "~")))
}

/// A place of a list, as RFC 6901 writes them.
fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with(['0', '+']);
    token.parse().ok().filter(|_| plain)
}

/// Takes a value out: the name of an object, the item of a list. Gives what was there.
pub(crate) fn remove(tree: &mut Value, path: &str) -> Option<Value> {
    let (holder, token) = split(path)?;
    match tree.pointer_mut(holder)? {
        Value::Object(entries) => entries.remove(&token),
        Value::Array(items) => {
            let place = index(&token).filter(|place| *place < items.len())?;
            Some(items.remove(place))
        }
        _ => None,
    }
}

/// Puts a value where another is, or under a new name of an object. False where there is no place.
pub(crate) fn set(tree: &mut Value, path: &str, value: Value) -> bool {
    if let Some(place) = tree.pointer_mut(path) {
        *place = value;
        return true;
    }
    let Some((holder, token)) = split(path) else { return false };
    match tree.pointer_mut(holder) {
        Some(Value::Object(entries)) => {
            entries.insert(token, value);
            true
        }
        _ => false,
    }
}

/// Whether there is any value at all: something that is not null, in whatever nesting.
pub(crate) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Object(entries) => entries.values().any(says_something),
        _ => true,
    }
}

/// The same without nulls of objects.
pub(crate) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(entries) => Value::Object(
            entries
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.clone(), without_nulls(value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        scalar => scalar.clone(),
    }
}

/// What of some data fits the schema, read leniently: what does not is taken out.
pub(crate) fn valid_part(schema: &Schema, data: Value, coercion: &Coercion) -> Value {
    let mut data = data;
    for _ in 0..ROUNDS {
        let checked = schema.check(&data, coercion);
        if checked.problems.is_empty() {
            return checked.value;
        }
        data = checked.value;
        let mut changed = false;
        for path in from_the_end(checked.problems.iter().map(|it| it.path.as_str())) {
            changed |= remove(&mut data, path).is_some();
        }
        if !changed {
            break;
        }
    }
    Value::Object(serde_json::Map::new())
}

/// Paths in an order in which taking them out leaves the places of the others as they are.
pub(crate) fn from_the_end<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<&'p str> {
    let mut paths: Vec<&str> = paths.collect();
    paths.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| b.cmp(a)));
    paths.dedup();
    paths
}

/// The outermost list that a path leads through.
pub(crate) fn list_above<'p>(tree: &Value, path: &'p str) -> Option<&'p str> {
    let above = path.match_indices('/').filter_map(|(end, _)| path.get(..end));
    let mut lists = above.filter(|above| tree.pointer(above).is_some_and(Value::is_array));
    lists.next()
}

/// The item of that list that a path leads into.
pub(crate) fn item_above<'p>(path: &'p str, list: &str) -> Option<&'p str> {
    let rest = path.get(list.len() + 1..)?;
    let end = rest.find('/').map_or(path.len(), |end| list.len() + 1 + end);
    path.get(..end)
}

/// Whether a path is that of an item of a list.
pub(crate) fn is_item(tree: &Value, path: &str) -> bool {
    let holder = path.rsplit_once('/').and_then(|(holder, _)| tree.pointer(holder));
    holder.is_some_and(Value::is_array)
}

/// Whether it is a list with items.
pub(crate) fn has_items(value: &Value) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty())
}

/// About how many bytes a value takes in a prompt; none when it has more levels than the functions
/// here, and others that follow values down, have stack for.
pub(crate) fn size(value: &Value) -> Option<usize> {
    let (mut bytes, mut open) = (0_usize, vec![(value, 1)]);
    while let Some((value, depth)) = open.pop() {
        if depth > DEEPEST {
            return None;
        }
        bytes = bytes.saturating_add(match value {
            Value::String(text) => text.len(),
            Value::Array(items) => {
                open.extend(items.iter().map(|item| (item, depth + 1)));
                items.len()
            }
            Value::Object(entries) => {
                open.extend(entries.values().map(|item| (item, depth + 1)));
                entries.keys().map(|name| name.len() + 1).sum()
            }
            _ => 1,
        });
    }
    Some(bytes)
}

/// Changes names of objects, where there is another for one. No entry is lost by that.
pub(crate) fn map_names(value: &mut Value, change: &mut dyn FnMut(&str) -> Option<String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| map_names(item, change)),
        Value::Object(entries) => {
            for (name, mut value) in std::mem::take(entries) {
                map_names(&mut value, change);
                let name = change(&name).unwrap_or(name);
                let mut free = name.clone();
                let mut again = 1;
                while entries.contains_key(&free) {
                    again += 1;
                    free = format!("{name} {again}");
                }
                entries.insert(free, value);
            }
        }
        _ => {}
    }
}

/// Changes every text of a value.
pub(crate) fn map_texts(value: &mut Value, change: &mut dyn FnMut(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| map_texts(item, change)),
        Value::Object(entries) => {
            entries.values_mut().for_each(|value| map_texts(value, change));
        }
        _ => {}
    }
}

/// All texts of a value, names included.
pub(crate) fn texts(value: &Value) -> Vec<&str> {
    let (mut found, mut open) = (Vec::new(), vec![value]);
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => found.push(text.as_str()),
            Value::Array(items) => open.extend(items),
            Value::Object(entries) => {
                found.extend(entries.keys().map(String::as_str));
                open.extend(entries.values());
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_found_under_any_name() {
        let mut tree = json!({"a/b": {"~": [1, 2, 3]}, "n": null});
        assert_eq!(remove(&mut tree, "/a~1b/~0/1"), Some(json!(2)));
        assert_eq!(remove(&mut tree, "/a~1b/~0/01"), None);
        assert_eq!(remove(&mut tree, "/a~1b/~0/9"), None);
        assert!(set(&mut tree, "/n", json!(4)) && set(&mut tree, "/new", json!(5)));
        assert!(!set(&mut tree, "/gone/new", json!(6)));
        assert_eq!(tree, json!({"a/b": {"~": [1, 3]}, "n": 4, "new": 5}));
        assert!(!says_something(&json!({"a": null, "b": {"c": null}})));
        assert!(says_something(&json!({"a": []})));
    }
}
