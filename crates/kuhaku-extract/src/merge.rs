//! One turn on top of those before.
//!
//! | in the reply | what becomes of the earlier value |
//! |---|---|
//! | null, or an empty list | it stays |
//! | an object | its names are merged one by one |
//! | anything else | it is replaced |
//! | its pointer in `clear` | it is null, or an empty list; an item of a list is taken out |
//! | its pointer in `append` | the list gets further items |
//! | its pointer in `remove` | the list loses the items that are named |
//! | `"new": true` | nothing stays |

use serde_json::Value;

use crate::tree::{remove, set};

/// The most edits of one reply; more are left out.
const MOST_EDITS: usize = 256;

/// What a reply wants done beside its data.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Edits {
    /// The text begins another one.
    pub(crate) new: bool,
    clear: Vec<String>,
    append: Vec<(String, Vec<Value>)>,
    remove: Vec<(String, Vec<Value>)>,
}

impl Edits {
    /// Reads a reply. What has another form than asked for counts as not said.
    pub(crate) fn read(reply: &Value) -> Self {
        let listed = |name: &str| {
            let all = reply.get(name).and_then(Value::as_array);
            all.into_iter().flatten().take(MOST_EDITS)
        };
        let pointers = listed("clear").filter_map(|it| pointer(it.as_str()?));
        let edits = |name: &str| -> Vec<(String, Vec<Value>)> {
            let edit = |it: &Value| {
                let path = pointer(it.get("path")?.as_str()?)?;
                let values = match it.get("values")? {
                    Value::Array(values) => values.clone(),
                    Value::Null => return None,
                    one => vec![one.clone()],
                };
                Some((path, values))
            };
            listed(name).filter_map(edit).collect()
        };
        Self {
            new: reply.get("new") == Some(&Value::Bool(true)),
            clear: pointers.collect(),
            append: edits("append"),
            remove: edits("remove"),
        }
    }
}

/// A pointer as models write it: perhaps without the slash, perhaps from the root of the reply.
pub(crate) fn pointer(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix('#').unwrap_or(text);
    let path = if text.starts_with('/') { text.to_owned() } else { format!("/{text}") };
    let path = path.trim_end_matches('/');
    let path = path.strip_prefix("/data/").map_or_else(|| path.to_owned(), |it| format!("/{it}"));
    (path.len() > 1).then_some(path)
}

/// The data after this turn.
pub(crate) fn merge(prior: &Value, data: &Value, edits: &Edits) -> Value {
    let mut merged = prior.clone();
    for path in deepest_first(&edits.clear) {
        clear(&mut merged, path);
    }
    merge_into(&mut merged, data);
    for (path, values) in &edits.remove {
        take_out(&mut merged, path, values);
    }
    for (path, values) in &edits.append {
        // A model that writes the whole list as well means the same items.
        let written = data.pointer(path).and_then(Value::as_array).is_some_and(|it| !it.is_empty());
        append(&mut merged, path, values, written);
    }
    merged
}

fn merge_into(into: &mut Value, data: &Value) {
    match (into, data) {
        (_, Value::Null) => {}
        (Value::Array(known), Value::Array(items)) if items.is_empty() && !known.is_empty() => {}
        (Value::Object(known), Value::Object(entries)) => {
            for (name, value) in entries {
                match known.get_mut(name) {
                    Some(place) => merge_into(place, value),
                    None => {
                        known.insert(name.clone(), value.clone());
                    }
                }
            }
        }
        (into, data) => *into = data.clone(),
    }
}

/// Items of a list from the end, so that places stay what they are.
fn deepest_first(paths: &[String]) -> Vec<&String> {
    let mut paths: Vec<&String> = paths.iter().collect();
    let key = |path: &str| {
        let (holder, last) = path.rsplit_once('/').unwrap_or_default();
        (holder.to_owned(), last.parse::<usize>().unwrap_or_default())
    };
    paths.sort_by_cached_key(|path| std::cmp::Reverse(key(path)));
    paths.dedup();
    paths
}

fn clear(tree: &mut Value, path: &str) {
    let of_list = path.rsplit_once('/').and_then(|(holder, _)| tree.pointer(holder));
    if of_list.is_some_and(Value::is_array) {
        remove(tree, path);
    } else if let Some(place) = tree.pointer_mut(path) {
        *place = match place {
            Value::Array(_) => Value::Array(Vec::new()),
            _ => Value::Null,
        };
    }
}

