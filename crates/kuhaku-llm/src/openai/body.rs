//! Request bodies.

use kuhaku_core::{ChatRequest, Role};
use serde_json::{Map, Value, json};

use super::OpenAi;
use crate::dialect::temperature;

impl OpenAi {
    pub(super) fn chat_body(&self, request: &ChatRequest, streaming: bool) -> Value {
        let mut messages = Vec::with_capacity(request.messages.len() + 1);
        if !request.system.is_empty() {
            messages.push(json!({"role": "system", "content": request.system}));
        }
        messages.extend(request.messages.iter().map(|message| {
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            json!({"role": role, "content": message.text})
        }));
        let mut body = self.options(request, streaming);
        body.insert("messages".into(), messages.into());
        if let Some(format) = self.response_format(&request.format) {
            body.insert("response_format".into(), format);
        }
        body.into()
    }

    pub(super) fn completion_body(&self, request: &ChatRequest, streaming: bool) -> Value {
        let mut body = self.options(request, streaming);
        body.insert("prompt".into(), transcript(request).into());
        body.into()
    }

    fn options(&self, request: &ChatRequest, streaming: bool) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("model".into(), self.model.as_str().into());
        if let Some(value) = request.temperature.filter(|_| !self.reasons()) {
            body.insert("temperature".into(), temperature(value));
        }
        if let Some(most) = request.max_output_tokens {
            let name = if self.reasons() { "max_completion_tokens" } else { "max_tokens" };
            body.insert(name.into(), most.into());
        }
        if !request.stop.is_empty() {
            body.insert("stop".into(), request.stop.as_slice().into());
        }
        if let Some(seed) = request.seed {
            body.insert("seed".into(), seed.into());
        }
        if streaming {
            body.insert("stream".into(), true.into());
            body.insert("stream_options".into(), json!({"include_usage": true}));
        }
        body
    }
}

/// A conversation as one text, for models without messages. A single message stands as it is.
pub(crate) fn transcript(request: &ChatRequest) -> String {
    let mut text = request.system.clone();
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    if let [only] = request.messages.as_slice() {
        text.push_str(&only.text);
        return text;
    }
    for message in &request.messages {
        let name = match message.role {
            Role::User => "User",
            Role::Assistant => "Assistant",
        };
        text.push_str(&format!("{name}: {}\n\n", message.text));
    }
    text.push_str("Assistant:");
    text
}
