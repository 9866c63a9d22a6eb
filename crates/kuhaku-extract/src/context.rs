//! One request on its way through the pipeline.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use kuhaku_core::{Message, Redactions, Role, SpanMap, TraceId, Usage, one_line};
use serde_json::{Map, Value, json};

use crate::ask::Asked;
use crate::error::{Error, ErrorKind, Result};
use crate::issue::{Issue, IssueKind, status};
use crate::limit::Limit;
use crate::outcome::ExtractionStatus;
use crate::partials::Outlet;
use crate::parts::Core;
use crate::prompt::{Block, Prompt, ReplyKey};
use crate::request::{ExtractRequest, Prior};
use crate::result::{Correction, Extraction, FieldReport, JSON_VERSION, by_placeholder};
use crate::schema::{Checked, Missing, Schema};
use crate::tree;

/// So many unknown names are named.
const MOST_NAMED: usize = 5;

/// What a [`Step`](crate::Step) sees of a request, and may change.
#[derive(Debug)]
pub struct Context {
    pub(crate) core: Arc<Core>,
    pub(crate) limit: Limit,
    pub(crate) trace_id: TraceId,
    /// The text as the caller gave it.
    pub(crate) original: String,
    /// The text as models see it, and where its parts came from when it is masked.
    pub(crate) text: String,
    pub(crate) mask: Option<SpanMap>,
    pub(crate) redactions: Redactions,
    pub(crate) history: Vec<Message>,
    pub(crate) reference: Option<Value>,
    pub(crate) known: Option<Known>,
    pub(crate) question: String,
    pub(crate) given: Given,
    pub(crate) blocks: Vec<Block<'static>>,
    pub(crate) rules: Vec<String>,
    pub(crate) keys: Vec<ReplyKey>,
    pub(crate) asked: Asked,
    pub(crate) checked: Option<Checked>,
    pub(crate) issues: Vec<Issue>,
    /// Missing because a rule says so.
    pub(crate) wanted: Vec<Missing>,
    pub(crate) fields: BTreeMap<String, FieldReport>,
    pub(crate) corrections: Vec<Correction>,
    /// Values that no later turn shall build on.
    pub(crate) untrusted: Vec<String>,
    stopped: bool,
}

/// What a request brings along beside what its caller has said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// The reply, if the model was asked before, together with other things.
    pub(crate) asked: Option<Asked>,
    /// What that or something before has used.
    pub(crate) spent: Usage,
    /// Where values go while the model writes.
    pub(crate) outlet: Option<Outlet>,
}

/// What is known from earlier turns.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// As it is.
    pub(crate) kept: Value,
    /// As models see it.
    pub(crate) shown: Value,
}

impl Context {
    /// # Errors
    /// When the request is too long, or its prior is not one of this extractor.
    pub(crate) fn new(
        core: &Arc<Core>,
        request: &ExtractRequest,
        limit: Limit,
        trace_id: TraceId,
    ) -> Result<Self> {
        bounded(core, request)?;
        let known = known(core, request.prior.as_ref())?;
        let question = request.question.clone();
        Ok(Self {
            core: core.clone(),
            limit,
            trace_id,
            original: request.text.clone(),
            text: request.text.clone(),
            mask: None,
            redactions: Redactions::default(),
            history: request.history.clone(),
            reference: request.reference.clone(),
            known,
            question: question.unwrap_or_else(|| core.settings.clarification_question.clone()),
            given: Given::default(),
            blocks: Vec::new(),
            rules: Vec::new(),
            keys: Vec::new(),
            asked: Asked::default(),
            checked: None,
            issues: Vec::new(),
            wanted: Vec::new(),
            fields: BTreeMap::new(),
            corrections: Vec::new(),
            untrusted: Vec::new(),
            stopped: false,
        })
    }

    /// The text as models see it: masked when masking is on.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The conversation before it.
    pub fn history(&self) -> &[Message] {
        &self.history
    }

    /// What else the text may refer to.
    pub fn reference(&self) -> Option<&Value> {
        self.reference.as_ref()
    }

