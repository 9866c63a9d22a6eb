//! Choosing and extracting in one call.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::choose::{EARLIER_RULE, catalogue};
use super::{Router, Routing};
use crate::ask::{Ask, Asked};
use crate::context::{Context, side_blocks, source_block};
use crate::error::Result;
use crate::extractor::Extractor;
use crate::issue::status;
use crate::nesting::nest;
use crate::outcome::ExtractionStatus;
use crate::prompt::{Block, Prompt, ReplyKey};
use crate::result::Extraction;
use crate::schema::Problem;
use crate::steps::SlotFilling;

/// The key of the reply that names the schema.
const CHOICE: &str = "choice";

/// A reply, as far as it is clear.
enum Said<'a> {
    Nothing,
    Unknown,
    Of(&'a Extractor, &'a Value),
}

impl Router {
    pub(super) async fn ask_at_once(&self, routing: &Routing<'_>) -> Result<Extraction> {
        let core = self.core();
        let mut contexts = Vec::new();
        for extractor in &self.parts.extractors {
            let name = extractor.schema().name();
            let (limit, id) = (routing.limit, routing.trace_id.clone());
            let request = routing.request_for(name);
            let mut context = Context::new(&extractor.core, &request, limit, id)?;
            extractor.core.pipeline.prepare(&mut context).await?;
            if context.is_stopped() {
                let mut blocked = context.finish();
                (blocked.schema, blocked.state) = (None, None);
                return Ok(blocked);
            }
            contexts.push(context);
        }
        let prompt = self.prompt(&contexts);
        let read = |reply: &Value| -> Option<Vec<Problem>> {
            match self.said(reply)? {
                Said::Nothing => Some(Vec::new()),
                Said::Unknown => {
                    let faults = "is none of the names of the kinds, and not null";
                    Some(vec![Problem::new(format!("/{CHOICE}"), faults)])
                }
                Said::Of(extractor, data) => {
                    let schema = extractor.schema();
                    let checked = schema.check(data, &extractor.core.coercion);
                    let place = |problem: Problem| {
                        let path = format!("/{}{}", escaped(schema.name()), problem.path);
                        Problem::new(path, problem.message)
                    };
                    Some(checked.problems.into_iter().map(place).collect())
                }
            }
        };
        let (limit, used) = (routing.limit, kuhaku_core::Usage::default());
        let ask = Ask { core, prompt: &prompt, read: &read, limit, outlet: None, used };
        let mut asked = ask.run().await?;
        drop(prompt);
        let Some(reply) = asked.reply.take() else {
            let mut failed = Extraction::new(status(&asked.issues), routing.trace_id.clone());
            failed.issues = std::mem::take(&mut asked.issues);
            return Ok(spent(failed, asked));
        };
        let chosen = match self.said(&reply) {
            Some(Said::Of(extractor, _)) => extractor,
            _ => return Ok(spent(routing.no_match(), asked)),
        };
        let name = chosen.schema().name();
        asked.reply = Some(of_schema(&reply, name));
        let at = self.parts.extractors.iter().position(|it| it.schema().name() == name);
        let Some(mut context) = at.map(|at| contexts.swap_remove(at)) else {
            return Ok(spent(routing.no_match(), asked));
        };
        context.given.asked = Some(asked);
        chosen.run(context).await
    }

    /// What a reply says, if it has the form of one.
    fn said<'a>(&'a self, reply: &'a Value) -> Option<Said<'a>> {
        let data = reply.get("data")?.as_object()?;
        let name = match reply.get(CHOICE)? {
            Value::Null => return Some(Said::Nothing),
            Value::String(name) => name.trim(),
            _ => return None,
        };
        let exact = self.extractor(name);
        let folded = || {
            let name = name.to_lowercase();
            let mut fitting = self.parts.extractors.iter();
            fitting.find(|it| it.schema().name().to_lowercase() == name)
        };
        let Some(extractor) = exact.or_else(folded) else { return Some(Said::Unknown) };
        let data = data.get(extractor.schema().name()).filter(|data| data.is_object())?;
        Some(Said::Of(extractor, data))
    }

