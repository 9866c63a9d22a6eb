//! Replies that are JSON: how the form is asked for where a service does not hold to it by itself,
//! and how every reply is checked before it is given.

use kuhaku_core::{ChatRequest, Error, ErrorKind, Fence, Finish, ReplyFormat, Result, Runtime};
use serde_json::{Deserializer, Value};

use crate::dialect::Native;
use crate::fault::Fault;
#[cfg(feature = "schema")]
use crate::schema::{Validator, lift};

/// Places in a reply at which JSON may begin; further ones are not tried.
const MOST_BEGINNINGS: usize = 32;

/// What a reply must be.
pub(crate) enum Form {
    /// Text.
    Text,
    /// A JSON value.
    Json,
    /// A JSON value of this schema.
    #[cfg(feature = "schema")]
    Schema(Box<Validator>, Value),
}

impl Form {
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when the schema is none, or this build cannot check it.
    pub(crate) fn of(format: &ReplyFormat) -> Result<Self> {
        match format {
            ReplyFormat::Text => Ok(Self::Text),
            ReplyFormat::Json => Ok(Self::Json),
            #[cfg(feature = "schema")]
            ReplyFormat::JsonSchema(schema) => {
                Ok(Self::Schema(Box::new(Validator::new(schema)?), schema.clone()))
            }
            _ => Err(Error::new(
                ErrorKind::InvalidInput,
                "ask for JSON of a schema",
                "this build cannot check replies against schemas",
            )
            .next("turn on the feature `schema` of kuhaku-llm")),
        }
    }

    /// Whether a reply must be whole before any of it can be given.
    pub(crate) fn is_json(&self) -> bool {
        !matches!(self, Self::Text)
    }

    /// The reply as it may be given: for JSON the first value in it that is of the form.
    ///
    /// # Errors
    /// A fault that says what the reply breaks, and quotes nothing of it.
    pub(crate) fn settle(&self, text: String, finish: Finish) -> Result<String, Fault> {
        if !self.is_json() || matches!(finish, Finish::Refusal | Finish::ContentFilter) {
            return Ok(text);
        }
        let mut first = None;
        for (mut value, whole) in values_in(&text) {
            match self.check(&mut value) {
                Ok(changed) if whole && !changed => return Ok(text),
                Ok(_) => return Ok(value.to_string()),
                Err(fault) => first = first.or(Some(fault)),
            }
        }
        let fault = first.unwrap_or_else(|| {
            Fault::malformed("the reply holds no complete JSON").next("ask again")
        });
        Err(match finish {
            Finish::Length => Fault {
                wrong: format!("{}, as the token limit cut it", fault.wrong).into(),
                ..fault.next("raise the limit of output tokens")
            },
            _ => fault,
        })
    }

    /// Checks a value, and takes out what only the wire form needed. Gives whether it changed.
    #[cfg(feature = "schema")]
    fn check(&self, value: &mut Value) -> Result<bool, Fault> {
        let Self::Schema(validator, schema) = self else { return Ok(false) };
        if validator.check(value).is_ok() {
            return Ok(false);
        }
        let changed = lift(value, schema);
        validator.check(value).map(|()| changed)
    }

    #[cfg(not(feature = "schema"))]
    fn check(&self, _: &mut Value) -> Result<bool, Fault> {
        Ok(false)
    }
}

/// The JSON values in a text, each with whether it is the whole text.
fn values_in(text: &str) -> Vec<(Value, bool)> {
    if let Ok(whole) = serde_json::from_str(text) {
        return vec![(whole, true)];
    }
    // Thoughts that come first are no part of the reply, whatever JSON they hold.
    let text = match text.trim_start().strip_prefix("<think>") {
        Some(thoughts) => thoughts.split_once("</think>").map_or(text, |(_, rest)| rest),
        None => text,
    };
    let mut values = Vec::new();
    let mut from = 0;
    for _ in 0..MOST_BEGINNINGS {
        let rest = text.get(from..).unwrap_or_default();
        let Some(begin) = rest.find(['{', '[']) else { break };
        let rest = rest.get(begin..).unwrap_or_default();
        let mut stream = Deserializer::from_str(rest).into_iter::<Value>();
        let found = stream.next();
        from += begin;
        match found {
            Some(Ok(value)) => {
                from += stream.byte_offset().max(1);
                values.push((value, false));
            }
            _ => from += 1,
        }
    }
    values
}