    /// What is known from earlier turns, as far as it fits the schema.
    pub fn prior(&self) -> Option<&Value> {
        self.known.as_ref().map(|known| &known.shown)
    }

    /// What is to be extracted.
    pub fn schema(&self) -> &Schema {
        &self.core.schema
    }

    /// The id of the request.
    pub fn trace_id(&self) -> &TraceId {
        &self.trace_id
    }

    /// Adds outside text to the prompt, within borders (R6). `label` and `heading` are the program's own
    /// words; the label has letters, digits and `_` only. For [`prepare`](crate::Step::prepare).
    pub fn add_block(
        &mut self,
        label: &'static str,
        heading: &'static str,
        content: impl Into<String>,
    ) {
        self.blocks.push(Block { label, heading, content: Cow::Owned(content.into()) });
    }

    /// Adds a rule to the instructions: the program's own words. For
    /// [`prepare`](crate::Step::prepare).
    pub fn add_rule(&mut self, rule: impl Into<String>) {
        self.rules.push(rule.into());
    }

    /// Asks the model for another key of the reply beside `data`; `schema` says what it may be, null
    /// included. For [`prepare`](crate::Step::prepare).
    pub fn add_reply_key(&mut self, name: &'static str, about: impl Into<String>, schema: Value) {
        self.keys.push(ReplyKey { name, about: about.into(), schema });
    }

    /// The whole reply that is used, with the keys beside `data`; none before `extract` has run, and
    /// when there is no usable one.
    pub fn reply(&self) -> Option<&Value> {
        self.asked.reply.as_ref()
    }

    /// The data so far, read leniently; none while there is no usable reply.
    pub fn data(&self) -> Option<&Value> {
        self.checked.as_ref().map(|checked| &checked.value)
    }

    /// The data, if nothing of it is missing or breaks the schema.
    pub fn value(&self) -> Option<&Value> {
        let complete = self.checked.as_ref().filter(|checked| checked.is_complete());
        complete.map(|checked| &checked.value)
    }

    /// Replaces the data; they are checked against the schema.
    pub fn set_data(&mut self, data: &Value) {
        self.checked = Some(self.core.schema.check(data, &self.core.coercion));
    }

    /// Adds an issue of the application's own, which makes the result invalid. `path` is a JSON
    /// Pointer into the data.
    pub fn add_issue(
        &mut self,
        code: impl Into<String>,
        message: impl Into<String>,
        path: Option<&str>,
    ) {
        let issue = Issue::new(IssueKind::Invalid, code.into(), message.into());
        self.issues.push(Issue { path: path.map(str::to_owned), ..issue });
    }

    /// Refuses the text: no step runs from here on, and no model is called if none was.
    pub fn block(&mut self, code: impl Into<String>, message: impl Into<String>) {
        self.issues.push(Issue::new(IssueKind::Blocked, code.into(), message.into()));
        self.stopped = true;
    }

