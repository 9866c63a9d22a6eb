//! Anthropic.

use std::sync::Arc;

use kuhaku_core::{ChatRequest, Finish, HttpClient, LlmProvider, ReplyFormat, Role, Usage};
use kuhaku_llm::{ModelBuilder, Service};
use kuhaku_testkit::providers::{Endpoint, ExpectedRequest, ProviderCase};
use serde_json::{Value, json};

use crate::support::{build, event};

const MODEL: &str = "claude-sonnet-5";

/// The Messages API.
#[derive(Debug)]
pub(crate) struct Anthropic(HttpClient);

impl Anthropic {
    pub(crate) fn new() -> Self {
        Self(HttpClient::builder().build().unwrap())
    }
}

fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Length => "max_tokens",
        Finish::Refusal => "refusal",
        _ => "end_turn",
    }
}

fn usage_of(usage: Usage) -> Value {
    let mut counts = json!({});
    if let Some(input) = usage.input_tokens {
        // A part of the input came from a cache.
        counts["input_tokens"] = (input - 2).into();
        counts["cache_read_input_tokens"] = 2.into();
    }
    if let Some(output) = usage.output_tokens {
        counts["output_tokens"] = output.into();
    }
    counts
}

impl ProviderCase for Anthropic {
    fn name(&self) -> &str {
        "anthropic"
    }

    fn provider(&self, endpoint: &Endpoint) -> Arc<dyn LlmProvider> {
        let builder = ModelBuilder::new(Service::Anthropic, MODEL);
        build(builder.base_url(&endpoint.base_url), endpoint, &self.0)
    }

    fn expected(&self, request: &ChatRequest, streaming: bool, key: &str) -> ExpectedRequest {
        let messages = request.messages.iter().map(|message| {
            let role = if message.role == Role::User { "user" } else { "assistant" };
            json!({"role": role, "content": message.text})
        });
        let mut body = json!({
            "model": MODEL,
            "max_tokens": request.max_output_tokens.unwrap_or(1024),
            "messages": messages.collect::<Vec<_>>(),
            "stream": streaming,
        });
        if !request.system.is_empty() {
            body["system"] = request.system.as_str().into();
        }
        if request.temperature.is_some() {
            body["temperature"] = 0.5.into();
        }
        if !request.stop.is_empty() {
            body["stop_sequences"] = json!(request.stop);
        }
        match &request.format {
            ReplyFormat::Json => {
                let asked = "Answer with one JSON value and nothing else.";
                body["system"] = [request.system.as_str(), asked].join("\n\n").into();
            }
            ReplyFormat::JsonSchema(schema) => {
                body["output_config"] =
                    json!({"format": {"type": "json_schema", "schema": schema}});
            }
            _ => {}
        }
        ExpectedRequest::post("/v1/messages", body)
            .header("x-api-key", key)
            .header("anthropic-version", "2023-06-01")
    }

    fn reply(&self, text: &str, finish: Finish, usage: Usage) -> Option<Vec<u8>> {
        if finish == Finish::ContentFilter {
            return None;
        }
        let blocks = match text {
            "" => json!([]),
            text => json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]),
        };
        let reply = json!({
            "type": "message", "role": "assistant", "model": "claude-001",
            "content": blocks, "stop_reason": reason(finish), "usage": usage_of(usage),
        });
        Some(reply.to_string().into())
    }

    fn empty_replies(&self) -> Vec<Vec<u8>> {
        let contents = [json!([]), Value::Null, json!([{"type": "text", "text": " \n"}])];
        let replies =
            contents.map(|content| json!({"content": content, "stop_reason": "end_turn"}));
        replies.map(|reply| reply.to_string().into()).into()
    }

    fn stream(&self, pieces: &[&str], finish: Finish, usage: Usage) -> Option<Vec<u8>> {
        if finish == Finish::ContentFilter {
            return None;
        }
        let input = usage_of(Usage::new(usage.input_tokens, None));
        let output = usage_of(Usage::new(None, usage.output_tokens));
        let start = json!({"type": "message_start", "message": {
            "model": "claude-001", "content": [], "usage": input,
        }});
        let delta = json!({
            "type": "message_delta", "delta": {"stop_reason": reason(finish)}, "usage": output,
        });
        let stop = json!({"type": "message_stop"});
        let text = self.unfinished_stream(pieces);
        Some([named(&start), text, named(&delta), named(&stop)].concat())
    }

    fn unfinished_stream(&self, pieces: &[&str]) -> Vec<u8> {
        let start = json!({
            "type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""},
        });
        let deltas = pieces.iter().map(|piece| {
            let delta = json!({"type": "text_delta", "text": piece});
            json!({"type": "content_block_delta", "index": 0, "delta": delta})
        });
        let ping = json!({"type": "ping"});
        [start, ping].into_iter().chain(deltas).flat_map(|event| named(&event)).collect()
    }

    fn failing_stream(&self, pieces: &[&str], message: &str) -> Option<Vec<u8>> {
        let error = json!({"type": "error", "error": {
            "type": "overloaded_error", "message": message,
        }});
        Some([self.unfinished_stream(pieces), named(&error)].concat())
    }

    fn error(&self, _status: u16, message: &str) -> Vec<u8> {
        let error = json!({"type": "error", "error": {"type": "an_error", "message": message}});
        error.to_string().into()
    }

    fn error_in_success(&self, message: &str) -> Option<Vec<u8>> {
        Some(self.error(500, message))
    }

    fn too_long(&self) -> Option<(u16, Vec<u8>)> {
        Some((400, self.error(400, "prompt is too long: 210000 tokens > 200000 maximum")))
    }
}

/// A server-sent event under the name of its type.
fn named(value: &Value) -> Vec<u8> {
    let name = value["type"].as_str().unwrap();
    [format!("event: {name}\n").into_bytes(), event(value)].concat()
}
