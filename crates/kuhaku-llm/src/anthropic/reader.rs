//! What replies mean.

use kuhaku_core::Finish;
use serde_json::Value;

use super::fault;
use crate::dialect::{Closing, Draft, Reader, json};
use crate::fault::Fault;

/// Reads content blocks. Only those of text are the reply; thinking and tools stand beside it.
#[derive(Debug)]
pub(super) struct Blocks;

impl Reader for Blocks {
    fn reply(&mut self, body: &Value, draft: &mut Draft) -> Result<(), Fault> {
        if is_error(body) {
            return Err(fault::of_event(body));
        }
        let Some(blocks) = body.get("content") else {
            return Err(Fault::malformed("the reply has no content blocks"));
        };
        let texts = blocks.as_array().into_iter().flatten().filter_map(text_of_block);
        draft.text.extend(texts);
        draft.name(body.get("model"));
        draft.finish = finish(body.get("stop_reason"));
        count(body.get("usage"), draft);
        draft.closing = Closing::Reached;
        Ok(())
    }

    fn event(&mut self, _name: &str, data: &str, draft: &mut Draft) -> Result<(), Fault> {
        let event = json(data)?;
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => {
                draft.name(event.pointer("/message/model"));
                // The output count in this event is a placeholder.
                draft.count(input(event.pointer("/message/usage")).as_ref(), None);
            }
            "content_block_start" => {
                draft.text.extend(event.get("content_block").and_then(text_of_block));
            }
            "content_block_delta" => {
                let delta = event.get("delta").filter(|delta| is(delta, "text_delta"));
                draft.text.extend(delta.and_then(|delta| delta.get("text")?.as_str()));
            }
            "message_delta" => {
                draft.finish = finish(event.pointer("/delta/stop_reason")).or(draft.finish);
                count(event.get("usage"), draft);
            }
            "message_stop" => draft.closing = Closing::Reached,
            "error" => return Err(fault::of_event(&event)),
            // Pings, ends of blocks, and what future versions add.
            _ => {}
        }
        Ok(())
    }
}

fn is(value: &Value, kind: &str) -> bool {
    value.get("type").and_then(Value::as_str) == Some(kind)
}

fn is_error(body: &Value) -> bool {
    is(body, "error") || body.get("error").is_some_and(|error| !error.is_null())
}

fn text_of_block(block: &Value) -> Option<&str> {
    block.get("text")?.as_str().filter(|_| is(block, "text"))
}

fn finish(reason: Option<&Value>) -> Option<Finish> {
    Some(match reason?.as_str()? {
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::Refusal,
        _ => Finish::Stop,
    })
}

fn count(usage: Option<&Value>, draft: &mut Draft) {
    let output = usage.and_then(|usage| usage.get("output_tokens"));
    draft.count(input(usage).as_ref(), output);
}

/// All tokens of the request: what was read from a cache or written to one is counted apart.
fn input(usage: Option<&Value>) -> Option<Value> {
    let usage = usage?;
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
    let cached = cached.into_iter().filter_map(count).fold(0, u64::saturating_add);
    count("input_tokens").map(|fresh| fresh.saturating_add(cached).into())
}