    /// Whether the text was refused.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// The prompt as the steps have prepared it.
    pub(crate) fn prompt(&self) -> Prompt<'_> {
        let schema = &self.core.schema;
        let mut blocks = side_blocks(self.reference.as_ref(), &self.history);
        blocks.extend(self.blocks.iter().map(Block::borrowed));
        blocks.push(source_block(&self.text));
        let task = [
            schema.description().map(|text| format!("What to extract: {text}")),
            schema.instructions().map(str::to_owned),
        ];
        Prompt {
            framing: &self.core.framing,
            task: task.into_iter().flatten().collect(),
            rules: Cow::Borrowed(&self.rules),
            blocks,
            keys: Cow::Borrowed(&self.keys),
            wire: Cow::Borrowed(schema.wire()),
            wire_text: Cow::Borrowed(schema.wire_text()),
        }
    }

    pub(crate) fn usage(&self) -> Usage {
        self.asked.usage
    }

    /// The result, once all steps have run.
    pub(crate) fn finish(self) -> Extraction {
        let (schema, known) = (&self.core.schema, self.known.as_ref().map(|it| &it.kept));
        let mut issues = self.issues;
        issues.extend(self.asked.issues);
        let state = state(&self.core, self.checked.as_ref(), known, &self.untrusted);
        let (mut data, mut missing, mut coercions) = (None, Vec::new(), Vec::new());
        let blocked = status(&issues) == ExtractionStatus::Blocked;
        if let Some(checked) = self.checked.filter(|_| !blocked) {
            issues.extend(checked.problems.iter().map(Issue::problem));
            issues.extend(checked.missing.iter().map(Issue::missing));
            data = Some(checked.value);
            (missing, coercions) = (checked.missing, checked.coercions);
        }
        missing.extend(self.wanted);
        let status = status(&issues);
        let mut result = Extraction::new(status, self.trace_id);
        result.schema = Some(schema.name().to_owned());
        let complete = data.as_ref().filter(|_| status == ExtractionStatus::Complete);
        result.value = complete.map(|data| schema.without_unknown_names(data));
        if status == ExtractionStatus::NeedsClarification {
            result.question = question(&self.question, &missing);
        }
        result.data = data;
        result.state = state.map(|state| schema.without_unknown_names(&state));
        result.issues = issues;
        result.missing = missing;
        result.coercions = coercions;
        result.fields = self.fields;
        result.corrections = self.corrections;
        result.repairs = self.asked.repairs;
        result.attempts = self.asked.attempts;
        result.usage = self.asked.usage;
        result.llm = self.asked.llm;
        result.redactions = by_placeholder(&self.redactions);
        result
    }
}

/// For each field the last valid value: that of this turn where it is valid, else the one before it.
fn state(
    core: &Core,
    checked: Option<&Checked>,
    known: Option<&Value>,
    untrusted: &[String],
) -> Option<Value> {
    let Some(checked) = checked else { return known.cloned() };
    let problems = checked.problems.iter().map(|problem| problem.path.as_str());
    let wrong = tree::from_the_end(problems.chain(untrusted.iter().map(String::as_str)));
    let mut state = checked.value.clone();
    let clean = wrong.is_empty();
    for path in wrong {
        if path.is_empty() {
            return known.cloned();
        }
        let before = |path: &str| known.and_then(|known| known.pointer(path));
        // Items have no names by which those of two turns could be told apart: the list stands whole.
        let list = tree::list_above(&checked.value, path);
        let list = list.filter(|list| before(list).is_some_and(tree::has_items));
        let path = list.unwrap_or(path);
        match before(path).cloned() {
            Some(before) => {
                tree::set(&mut state, path, before);
            }
            None => {
                tree::remove(&mut state, path);
            }
        }
    }
    Some(if clean { state } else { tree::valid_part(&core.schema, state, &core.coercion) })
}

/// What asks for what is missing: each label once, in order.
pub(crate) fn question(template: &str, missing: &[Missing]) -> Option<String> {
    if template.trim().is_empty() || missing.is_empty() {
        return None;
    }
    let mut labels: Vec<&str> = Vec::new();
    for label in missing.iter().map(Missing::label) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    Some(template.replace("{fields}", &labels.join(", ")))
}

/// The blocks of what comes with a text. The history is JSON, so that no message can play another
/// speaker.
pub(crate) fn side_blocks<'a>(reference: Option<&'a Value>, history: &[Message]) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    if let Some(reference) = reference.filter(|it| !it.is_null()) {
        let content = match reference {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            other => Cow::Owned(other.to_string()),
        };
        let heading = "What the source text may refer to";
        blocks.push(Block { label: "reference", heading, content });
    }
    if !history.is_empty() {
        let role = |role| if role == Role::User { "user" } else { "assistant" };
        let message = |it: &Message| json!({"role": role(it.role), "text": it.text}).to_string();
        let content = history.iter().map(message).collect::<Vec<_>>().join("\n").into();
        let heading = "The conversation before the source text, one message a line";
        blocks.push(Block { label: "history", heading, content });
    }
    blocks
}

pub(crate) fn source_block(text: &str) -> Block<'_> {
    Block { label: "source", heading: "The source text", content: Cow::Borrowed(text) }
}