    fn prompt<'a>(&'a self, contexts: &'a [Context]) -> Prompt<'a> {
        let extractors = &self.parts.extractors;
        let mut task = vec![catalogue(extractors, self.parts.instructions.as_deref())];
        let mut known = BTreeMap::new();
        let (mut rules, mut keys) = (Vec::<String>::new(), vec![choice_key(extractors)]);
        let (mut steps, mut blocks) = (Vec::<Block<'a>>::new(), Vec::new());
        for (extractor, context) in extractors.iter().zip(contexts) {
            let schema = extractor.schema();
            if let Some(instructions) = schema.instructions() {
                task.push(format!("For the kind {}: {instructions}", schema.name()));
            }
            if let Some(prior) = context.prior() {
                known.insert(schema.name(), crate::tree::without_nulls(prior));
            }
            for rule in context.rules.iter().filter(|rule| *rule != SlotFilling::RULE) {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
            for key in &context.keys {
                if !keys.iter().any(|other| other.name == key.name) {
                    keys.push(key.clone());
                }
            }
            for block in context.blocks.iter().filter(|block| block.label != "known") {
                if !steps.iter().any(|it| it.label == block.label && it.content == block.content) {
                    steps.push(block.borrowed());
                }
            }
        }
        if let Some(first) = contexts.first() {
            blocks.extend(side_blocks(first.reference(), first.history()));
        }
        if !known.is_empty() {
            let heading = "Values known from earlier messages, by kind";
            blocks.push(Block {
                label: "known",
                heading,
                content: json!(known).to_string().into(),
            });
            rules.extend([EARLIER_RULE.to_owned(), SlotFilling::RULE.to_owned()]);
        }
        blocks.extend(steps);
        if let Some(first) = contexts.first() {
            blocks.push(source_block(first.text()));
        }
        let wire = wire(extractors);
        rules.push(
            "Under `data`, fill in the object of the chosen kind and write null for each other \
             kind. Pointers begin within that object."
                .to_owned(),
        );
        let wire_text = Cow::Owned(wire.to_string());
        Prompt {
            framing: &self.core().framing,
            task,
            rules: Cow::Owned(rules),
            blocks,
            keys: Cow::Owned(keys),
            wire: Cow::Owned(wire),
            wire_text,
        }
    }
}

fn choice_key(extractors: &[Extractor]) -> ReplyKey {
    let mut options: Vec<Value> = extractors.iter().map(|it| it.schema().name().into()).collect();
    options.push(Value::Null);
    ReplyKey {
        name: CHOICE,
        about: "the name of the kind that the source text is of; null when it is of none".into(),
        schema: json!({"type": ["string", "null"], "enum": options}),
    }
}

/// An object with each schema under its name, or null there.
fn wire(extractors: &[Extractor]) -> Value {
    let (mut properties, mut definitions) = (Map::new(), Map::new());
    for extractor in extractors {
        let schema = extractor.schema();
        let name = schema.name();
        let place = format!("#/properties/{}/anyOf/0", escaped(name));
        let (nested, moved) = nest(schema.wire(), &place, &format!("{name}."));
        properties.insert(name.into(), json!({"anyOf": [nested, {"type": "null"}]}));
        for (keyword, schemas) in moved {
            let known = definitions.entry(keyword).or_insert_with(|| json!({}));
            if let (Some(known), Value::Object(schemas)) = (known.as_object_mut(), schemas) {
                known.extend(schemas);
            }
        }
    }
    let names: Vec<&String> = properties.keys().collect();
    let mut wire = json!({
        "type": "object",
        "required": names,
        "properties": properties,
        "additionalProperties": false,
    });
    if let Some(wire) = wire.as_object_mut() {
        wire.extend(definitions);
    }
    wire
}

/// The reply as the chosen extractor would have got it alone.
fn of_schema(reply: &Value, name: &str) -> Value {
    let mut own = reply.clone();
    let data = own.get("data").and_then(|data| data.get(name)).cloned().unwrap_or_default();
    let prefix = format!("/{}", escaped(name));
    let taken = data.get(name).is_some();
    let within = |path: &str| -> Option<String> {
        let path = crate::merge::pointer(path)?;
        let shorter = path.strip_prefix(&prefix).filter(|rest| rest.starts_with('/') && !taken);
        Some(shorter.map_or_else(|| path.clone(), str::to_owned))
    };
    for key in ["clear", "append", "remove", "evidence"] {
        let entries = own.get_mut(key).and_then(Value::as_array_mut);
        for entry in entries.into_iter().flatten() {
            let place = match entry {
                Value::Object(_) => entry.get_mut("path"),
                other => Some(other),
            };
            if let Some(place) = place
                && let Some(path) = place.as_str().and_then(within)
            {
                *place = Value::String(path);
            }
        }
    }
    if let Some(own) = own.as_object_mut() {
        own.insert("data".into(), data);
    }
    own
}

/// A result without a schema, with what was used for it.
fn spent(mut result: Extraction, asked: Asked) -> Extraction {
    debug_assert!(result.status >= ExtractionStatus::Failed);
    (result.attempts, result.usage) = (asked.attempts, asked.usage);
    (result.llm, result.repairs) = (asked.llm, asked.repairs);
    result
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
