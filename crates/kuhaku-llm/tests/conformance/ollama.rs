//! Ollama.

use std::sync::Arc;

use kuhaku_core::{ChatRequest, Fence, Finish, HttpClient, LlmProvider, ReplyFormat, Role, Usage};
use kuhaku_llm::{ModelBuilder, Service};
use kuhaku_testkit::providers::{Endpoint, ExpectedRequest, ProviderCase};
use serde_json::{Value, json};

use crate::support::{build, resting_runtime};

const MODEL: &str = "qwen3:4b";

/// A server of Ollama.
#[derive(Debug)]
pub(crate) struct Ollama(HttpClient);

impl Ollama {
    pub(crate) fn new() -> Self {
        Self(HttpClient::builder().build().unwrap())
    }
}

fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn piece(text: &str) -> Value {
    json!({"model": MODEL, "message": {"role": "assistant", "content": text}, "done": false})
}

fn end(text: &str, finish: Finish, usage: Usage) -> Option<Value> {
    let reason = match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        _ => return None,
    };
    let mut end = piece(text);
    end["done"] = true.into();
    end["done_reason"] = reason.into();
    let counts = [("prompt_eval_count", usage.input_tokens), ("eval_count", usage.output_tokens)];
    for (name, count) in counts {
        if let Some(count) = count {
            end[name] = count.into();
        }
    }
    Some(end)
}

fn asked(format: &ReplyFormat) -> Option<String> {
    match format {
        ReplyFormat::Text => None,
        ReplyFormat::JsonSchema(schema) => {
            let fence = Fence::new(&resting_runtime()).unwrap();
            let schema = fence.block("schema", &schema.to_string());
            Some(format!(
                "Answer with one JSON value that satisfies the JSON Schema below, and nothing \
                 else.\n{}\n{schema}",
                fence.explain()
            ))
        }
        _ => Some("Answer with one JSON value and nothing else.".into()),
    }
}

impl ProviderCase for Ollama {
    fn name(&self) -> &str {
        "ollama"
    }

    fn provider(&self, endpoint: &Endpoint) -> Arc<dyn LlmProvider> {
        let builder = ModelBuilder::new(Service::Ollama, MODEL);
        build(builder.base_url(&endpoint.base_url), endpoint, &self.0)
    }

    fn expected(&self, request: &ChatRequest, streaming: bool, key: &str) -> ExpectedRequest {
        let system = (!request.system.is_empty()).then(|| request.system.clone());
        let system: Vec<_> = system.into_iter().chain(asked(&request.format)).collect();
        let system =
            (!system.is_empty()).then(|| json!({"role": "system", "content": system.join("\n\n")}));
        let messages = request.messages.iter().map(|message| {
            let role = if message.role == Role::User { "user" } else { "assistant" };
            json!({"role": role, "content": message.text})
        });
        let mut options = json!({"num_ctx": 4096});
        if request.temperature.is_some() {
            options["temperature"] = 0.5.into();
        }
        if let Some(tokens) = request.max_output_tokens {
            options["num_predict"] = tokens.into();
        }
        if let Some(seed) = request.seed {
            options["seed"] = seed.into();
        }
        if !request.stop.is_empty() {
            options["stop"] = json!(request.stop);
        }
        let mut body = json!({
            "model": MODEL,
            "messages": system.into_iter().chain(messages).collect::<Vec<_>>(),
            "stream": streaming,
            "options": options,
        });
        match &request.format {
            ReplyFormat::Json => body["format"] = "json".into(),
            ReplyFormat::JsonSchema(schema) => body["format"] = schema.clone(),
            _ => {}
        }
        let expected = ExpectedRequest::post("/api/chat", body);
        expected.header("authorization", format!("Bearer {key}"))
    }

    fn reply(&self, text: &str, finish: Finish, usage: Usage) -> Option<Vec<u8>> {
        Some(end(text, finish, usage)?.to_string().into())
    }

    fn empty_replies(&self) -> Vec<Vec<u8>> {
        let contents = [Value::Null, "".into(), " \n".into()];
        let replies =
            contents.map(|content| json!({"message": {"content": content}, "done": true}));
        replies.map(|reply| reply.to_string().into()).into()
    }

    fn stream(&self, pieces: &[&str], finish: Finish, usage: Usage) -> Option<Vec<u8>> {
        let end = end("", finish, usage)?;
        Some([self.unfinished_stream(pieces), line(&end)].concat())
    }

    fn unfinished_stream(&self, pieces: &[&str]) -> Vec<u8> {
        pieces.iter().flat_map(|text| line(&piece(text))).collect()
    }

    fn failing_stream(&self, pieces: &[&str], message: &str) -> Option<Vec<u8>> {
        Some([self.unfinished_stream(pieces), line(&json!({ "error": message }))].concat())
    }

    fn error(&self, _status: u16, message: &str) -> Vec<u8> {
        json!({ "error": message }).to_string().into()
    }

    fn error_in_success(&self, message: &str) -> Option<Vec<u8>> {
        Some(self.error(500, message))
    }

    fn too_long(&self) -> Option<(u16, Vec<u8>)> {
        Some((400, self.error(400, "the input length exceeds the context length")))
    }

    fn stream_type(&self) -> &str {
        "application/x-ndjson"
    }

    fn endless_event(&self) -> Vec<u8> {
        b"{\"padding\":\"".into()
    }
}