fn take_out(tree: &mut Value, path: &str, values: &[Value]) {
    let Some(items) = tree.pointer_mut(path).and_then(Value::as_array_mut) else { return };
    for value in values {
        if let Some(place) = items.iter().position(|item| is_meant(item, value)) {
            items.remove(place);
        }
    }
}

fn append(tree: &mut Value, path: &str, values: &[Value], written: bool) {
    let values: Vec<Value> = values.iter().filter(|value| !value.is_null()).cloned().collect();
    match tree.pointer_mut(path) {
        Some(Value::Array(items)) => {
            for value in values {
                if !(written && items.contains(&value)) {
                    items.push(value);
                }
            }
        }
        Some(place @ Value::Null) => *place = Value::Array(values),
        Some(_) => {}
        None => {
            set(tree, path, Value::Array(values));
        }
    }
}

/// Whether an item is the one that is named: the same text in any case, or an object with all the
/// names and values that are given.
fn is_meant(item: &Value, named: &Value) -> bool {
    match (item, named) {
        (Value::String(item), Value::String(named)) => {
            item.trim().to_lowercase() == named.trim().to_lowercase()
        }
        (Value::Object(item), Value::Object(named)) => {
            let mut said = named.iter().filter(|(_, value)| !value.is_null()).peekable();
            said.peek().is_some()
                && said.all(|(name, value)| item.get(name).is_some_and(|it| is_meant(it, value)))
        }
        (item, named) => item == named,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn turn(prior: Value, reply: Value) -> Value {
        let data = reply.get("data").cloned().unwrap_or(Value::Null);
        merge(&prior, &data, &Edits::read(&reply))
    }

    /// EXT-12
    #[test]
    fn what_a_reply_says_nothing_of_stays_and_what_it_clears_goes() {
        let table = [
            (json!({"i": ["a"]}), json!({"data": {"i": ["b"]}}), json!({"i": ["b"]})),
            (json!({"i": ["a"]}), json!({"data": {"i": []}}), json!({"i": ["a"]})),
            (json!({"i": ["a"]}), json!({"data": {"i": []}, "clear": ["/i"]}), json!({"i": []})),
            (json!({"n": "x"}), json!({"data": {"n": null}, "clear": ["n"]}), json!({"n": null})),
            (
                json!({"n": "x"}),
                json!({"data": {"n": "y"}, "clear": ["/data/n"]}),
                json!({"n": "y"}),
            ),
            (
                json!({"a": {"street": "x", "city": "y"}}),
                json!({"data": {"a": {"street": null, "city": "z"}}}),
                json!({"a": {"street": "x", "city": "z"}}),
            ),
            (json!({"a": {"b": 1}}), json!({"data": {"a": null}}), json!({"a": {"b": 1}})),
            (json!({}), json!({"data": {}, "clear": ["/gone", "", "/"]}), json!({})),
            (json!({"n": 1}), json!({"data": {}, "clear": "/n", "new": "yes"}), json!({"n": 1})),
        ];
        for (prior, reply, expected) in table {
            assert_eq!(turn(prior, reply.clone()), expected, "{reply}");
        }
    }

    #[test]
    fn lists_are_appended_to_and_taken_from() {
        let prior =
            || json!({"i": ["a", "B", "c"], "l": [{"p": "tea", "q": 1}, {"p": "nut", "q": 2}]});
        let table = [
            (
                json!({"append": [{"path": "/i", "values": ["d", "a"]}]}),
                "/i",
                json!(["a", "B", "c", "d", "a"]),
            ),
            (json!({"append": [{"path": "i", "values": "d"}]}), "/i", json!(["a", "B", "c", "d"])),
            (json!({"remove": [{"path": "/i", "values": ["b", "x"]}]}), "/i", json!(["a", "c"])),
            (json!({"clear": ["/i/0", "/i/2"]}), "/i", json!(["B"])),
            (
                json!({"remove": [{"path": "/l", "values": [{"p": "Tea", "q": null}]}]}),
                "/l",
                json!([{"p": "nut", "q": 2}]),
            ),
            (json!({"remove": [{"path": "/l", "values": [{}]}]}), "/l", prior()["l"].clone()),
            (json!({"append": [{"path": "/new", "values": [1, null]}]}), "/new", json!([1])),
            (
                json!({"data": {"i": ["a", "d"]}, "append": [{"path": "/i", "values": ["d"]}]}),
                "/i",
                json!(["a", "d"]),
            ),
        ];
        for (reply, path, expected) in table {
            assert_eq!(turn(prior(), reply.clone()).pointer(path), Some(&expected), "{reply}");
        }
    }
}
