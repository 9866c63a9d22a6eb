//! Where each value came from, and whether the text states it.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::taking_out::take_out;
use crate::context::Context;
use crate::error::Result;
use crate::evidence::{Evidence, Finding, Source, Span};
use crate::issue::{Issue, IssueKind};
use crate::merge::pointer;
use crate::observed;
use crate::outcome::Provenance;
use crate::prompt::ReplyKey;
use crate::result::{FieldReport, Grounding, Quote};
use crate::settings::EvidenceMode;
use crate::step::{Step, StepError};
use crate::tree::{item_above, list_above};

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
        Ok(observed::evidence(&runtime).measure(|_| look_up(context))?)
    }
}

/// # Errors
/// When the time is over: many values in a long text take a while (R12).
fn look_up(context: &mut Context) -> Result<()> {
    let Some(checked) = &context.checked else { return Ok(()) };
    let core = context.core.clone();
    let mode = core.settings.evidence;
    let quotes = context.asked.reply.as_ref().map(quotes).unwrap_or_default();
    let said = context.asked.reply.as_ref().and_then(|reply| reply.get("data"));
    let mut known = Before::new(context.known.as_ref().map(|known| &known.kept));
    let source = (mode != EvidenceMode::Off).then(|| Source::new(&context.text));
    let mut fields = Vec::new();
    let mut unstated = Vec::new();
    for leaf in core.schema.leaves(&checked.value).filter(|leaf| !leaf.value.is_null()) {
        let before = known.value(&checked.value, &leaf.path);
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
        if source.is_some() && context.limit.is_over() {
            return Err(context.limit.passed());
        }
        let report = match &source {
            Some(source)
                if origin != Provenance::Default && (in_reply || origin != Provenance::Prior) =>
            {
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
    Ok(())
}

/// What is known, as values of a turn are compared with it.
struct Before<'k> {
    known: Option<&'k Value>,
    /// The items of each list that is known.
    items: HashMap<String, HashSet<&'k Value>>,
}

impl<'k> Before<'k> {
    fn new(known: Option<&'k Value>) -> Self {
        Self { known, items: HashMap::new() }
    }

    /// What stood before at a place of the data. Other items of a list may have come or gone: one
    /// that is known as it is was there before, at whatever place.
    fn value(&mut self, data: &'k Value, path: &str) -> Option<&'k Value> {
        let known = self.known?;
        if let Some(list) = list_above(data, path)
            && let Some(item) = item_above(path, list).and_then(|item| data.pointer(item))
            && let Some(items) = known.pointer(list).and_then(Value::as_array)
        {
            let there = || items.iter().collect();
            if self.items.entry(list.to_owned()).or_insert_with(there).contains(item) {
                return data.pointer(path);
            }
        }
        known.pointer(path)
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
pub(super) fn covers(path: &str, other: &str) -> bool {
    other.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
