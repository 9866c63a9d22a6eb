//! What comes back.

use std::collections::BTreeMap;

use kuhaku_core::{Redactions, TraceId, Usage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::evidence::Span;
use crate::issue::Issue;
use crate::outcome::{ExtractionStatus, Provenance};
use crate::reply::Repair;
use crate::schema::{Coerced, Missing};

/// The version of the JSON form of a result.
pub(crate) const JSON_VERSION: u32 = 1;

/// The result of one turn.
///
/// It survives a round trip through JSON, so that a service without state may have its client keep it
/// and send it back as [`Prior`](crate::Prior) of the next turn. What a client sends is checked
/// against the schema again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Extraction {
    /// The version of this form, now 1.
    pub version: u32,
    /// How it ended.
    pub status: ExtractionStatus,
    /// The name of the schema; none when routing found no schema to fit.
    pub schema: Option<String>,
    /// The value, when it is complete and breaks no rule: what the schema names, see
    /// [`Schema::without_unknown_names`](crate::Schema::without_unknown_names).
    pub value: Option<Value>,
    /// All values of this turn and of those before, read leniently, the wrong ones and those under
    /// unknown names included. None when there is no usable reply.
    pub data: Option<Value>,
    /// The values that the next turn builds on: for each field the last valid one.
    pub state: Option<Value>,
    /// What stands between the text and a complete result, in the order in which it was found.
    pub issues: Vec<Issue>,
    /// Required values that are missing.
    pub missing: Vec<Missing>,
    /// Asks for what is missing, when that is all that is wrong.
    pub question: Option<String>,
    /// By JSON Pointer, where each value of the data came from.
    pub fields: BTreeMap<String, FieldReport>,
    /// Values of earlier turns that this one replaced or cleared.
    pub corrections: Vec<Correction>,
    /// What was read as something else than the model wrote.
    pub coercions: Vec<Coerced>,
    /// What in the model's reply had to be mended or passed over.
    pub repairs: Vec<Repair>,
    /// How many calls of models it took, those of routing, retries and fallbacks included.
    pub attempts: u32,
    /// What they used in all, as far as services said.
    #[serde(deserialize_with = "usage")]
    pub usage: Usage,
    /// The model whose reply this is, written `provider:model`.
    pub llm: Option<String>,
    /// What was masked, by placeholder.
    pub redactions: BTreeMap<String, usize>,
    /// After routing: what is known under each other schema, by its name.
    pub earlier: BTreeMap<String, Value>,
    /// The id of the request.
    pub trace_id: TraceId,
}

/// Where one value came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FieldReport {
    /// From which source it was taken.
    pub provenance: Provenance,
    /// Whether the text states it; none when that was not looked up, as for values of earlier turns.
    pub grounding: Option<Grounding>,
    /// The stretch of the text that states it.
    pub evidence: Option<Quote>,
}

/// What a text says of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Grounding {
    /// The text states it.
    Grounded,
    /// The model's quote stands in the text, and states something else.
    Mismatch,
    /// The text states it nowhere.
    Ungrounded,
}

/// A stretch of the caller's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Quote {
    /// Where it stands in the text as the caller gave it.
    pub span: Span,
    /// The stretch itself; masked when masking is on.
    pub text: String,
}

/// A value of an earlier turn that this one replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Correction {
    /// Which value: a JSON Pointer into the data.
    pub path: String,
    /// What it was.
    pub from: Value,
    /// What it is now; null when it was cleared.
    pub to: Value,
}

impl Extraction {
    /// The beginning of a result.
    pub(crate) fn new(status: ExtractionStatus, trace_id: TraceId) -> Self {
        Self {
            version: JSON_VERSION,
            status,
            schema: None,
            value: None,
            data: None,
            state: None,
            issues: Vec::new(),
            missing: Vec::new(),
            question: None,
            fields: BTreeMap::new(),
            corrections: Vec::new(),
            coercions: Vec::new(),
            repairs: Vec::new(),
            attempts: 0,
            usage: Usage::default(),
            llm: None,
            redactions: BTreeMap::new(),
            earlier: BTreeMap::new(),
            trace_id,
        }
    }

    /// Whether it is complete.
    pub fn is_complete(&self) -> bool {
        self.status == ExtractionStatus::Complete
    }

    /// The value as a type of the program: none unless it is complete.
    ///
    /// # Errors
    /// When the type is not the one that the schema describes.
    pub fn value_as<T: DeserializeOwned>(&self) -> Option<serde_json::Result<T>> {
        self.value.as_ref().map(T::deserialize)
    }

    /// The paths of what is missing.
    pub fn missing_paths(&self) -> impl Iterator<Item = &str> {
        self.missing.iter().map(|missing| missing.path.as_str())
    }
}

pub(crate) fn by_placeholder(redactions: &Redactions) -> BTreeMap<String, usize> {
    redactions.iter().map(|(placeholder, count)| (placeholder.to_owned(), count)).collect()
}

fn usage<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Usage, D::Error> {
    #[derive(Deserialize)]
    struct Tokens {
        input_tokens: Option<u64>,
        output_tokens: Option<u64>,
    }
    let tokens = Tokens::deserialize(deserializer)?;
    Ok(Usage::new(tokens.input_tokens, tokens.output_tokens))
}
