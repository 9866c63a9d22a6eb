//! What replies mean.

use kuhaku_core::Finish;
use serde_json::Value;

use super::fault;
use crate::dialect::{Closing, Draft, Reader, json};
use crate::fault::Fault;
use crate::words::Words;

/// Reads the first candidate; events of a stream have the shape of a whole reply.
#[derive(Debug)]
pub(super) struct Candidates;

impl Candidates {
    /// Whether there was anything of a reply.
    fn read(body: &Value, draft: &mut Draft) -> Result<bool, Fault> {
        // Where errors end a list instead of a stream, they come as one.
        let first = body.as_array().and_then(|list| list.first()).unwrap_or(body);
        if let Some(words) = Words::reported(first) {
            return Err(fault::of_event(body, words));
        }
        draft.name(body.get("modelVersion"));
        count(body.get("usageMetadata"), draft);
        let blocked = body.pointer("/promptFeedback/blockReason").and_then(Value::as_str);
        if blocked.is_some_and(|reason| reason != "BLOCKED_REASON_UNSPECIFIED") {
            draft.finish = Some(Finish::ContentFilter);
            draft.closing = Closing::Possible;
        }
        let candidates = body.get("candidates").and_then(Value::as_array);
        if let Some(candidate) = candidates.and_then(|candidates| candidates.first()) {
            let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
            draft.text.extend(parts.into_iter().flatten().filter_map(text));
            if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
                draft.finish = finish(reason).or(draft.finish);
                draft.closing = Closing::Possible;
            }
        }
        Ok(candidates.is_some() || blocked.is_some() || body.get("usageMetadata").is_some())
    }
}

impl Reader for Candidates {
    fn reply(&mut self, body: &Value, draft: &mut Draft) -> Result<(), Fault> {
        if !Self::read(body, draft)? {
            return Err(Fault::malformed("the reply has no candidates"));
        }
        draft.closing = Closing::Reached;
        Ok(())
    }

    fn event(&mut self, _name: &str, data: &str, draft: &mut Draft) -> Result<(), Fault> {
        Self::read(&json(data)?, draft).map(drop)
    }
}

/// The text of a part; thoughts are no part of the reply.
fn text(part: &Value) -> Option<&str> {
    let thought = part.get("thought").and_then(Value::as_bool) == Some(true);
    part.get("text")?.as_str().filter(|_| !thought)
}

fn finish(reason: &str) -> Option<Finish> {
    Some(match reason {
        "FINISH_REASON_UNSPECIFIED" => return None,
        "MAX_TOKENS" => Finish::Length,
        "BLOCKLIST" | "IMAGE_SAFETY" | "MODEL_ARMOR" | "PROHIBITED_CONTENT" | "RECITATION"
        | "SAFETY" | "SPII" => Finish::ContentFilter,
        _ => Finish::Stop,
    })
}

/// Thoughts are charged as output.
fn count(usage: Option<&Value>, draft: &mut Draft) {
    let Some(usage) = usage else { return };
    let tokens = |name: &str| usage.get(name).and_then(Value::as_u64);
    let thoughts = tokens("thoughtsTokenCount").unwrap_or_default();
    let output = tokens("candidatesTokenCount").map(|tokens| tokens.saturating_add(thoughts));
    draft.count(usage.get("promptTokenCount"), output.map(Value::from).as_ref());
}
