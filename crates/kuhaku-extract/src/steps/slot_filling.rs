//! Going on from what is known.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::extracting::data_of;
use crate::context::Context;
use crate::merge::{Edits, merge};
use crate::prompt::ReplyKey;
use crate::result::Correction;
use crate::step::{Step, StepError};
use crate::tree::{set, without_nulls};

#[derive(Debug)]
pub(crate) struct SlotFilling;

impl SlotFilling {
    pub(crate) const NAME: &'static str = "slot_filling";

    /// The rules and keys of a reply that goes on from what is known.
    pub(crate) const RULE: &'static str = "Some values are known from earlier messages. Put under \
        `data` what the source text itself adds or changes; leave null what it does not mention, as \
        the known value then stays.";

    pub(crate) fn keys() -> [ReplyKey; 4] {
        let paths = "by JSON Pointer, such as \"/note\"";
        let edits = json!({
            "type": ["array", "null"],
            "items": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "values": {"type": "array"},
                },
                "required": ["path", "values"],
                "additionalProperties": false,
            },
        });
        let key = |name, about: String, schema| ReplyKey { name, about, schema };
        [
            key(
                "new",
                "true when the source text begins another one, separate from the known values; \
                 else false"
                    .into(),
                json!({"type": ["boolean", "null"]}),
            ),
            key(
                "clear",
                format!("known values that the source text takes back, {paths}; else []"),
                json!({"type": ["array", "null"], "items": {"type": "string"}}),
            ),
            key(
                "append",
                format!(
                    "items that the source text adds to known lists: objects with `path`, {paths}, \
                     and `values`, a list; else []"
                ),
                edits.clone(),
            ),
            key(
                "remove",
                "items that it takes from known lists, in the same form; else []".into(),
                edits,
            ),
        ]
    }
}

#[async_trait]
impl Step for SlotFilling {
    fn name(&self) -> &str {
        Self::NAME
    }

    async fn prepare(&self, context: &mut Context) -> Result<(), StepError> {
        let Some(known) = &context.known else { return Ok(()) };
        let content = without_nulls(&known.shown).to_string();
        context.add_block("known", "Values known from earlier messages", content);
        context.add_rule(Self::RULE);
        context.keys.extend(Self::keys());
        Ok(())
    }

    async fn run(&self, context: &mut Context) -> Result<(), StepError> {
        let Some(known) = context.known.clone() else { return Ok(()) };
        let Some(checked) = &context.checked else { return Ok(()) };
        let Some(reply) = context.asked.reply.clone() else {
            // Nothing was asked: what is known is all there is, and no default replaces it.
            let mut data = checked.value.clone();
            for path in &checked.defaults {
                set(&mut data, path, Value::Null);
            }
            context.set_data(&merge(&known.kept, &data, &Edits::default()));
            return Ok(());
        };
        let edits = Edits::read(&reply);
        if edits.new {
            // A new one of which nothing can be used has not begun: what is known stands.
            if checked.problems.iter().all(|problem| !problem.path.is_empty()) {
                context.known = None;
            }
            return Ok(());
        }
        // Not the checked data: a default must not stand for what the text leaves open.
        let mut data = data_of(&reply).cloned().unwrap_or_default();
        unmasked(&mut data, &known.shown, &known.kept);
        context.set_data(&merge(&known.kept, &data, &edits));
        let now = context.data().cloned().unwrap_or_default();
        context.corrections = corrections(context, &known.kept, &now);
        Ok(())
    }
}

/// Where the model repeats a masked value that is known, the value itself is meant.
fn unmasked(data: &mut Value, shown: &Value, kept: &Value) {
    if shown == kept {
        return;
    }
    let mut open = vec![String::new()];
    while let Some(path) = open.pop() {
        let Some(value) = data.pointer(&path) else { continue };
        match value {
            Value::Object(entries) => open.extend(
                entries
                    .keys()
                    .map(|name| format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))),
            ),
            Value::Array(items) => open.extend((0..items.len()).map(|at| format!("{path}/{at}"))),
            Value::String(_) if shown.pointer(&path) == Some(value) => {
                if let Some(kept) = kept.pointer(&path) {
                    set(data, &path, kept.clone());
                }
            }
            _ => {}
        }
    }
}

/// The known values that are others now.
fn corrections(context: &Context, before: &Value, now: &Value) -> Vec<Correction> {
    let mut corrections = Vec::new();
    for leaf in context.core.schema.leaves(before).filter(|leaf| !leaf.value.is_null()) {
        let to = now.pointer(&leaf.path).cloned().unwrap_or_default();
        if to != *leaf.value {
            corrections.push(Correction { path: leaf.path, from: leaf.value.clone(), to });
        }
    }
    corrections
}
