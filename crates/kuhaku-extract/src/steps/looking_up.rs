//! Where each value came from, and whether the text states it.

use std::collections::HashMap;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::context::Context;
use crate::evidence::{Evidence, Finding, Source, Span};
use crate::issue::{Issue, IssueKind};
use crate::merge::pointer;
use crate::observed;
use crate::outcome::Provenance;
use crate::prompt::ReplyKey;
use crate::result::{FieldReport, Grounding, Quote};
use crate::settings::EvidenceMode;
use crate::step::{Step, StepError};
use crate::tree::{remove, set};

/// The most quotes of one reply that are read.
const MOST_QUOTES: usize = 10_000;

#[derive(Debug)]
pub(crate) struct LookingUp;

impl LookingUp {
    pub(crate) const NAME: &'static str = "evidence";

    pub(crate) fn key() -> ReplyKey {
        ReplyKey {
            name: "evidence",
            about: "for each value that is not null an object with `path`, its JSON Pointer within \
                    `data`, such as \"/note\", and `quote`, the words of the source text that state \
                    it, copied character by character"
                .into(),
            schema: json!({
                "type": ["array", "null"],
                "items": {
                    "type": "object",
                    "properties": {
                        "path": {"type": "string"},
                        "quote": {"type": ["string", "null"]},
                    },
                    "required": ["path", "quote"],
                    "additionalProperties": false,
                },
            }),
        }
    }
}

#[async_trait]
impl Step for LookingUp {
    fn name(&self) -> &str {
        Self::NAME
    }

    async fn prepare(&self, context: &mut Context) -> Result<(), StepError> {
        if context.core.settings.evidence != EvidenceMode::Off {
            context.keys.push(Self::key());
        }
        Ok(())
    }

    async fn run(&self, context: &mut Context) -> Result<(), StepError> {
        let runtime = context.core.runtime.clone();
        observed::evidence(&runtime).measure(|_| look_up(context));
        Ok(())
    }
}

fn look_up(context: &mut Context) {
    let Some(checked) = &context.checked else { return };
    let core = context.core.clone();
    let mode = core.settings.evidence;
    let quotes = context.asked.reply.as_ref().map(quotes).unwrap_or_default();
    let said = context.asked.reply.as_ref().and_then(|reply| reply.get("data"));
    let known = context.known.as_ref().map(|known| &known.kept);
    let source = (mode != EvidenceMode::Off).then(|| Source::new(&context.text));
    let mut fields = Vec::new();
    let mut unstated = Vec::new();
    for leaf in core.schema.leaves(&checked.value).filter(|leaf| !leaf.value.is_null()) {
        let before = known.and_then(|known| known.pointer(&leaf.path));
        let in_reply = said.and_then(|said| said.pointer(&leaf.path));
        let in_reply = in_reply.is_some_and(|value| !value.is_null());
        let origin = if checked.defaults.iter().any(|path| covers(path, &leaf.path)) {
            Provenance::Default
        } else if before == Some(leaf.value) {
            Provenance::Prior
        } else if before.is_some_and(|before| !before.is_null()) {
            Provenance::Corrected
        } else {
            Provenance::Source
        };
        let report = match &source {
            Some(source) if origin != Provenance::Default && (in_reply || before.is_none()) => {
                let quote = quotes.get(leaf.path.as_str()).map(String::as_str);
                let found = Evidence::find(source, &leaf.path, leaf.value, quote);
                report(context, source, origin, found)
            }
            _ => FieldReport { provenance: origin, grounding: None, evidence: None },
        };
        if matches!(report.grounding, Some(Grounding::Mismatch | Grounding::Ungrounded)) {
            unstated.push((leaf.path.clone(), report.grounding));
        }
        fields.push((leaf.path, report));
    }
    context.fields.extend(fields);
    match mode {
        EvidenceMode::Invalid => {
            for (path, grounding) in unstated {
                let (code, message) = match grounding {
                    Some(Grounding::Mismatch) => {
                        ("mismatch", "the words given as evidence do not state the value")
                    }
                    _ => ("ungrounded", "the text does not state the value"),
                };
                context.untrusted.push(path.clone());
                context.issues.push(Issue::new(IssueKind::Invalid, code, message).at(path));
            }
        }
        EvidenceMode::Drop if !unstated.is_empty() => take_out(context, &unstated),
        _ => {}
    }
}

fn report(context: &Context, source: &Source, origin: Provenance, found: Finding) -> FieldReport {
    let (provenance, grounding, span) = match (found, origin) {
        // Said before, and said again in this text.
        (Finding::Grounded(span), Provenance::Prior) => {
            (Provenance::Source, Some(Grounding::Grounded), Some(span))
        }
        (_, Provenance::Prior) => (origin, None, None),
        (Finding::Grounded(span), _) => (origin, Some(Grounding::Grounded), Some(span)),
        (Finding::Mismatch(span), _) => (origin, Some(Grounding::Mismatch), Some(span)),
        (Finding::Ungrounded, _) => (origin, Some(Grounding::Ungrounded), None),
    };
    let evidence = span.and_then(|span| quote(context, source, span));
    FieldReport { provenance, grounding, evidence }
}

/// A stretch of the text that the model saw, as a place of the text that the caller gave (D16).
fn quote(context: &Context, source: &Source, span: Span) -> Option<Quote> {
    let text = source.text().get(span.bytes.clone())?.to_owned();
    let Some(map) = &context.mask else { return Some(Quote { span, text }) };
    let bytes = map.to_source(span.bytes);
    let before = context.original.get(..bytes.start)?.chars().count();
    let within = context.original.get(bytes.clone())?.chars().count();
    Some(Quote { span: Span { bytes, chars: before..before + within }, text })
}

/// Takes out what the text does not state. What was known before stands again.
fn take_out(context: &mut Context, unstated: &[(String, Option<Grounding>)]) {
    let Some(mut data) = context.data().cloned() else { return };
    let known = context.known.as_ref().map(|known| known.kept.clone());
    // From the end, so that places of a list stay what they are.
    for (path, _) in unstated.iter().rev() {
        let before = known.as_ref().and_then(|known| known.pointer(path));
        match before.filter(|before| !before.is_null()).cloned() {
            Some(before) => {
                set(&mut data, path, before);
                context.corrections.retain(|correction| correction.path != *path);
            }
            None if is_item(&data, path) => {
                remove(&mut data, path);
            }
            None => {
                set(&mut data, path, Value::Null);
            }
        }
    }
    context.set_data(&data);
}

fn is_item(data: &Value, path: &str) -> bool {
    let holder = path.rsplit_once('/').and_then(|(holder, _)| data.pointer(holder));
    holder.is_some_and(Value::is_array)
}

/// The quotes of a reply by path, as a list of objects or as one object.
fn quotes(reply: &Value) -> HashMap<String, String> {
    let entry = |path: &str, quote: &Value| Some((pointer(path)?, quote.as_str()?.to_owned()));
    match reply.get("evidence") {
        Some(Value::Array(all)) => all
            .iter()
            .take(MOST_QUOTES)
            .filter_map(|it| entry(it.get("path")?.as_str()?, it.get("quote")?))
            .collect(),
        Some(Value::Object(all)) => {
            all.iter().take(MOST_QUOTES).filter_map(|(path, quote)| entry(path, quote)).collect()
        }
        _ => HashMap::new(),
    }
}

/// Whether a path is another or leads into it.
fn covers(path: &str, other: &str) -> bool {
    other.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