/// # Errors
/// When text, history and reference, or what is known, are longer than the setting says or too deep, or
/// the prior is of another version.
pub(crate) fn bounded(core: &Core, request: &ExtractRequest) -> Result<()> {
    let history: usize = request.history.iter().map(|message| message.text.len()).sum();
    let most = core.settings.max_text_bytes;
    let refused = |wrong: String, next: &'static str| {
        Err(Error::new(ErrorKind::Configuration, "extract from the text", wrong).next(next))
    };
    if let Some(Prior::Result(result)) = &request.prior
        && result.version != JSON_VERSION
    {
        let wrong = format!(
            "its prior is a result of version {}, and {JSON_VERSION} is known here",
            result.version
        );
        return refused(wrong, "give a result of this version of kuhaku, or none");
    }
    let known: Vec<&Value> = match &request.prior {
        None => Vec::new(),
        Some(Prior::Data(data)) => vec![data],
        Some(Prior::Result(result)) => result.state.iter().chain(result.earlier.values()).collect(),
    };
    let size =
        |values: &[&Value]| -> Option<usize> { values.iter().map(|value| tree::size(value)).sum() };
    let reference: Vec<&Value> = request.reference.iter().collect();
    let (Some(reference), Some(known)) = (size(&reference), size(&known)) else {
        let wrong = format!("its reference or prior has more than {} levels", tree::DEEPEST);
        return refused(wrong, "give values of fewer levels");
    };
    if request.text.len().saturating_add(history).saturating_add(reference) > most {
        let wrong = format!("with its history and reference it is longer than {most} bytes");
        return refused(wrong, "extract from parts of it, or raise extraction.max_text_bytes");
    }
    if known > most {
        let wrong = format!("its prior is longer than {most} bytes");
        return refused(wrong, "give a smaller one, or raise extraction.max_text_bytes");
    }
    Ok(())
}

/// What the prior holds that fits the schema; nothing when that is nothing.
fn known(core: &Core, prior: Option<&Prior>) -> Result<Option<Known>> {
    let tried = "go on from an earlier turn";
    let data = match prior {
        None => return Ok(None),
        Some(Prior::Data(data)) => data.clone(),
        Some(Prior::Result(result)) => {
            let (ours, theirs) = (core.schema.name(), result.schema.as_deref());
            if theirs.is_some_and(|theirs| theirs != ours) {
                let wrong = "the result given as prior belongs to another schema";
                return Err(Error::new(ErrorKind::Configuration, tried, wrong)
                    .next("give the last result of this schema, or none"));
            }
            result.state.clone().unwrap_or(Value::Null)
        }
    };
    if !core.pipeline.is_enabled(crate::steps::SlotFilling::NAME) {
        let wrong = "the step `slot_filling` is disabled, and nothing else reads the prior";
        return Err(Error::new(ErrorKind::Configuration, tried, wrong)
            .next("enable the step, or give no prior"));
    }
    let data = match data {
        Value::Null => Value::Object(Map::new()),
        Value::Object(_) => data,
        _ => {
            return Err(Error::new(ErrorKind::Configuration, tried, "the prior is no object")
                .next("give a result, or an object of values"));
        }
    };
    foreign(&core.schema, &data)?;
    let kept = tree::valid_part(&core.schema, data, &core.coercion);
    let something = tree::says_something(&kept);
    Ok(something.then(|| Known { shown: kept.clone(), kept }))
}

/// Refuses values under names that the schema does not have: they belong to something else.
fn foreign(schema: &Schema, data: &Value) -> Result<()> {
    let unknown = schema.unknown_names(data);
    if unknown.is_empty() {
        return Ok(());
    }
    let (wrong, next) = if unknown.iter().any(|path| path == "/error") {
        let wrong = "the prior is the error of a request that failed, and no result".to_owned();
        (wrong, "give the last result before it, or none")
    } else {
        let names = unknown.iter().take(MOST_NAMED).map(|path| one_line(path, 60));
        let names = names.collect::<Vec<_>>().join(", ");
        let wrong = format!("the prior has names that the schema lacks: {names}");
        (wrong, "give a result of this schema, or an object of its names and values")
    };
    Err(Error::new(ErrorKind::Configuration, "go on from an earlier turn", wrong).next(next))
}
