//! Taking values out that the text does not state, so that what was known stands again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::looking_up::covers;
use crate::context::Context;
use crate::outcome::Provenance;
use crate::result::{FieldReport, Grounding};
use crate::schema::Schema;
use crate::tree::{has_items, is_item, item_above, list_above, remove, says_something, set};

/// Takes out what the text does not state. What was known before stands again. Items of lists have no
/// names: what was known of one stands again where the rest of it is what it was, and a list of which
/// nothing is left stands again whole.
pub(super) fn take_out(context: &mut Context, unstated: &[(String, Option<Grounding>)]) {
    let Some(original) = context.data().cloned() else { return };
    let known = context.known.as_ref().map(|known| known.kept.clone()).unwrap_or_default();
    let same = items_that_stay(&context.core.schema, &original, &known, unstated);
    let mut data = original.clone();
    let (mut restored, mut lists) = (Vec::new(), BTreeSet::new());
    let mut removed: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    // From the end, so that places of a list stay what they are.
    for (path, _) in unstated.iter().rev() {
        let list = list_above(&original, path);
        lists.extend(list);
        let item = list.and_then(|list| item_above(path, list));
        let may_stand = item.is_none_or(|item| same.contains(item));
        let before = known.pointer(path).filter(|before| may_stand && !before.is_null());
        if let Some(before) = before {
            set(&mut data, path, before.clone());
            restored.push(path.clone());
        } else if is_item(&data, path) {
            remove(&mut data, path);
            if let Some((holder, place)) = path.rsplit_once('/') {
                removed.entry(holder).or_default().extend(place.parse::<usize>());
            }
        } else {
            set(&mut data, path, Value::Null);
        }
    }
    let fields = std::mem::take(&mut context.fields);
    let (gone, kept): (Vec<_>, Vec<_>) =
        fields.into_iter().partition(|(path, _)| unstated.iter().any(|(it, _)| it == path));
    context.fields = kept.into_iter().map(|(path, it)| (moved(&path, &removed), it)).collect();
    for (path, report) in gone {
        context.fields.entry(path).or_insert(report);
    }
    for list in lists {
        let Some(before) = known.pointer(list).filter(|before| has_items(before)) else { continue };
        let left = data.pointer(list).and_then(Value::as_array);
        if !left.is_some_and(|items| items.iter().any(says_something)) {
            set(&mut data, list, before.clone());
            context.fields.retain(|path, _| !covers(list, path));
            let leaves = context.core.schema.leaves(&known);
            restored.extend(leaves.map(|leaf| leaf.path).filter(|path| covers(list, path)));
        }
    }
    for path in restored {
        context.corrections.retain(|correction| correction.path != path);
        let report = FieldReport { provenance: Provenance::Prior, grounding: None, evidence: None };
        context.fields.insert(path, report);
    }
    context.set_data(&data);
}

/// The items of lists that are, as far as the text states them, what they were before.
fn items_that_stay(
    schema: &Schema,
    data: &Value,
    known: &Value,
    unstated: &[(String, Option<Grounding>)],
) -> BTreeSet<String> {
    let unstated: BTreeSet<&str> = unstated.iter().map(|(path, _)| path.as_str()).collect();
    let (mut same, mut other) = (BTreeSet::new(), BTreeSet::new());
    for leaf in schema.leaves(data) {
        if leaf.value.is_null() || unstated.contains(leaf.path.as_str()) {
            continue;
        }
        let list = list_above(data, &leaf.path);
        let Some(item) = list.and_then(|list| item_above(&leaf.path, list)) else { continue };
        let stays = known.pointer(&leaf.path) == Some(leaf.value);
        if stays { &mut same } else { &mut other }.insert(item.to_owned());
    }
    same.retain(|item| !other.contains(item));
    same
}

/// Where a value stands after items before it were taken out.
fn moved(path: &str, removed: &BTreeMap<&str, Vec<usize>>) -> String {
    let mut now = String::new();
    let mut before = 0;
    for token in path.split('/').skip(1) {
        let holder = path.get(..before).unwrap_or_default();
        let place = removed.get(holder).zip(token.parse::<usize>().ok());
        match place {
            Some((gone, place)) => {
                let shift = gone.iter().filter(|it| **it < place).count();
                now.push_str(&format!("/{}", place.saturating_sub(shift)));
            }
            None => now.push_str(&format!("/{token}")),
        }
        before += token.len() + 1;
    }
    now
}
