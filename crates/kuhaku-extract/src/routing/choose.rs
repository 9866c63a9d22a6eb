//! The choice as a call of its own: an extraction of one word.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Chosen, Router, Routing};
use crate::context::Given;
use crate::error::Result;
use crate::extractor::Extractor;
use crate::outcome::ExtractionStatus;
use crate::parts::Core;
use crate::pipeline::Pipeline;
use crate::request::ExtractRequest;
use crate::schema::Schema;
use crate::settings::EvidenceMode;
use crate::steps::{LookingUp, SlotFilling};

/// Where the chosen name stands in the reply.
const CHOICE: &str = "choice";

/// Says what belongs to something that is already under way.
pub(super) const EARLIER_RULE: &str = "Something may already be known of some kinds, from earlier \
    messages. A text that completes or corrects what is known of a kind belongs to that kind.";

/// The extractor of the choice, with the parts of the first one.
pub(super) fn chooser(
    first: &Extractor,
    extractors: &[Extractor],
    instructions: Option<&str>,
) -> Result<Extractor> {
    let names: Vec<&str> = extractors.iter().map(|it| it.schema().name()).collect();
    let mut options: Vec<Value> = names.iter().map(|name| Value::from(*name)).collect();
    options.push(Value::Null);
    let schema = Schema::from_json(&json!({
        "title": "route",
        "type": "object",
        "properties": {CHOICE: {
            "description": "the kind that the text is of, or null when it is of none of them",
            "enum": options,
        }},
        "required": [CHOICE],
    }))?;
    let schema = schema.instructed(catalogue(extractors, instructions))?;
    let core = &first.core;
    let mut settings = core.settings.clone();
    settings.evidence = EvidenceMode::Off;
    let mut pipeline = Pipeline::new();
    pipeline.remove(SlotFilling::NAME)?;
    pipeline.remove(LookingUp::NAME)?;
    let core = Core { schema, settings, pipeline, ..Core::clone(core) };
    Ok(Extractor { core: Arc::new(core) })
}

/// The kinds of text, and what the application says about choosing.
pub(super) fn catalogue(extractors: &[Extractor], instructions: Option<&str>) -> String {
    let mut text = "Choose of which of these kinds the source text is:".to_owned();
    for extractor in extractors {
        let schema = extractor.schema();
        let about = schema.description().unwrap_or("no description");
        text.push_str(&format!("\n- {}: {about}", schema.name()));
    }
    if let Some(instructions) = instructions {
        text.push_str("\n\n");
        text.push_str(instructions.trim());
    }
    text
}

impl Router {
    /// Has the model choose. A choice that stays unusable is none.
    pub(super) async fn choose(&self, routing: &Routing<'_>) -> Result<Chosen> {
        let chooser = &self.parts.chooser;
        let mut request = ExtractRequest::new(routing.request.text.clone());
        request.history.clone_from(&routing.request.history);
        request.reference = reference(routing);
        let mut chooser = chooser.clone();
        if !routing.earlier.is_empty() {
            let core = Arc::make_mut(&mut chooser.core);
            let rules = core.schema.instructions().unwrap_or_default();
            core.schema = core.schema.clone().instructed(format!("{rules}\n\n{EARLIER_RULE}"))?;
        }
        let id = routing.trace_id.clone();
        let mut chosen = chooser.work(&request, routing.limit, id, Given::default()).await?;
        let (attempts, usage) = (chosen.attempts, chosen.usage);
        if chosen.status == ExtractionStatus::Blocked {
            chosen.schema = None;
            return Ok(Chosen { name: None, blocked: Some(chosen), attempts, usage });
        }
        if chosen.status == ExtractionStatus::Failed {
            tracing::warn!(attempts, "the model has chosen none of the schemas");
        }
        let choice = chosen.value.as_ref().and_then(|value| value.get(CHOICE));
        let name = choice.and_then(Value::as_str).map(str::to_owned);
        Ok(Chosen { name, blocked: None, attempts, usage })
    }
}

/// What the caller gives and what is known, each under its name.
fn reference(routing: &Routing<'_>) -> Option<Value> {
    let given = routing.request.reference.clone();
    if routing.earlier.is_empty() {
        return given;
    }
    let mut both = Map::new();
    both.extend(given.map(|given| ("reference".to_owned(), given)));
    both.insert("known".into(), json!(routing.earlier));
    Some(Value::Object(both))
}