/// The request as the dialect gets it: where the service does not hold to a form by itself, the
/// system text asks for it, with the schema as data between borders (R6).
///
/// # Errors
/// When no random bytes can be had.
pub(crate) fn prompted(
    mut request: ChatRequest,
    native: Native,
    runtime: &Runtime,
) -> Result<ChatRequest> {
    let asked = match &request.format {
        _ if native == Native::Yes => return Ok(request),
        ReplyFormat::Json => "Answer with one JSON value and nothing else.".to_owned(),
        ReplyFormat::JsonSchema(schema) => {
            let fence = Fence::new(runtime)?;
            let block = fence.block("schema", &schema.to_string());
            let explained = fence.explain();
            format!(
                "Answer with one JSON value that satisfies the JSON Schema below, and nothing \
                 else.\n{explained}\n{block}"
            )
        }
        _ => return Ok(request),
    };
    if !request.system.is_empty() {
        request.system.push_str("\n\n");
    }
    request.system.push_str(&asked);
    if native == Native::No {
        request.format = ReplyFormat::Text;
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settle(form: &Form, text: &str) -> Result<String, ErrorKind> {
        form.settle(text.into(), Finish::Stop).map_err(|fault| fault.kind)
    }

    #[test]
    fn json_is_found_within_what_models_put_around_it() {
        let table = [
            (r#" {"a": 1} "#, r#" {"a": 1} "#),
            ("17", "17"),
            ("```json\n{\"a\": 1}\n```", r#"{"a":1}"#),
            ("Here it is: [1, 2] as you asked.", "[1,2]"),
            (r#"{"a": 1} }"#, r#"{"a":1}"#),
            (r#"<think>{"no": 1}</think>{"a": 1}"#, r#"{"a":1}"#),
            (r#"{ not json {"a": 1}"#, r#"{"a":1}"#),
        ];
        for (text, json) in table {
            assert_eq!(settle(&Form::Json, text).as_deref(), Ok(json), "{text}");
        }
        let many = "{".repeat(100_000);
        for text in ["", "no", "{\"a\": ", "{", many.as_str()] {
            assert_eq!(settle(&Form::Json, text), Err(ErrorKind::MalformedResponse));
        }
    }

    /// LLM-14: the part about local checks.
    #[cfg(feature = "schema")]
    #[test]
    fn a_reply_is_checked_against_the_schema_whatever_the_service_promised() {
        let schema = json!({
            "type": "object",
            "properties": {"days": {"type": "integer"}, "note": {"type": "string"}},
            "required": ["days"],
            "additionalProperties": false,
        });
        let form = Form::of(&ReplyFormat::JsonSchema(schema)).unwrap();
        let table = [
            (r#"{"days": 25}"#, Ok(r#"{"days": 25}"#)),
            (r#"{"days": 25, "note": null}"#, Ok(r#"{"days":25}"#)),
            (r#"{"days": "x"} {"days": 1}"#, Ok(r#"{"days":1}"#)),
            (r#"{"days": "planted-content"}"#, Err(ErrorKind::MalformedResponse)),
            ("[]", Err(ErrorKind::MalformedResponse)),
        ];
        for (text, expected) in table {
            assert_eq!(settle(&form, text).as_deref().map_err(|kind| *kind), expected, "{text}");
        }
        let fault = form.settle(r#"{"days": "planted-content"}"#.into(), Finish::Stop).unwrap_err();
        assert_eq!(fault.wrong, "the reply breaks the schema at /properties/days/type");
    }

    #[cfg(feature = "schema")]
    #[test]
    fn a_schema_that_is_none_or_leads_outside_is_refused() {
        for schema in [json!({"type": "nothing"}), json!({"$ref": "http://localhost:1/s.json"})] {
            let refused = Form::of(&ReplyFormat::JsonSchema(schema.clone())).err().unwrap();
            assert_eq!(*refused.kind(), ErrorKind::InvalidInput, "{schema}");
        }
    }

    #[test]
    fn a_cut_reply_says_that_the_limit_cut_it_and_a_refusal_is_left_alone() {
        let fault = Form::Json.settle("{\"a\":".into(), Finish::Length).unwrap_err();
        assert!(fault.wrong.contains("token limit"), "{}", fault.wrong);
        let refusal = Form::Json.settle("No.".into(), Finish::Refusal);
        assert_eq!(refusal.ok().as_deref(), Some("No."));
    }

    #[test]
    fn a_schema_stands_in_the_prompt_between_borders() {
        let runtime = Runtime::system();
        let mut request = ChatRequest::new("Be brief.", "?");
        request.format = ReplyFormat::JsonSchema(json!({"type": "object"}));
        let sent = prompted(request.clone(), Native::No, &runtime).unwrap();
        assert!(sent.system.starts_with("Be brief.\n\nAnswer with one JSON value that"));
        assert!(sent.system.contains("<schema-") && sent.system.contains("</schema-"));
        assert_eq!(sent.format, ReplyFormat::Text);
        assert_eq!(prompted(request.clone(), Native::Yes, &runtime).unwrap(), request);
        let both = prompted(request.clone(), Native::WithPrompt, &runtime).unwrap();
        assert_eq!(both.format, request.format);
    }
}
