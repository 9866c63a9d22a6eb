//! Vertex AI.

use std::sync::Arc;

use kuhaku_core::{ChatRequest, Finish, HttpClient, LlmProvider, ReplyFormat, Role, Usage};
use kuhaku_llm::{ModelBuilder, Service};
use kuhaku_testkit::providers::{Endpoint, ExpectedRequest, ProviderCase};
use serde_json::{Value, json};

use crate::support::{build, event};

/// Gemini on Vertex AI, opened by an access token.
#[derive(Debug)]
pub(crate) struct Vertex(HttpClient);

impl Vertex {
    pub(crate) fn new() -> Self {
        Self(HttpClient::builder().build().unwrap())
    }
}

fn candidate(text: &Value, finish: Option<Finish>) -> Value {
    let reason = finish.map(|finish| match finish {
        Finish::Length => "MAX_TOKENS",
        Finish::ContentFilter => "SAFETY",
        _ => "STOP",
    });
    json!({
        "candidates": [{
            "content": {"role": "model", "parts": [{"text": text}]}, "finishReason": reason,
        }],
        "modelVersion": "gemini-001",
    })
}

fn ended(text: &str, finish: Finish, usage: Usage) -> Option<Value> {
    if finish == Finish::Refusal {
        return None;
    }
    let mut reply = candidate(&text.into(), Some(finish));
    let counts =
        [("promptTokenCount", usage.input_tokens), ("candidatesTokenCount", usage.output_tokens)];
    for (name, count) in counts {
        if let Some(count) = count {
            reply["usageMetadata"][name] = count.into();
        }
    }
    Some(reply)
}

impl ProviderCase for Vertex {
    fn name(&self) -> &str {
        "vertex"
    }

    fn provider(&self, endpoint: &Endpoint) -> Arc<dyn LlmProvider> {
        let builder = ModelBuilder::new(Service::Vertex, "gemini").project("p").location("global");
        build(builder.base_url(&endpoint.base_url), endpoint, &self.0)
    }

    fn expected(&self, request: &ChatRequest, streaming: bool, key: &str) -> ExpectedRequest {
        let contents = request.messages.iter().map(|message| {
            let role = if message.role == Role::User { "user" } else { "model" };
            json!({"role": role, "parts": [{"text": message.text}]})
        });
        let mut body = json!({"contents": contents.collect::<Vec<_>>()});
        if !request.system.is_empty() {
            body["systemInstruction"] = json!({"parts": [{"text": request.system}]});
        }
        let mut set = |name: &str, value: Value| body["generationConfig"][name] = value;
        if request.temperature.is_some() {
            set("temperature", 0.5.into());
        }
        if let Some(tokens) = request.max_output_tokens {
            set("maxOutputTokens", tokens.into());
        }
        if let Some(seed) = request.seed {
            set("seed", seed.into());
        }
        if !request.stop.is_empty() {
            set("stopSequences", json!(request.stop));
        }
        if request.format != ReplyFormat::Text {
            set("responseMimeType", "application/json".into());
        }
        if let ReplyFormat::JsonSchema(schema) = &request.format {
            set("responseJsonSchema", schema.clone());
        }
        let model = "/v1/projects/p/locations/global/publishers/google/models/gemini";
        let method = if streaming { "streamGenerateContent?alt=sse" } else { "generateContent" };
        ExpectedRequest::post(format!("{model}:{method}"), body)
            .header("authorization", format!("Bearer {key}"))
    }

    fn reply(&self, text: &str, finish: Finish, usage: Usage) -> Option<Vec<u8>> {
        Some(ended(text, finish, usage)?.to_string().into())
    }

    fn empty_replies(&self) -> Vec<Vec<u8>> {
        let texts = [Value::Null, "".into(), " \n".into()];
        let replies = texts.map(|text| candidate(&text, Some(Finish::Stop)));
        let none = json!({"candidates": []});
        replies.into_iter().chain([none]).map(|reply| reply.to_string().into()).collect()
    }

    fn stream(&self, pieces: &[&str], finish: Finish, usage: Usage) -> Option<Vec<u8>> {
        let end = ended("", finish, usage)?;
        Some([self.unfinished_stream(pieces), event(&end)].concat())
    }

    fn unfinished_stream(&self, pieces: &[&str]) -> Vec<u8> {
        pieces.iter().flat_map(|piece| event(&candidate(&(*piece).into(), None))).collect()
    }

    fn failing_stream(&self, pieces: &[&str], message: &str) -> Option<Vec<u8>> {
        let error = serde_json::from_slice(&self.error(503, message)).unwrap();
        Some([self.unfinished_stream(pieces), event(&error)].concat())
    }

    fn error(&self, status: u16, message: &str) -> Vec<u8> {
        let error = json!({"error": {"code": status, "message": message, "status": "STATUS"}});
        error.to_string().into()
    }

    fn error_in_success(&self, message: &str) -> Option<Vec<u8>> {
        Some(self.error(503, message))
    }

    fn too_long(&self) -> Option<(u16, Vec<u8>)> {
        let message = "The input token count (1200000) exceeds the maximum number of tokens \
                       allowed (1048576).";
        Some((400, self.error(400, message)))
    }

    fn retry_hint(&self, seconds: u64) -> Option<Vec<u8>> {
        let details = json!([{
            "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s"),
        }]);
        let error = json!({"code": 429, "message": "Resource exhausted.", "details": details});
        Some(json!({ "error": error }).to_string().into())
    }
}
