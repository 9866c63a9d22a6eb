//! What replies of OpenAI's kind mean.

use kuhaku_core::{ErrorKind, Finish};
use serde_json::Value;

use crate::dialect::{Closing, Draft, Reader, json};
use crate::fault::Fault;
use crate::words::Words;

/// Reads the first choice.
#[derive(Debug)]
pub(super) struct ChoiceReader;

impl Reader for ChoiceReader {
    fn reply(&mut self, body: &Value, draft: &mut Draft) -> Result<(), Fault> {
        let choices = choices(body, draft)?;
        let choices = choices.ok_or_else(|| Fault::malformed("the reply has no choices"))?;
        if let Some(choice) = choices.first() {
            let message = choice.get("message").unwrap_or(choice);
            read_choice(choice, message, draft)?;
        }
        draft.closing = Closing::Reached;
        Ok(())
    }

    fn event(&mut self, name: &str, data: &str, draft: &mut Draft) -> Result<(), Fault> {
        if data.trim() == "[DONE]" {
            draft.closing = Closing::Reached;
            return Ok(());
        }
        let body = json(data)?;
        if name == "error" {
            return Err(Words::of(&body).unwrap_or_default().into_fault());
        }
        let choices = choices(&body, draft)?.unwrap_or_default();
        let first = choices
            .iter()
            .find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or_default() == 0);
        if let Some(choice) = first {
            read_choice(choice, choice.get("delta").unwrap_or(choice), draft)?;
            if draft.finish.is_some() && !choice["finish_reason"].is_null() {
                draft.closing = Closing::Possible;
            }
        }
        Ok(())
    }
}

/// The choices, once errors are ruled out; what stands beside them goes into the draft.
fn choices<'a>(body: &'a Value, draft: &mut Draft) -> Result<Option<&'a [Value]>, Fault> {
    if let Some(words) = Words::reported(body) {
        return Err(words.into_fault());
    }
    draft.name(body.get("model"));
    // Groq's streams have it under a name of their own.
    for usage in [body.get("usage"), body.pointer("/x_groq/usage")].into_iter().flatten() {
        draft.count(usage.get("prompt_tokens"), usage.get("completion_tokens"));
    }
    Ok(body.get("choices").and_then(Value::as_array).map(Vec::as_slice))
}

fn read_choice(choice: &Value, message: &Value, draft: &mut Draft) -> Result<(), Fault> {
    if let Some(words) = Words::reported(choice) {
        return Err(words.into_fault());
    }
    let content = message.get("content").or_else(|| message.get("text"));
    push_content(content.unwrap_or(&Value::Null), &mut draft.text);
    let refusal = message.get("refusal").and_then(Value::as_str).unwrap_or_default();
    if !refusal.is_empty() {
        draft.text.push_str(refusal);
        draft.finish = Some(Finish::Refusal);
    }
    let reason = choice.get("finish_reason").and_then(Value::as_str);
    if let Some(finish) = reason.map(finish).transpose()? {
        draft.finish.get_or_insert(finish);
    }
    Ok(())
}

/// A text, or a list of parts of which some are texts.
fn push_content(content: &Value, text: &mut String) {
    match content {
        Value::String(piece) => text.push_str(piece),
        Value::Array(parts) => {
            for part in parts {
                text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
            }
        }
        _ => {}
    }
}

/// Why a reply ended. Names that are not known belong to replies that are complete.
pub(crate) fn finish(reason: &str) -> Result<Finish, Fault> {
    match reason {
        "length" | "max_tokens" | "model_length" => Ok(Finish::Length),
        "content_filter" | "safety" => Ok(Finish::ContentFilter),
        "refusal" => Ok(Finish::Refusal),
        "error" | "abort" | "aborted" => {
            Err(Fault::new(ErrorKind::Unavailable, "it gave up within its reply")
                .next("try again later, or choose another provider"))
        }
        _ => Ok(Finish::Stop),
    }
}
