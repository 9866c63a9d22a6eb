//! What replies mean.

use kuhaku_core::Finish;
use serde_json::Value;

use super::thinking::Thinking;
use super::window::Expected;
use crate::dialect::{Closing, Draft, Reader, json};
use crate::fault::Fault;
use crate::words::Words;

/// Reads a reply; lines of a stream have the same shape, the last one with the counts.
#[derive(Debug)]
pub(super) struct Messages {
    expected: Expected,
    thinking: Thinking,
}

impl Messages {
    /// For the reply to a request of which this is known.
    pub(super) fn new(expected: Expected) -> Self {
        Self { expected, thinking: Thinking::default() }
    }

    fn read(&mut self, body: &Value, draft: &mut Draft) -> Result<(), Fault> {
        if let Some(words) = Words::reported(body) {
            return Err(words.into_fault());
        }
        draft.name(body.get("model"));
        let text = body.pointer("/message/content").and_then(Value::as_str);
        draft.text.push_str(&self.thinking.reply_of(text.unwrap_or_default()));
        Ok(())
    }

    fn end(&mut self, body: &Value, draft: &mut Draft) -> Result<(), Fault> {
        draft.text.push_str(&self.thinking.rest());
        draft.count(body.get("prompt_eval_count"), body.get("eval_count"));
        draft.finish = Some(match body.get("done_reason").and_then(Value::as_str) {
            Some("length") => Finish::Length,
            _ => Finish::Stop,
        });
        draft.closing = Closing::Reached;
        draft.usage.input_tokens.map_or(Ok(()), |read| self.expected.check(read))
    }
}

impl Reader for Messages {
    fn reply(&mut self, body: &Value, draft: &mut Draft) -> Result<(), Fault> {
        self.read(body, draft)?;
        if body.get("message").is_none() {
            return Err(Fault::malformed("the reply has no message"));
        }
        self.end(body, draft)
    }

    fn event(&mut self, _name: &str, data: &str, draft: &mut Draft) -> Result<(), Fault> {
        let body = json(data)?;
        self.read(&body, draft)?;
        if body.get("done").and_then(Value::as_bool) == Some(true) {
            self.end(&body, draft)?;
        }
        Ok(())
    }
}
