//! A service of the simplest kind, in the words of the suite.

use std::sync::Arc;

use kuhaku_core::{ChatRequest, Finish, LlmProvider, Usage};
use kuhaku_testkit::providers::{Endpoint, ExpectedRequest, ProviderCase};
use serde_json::{Value, json};

use crate::client::{Client, Fault, body};

pub(crate) struct Simple {
    pub(crate) fault: Option<Fault>,
}

fn finish_name(finish: Finish) -> &'static str {
    match finish {
        Finish::Length => "length",
        Finish::ContentFilter => "filter",
        Finish::Refusal => "refusal",
        _ => "stop",
    }
}

fn end(finish: Finish, usage: Usage) -> Value {
    let mut end = json!({"finish": finish_name(finish), "model": "m-1"});
    if usage != Usage::default() {
        end["usage"] = json!({"in": usage.input_tokens, "out": usage.output_tokens});
    }
    end
}

fn event(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

impl ProviderCase for Simple {
    fn name(&self) -> &str {
        "simple"
    }

    fn provider(&self, endpoint: &Endpoint) -> Arc<dyn LlmProvider> {
        Arc::new(Client::new(endpoint.clone(), self.fault))
    }

    fn expected(&self, request: &ChatRequest, streaming: bool, key: &str) -> ExpectedRequest {
        ExpectedRequest::post("/v1/chat", body(request, streaming, None)).header("x-key", key)
    }

    fn reply(&self, text: &str, finish: Finish, usage: Usage) -> Option<Vec<u8>> {
        let mut reply = end(finish, usage);
        reply["text"] = text.into();
        Some(reply.to_string().into())
    }

    fn empty_replies(&self) -> Vec<Vec<u8>> {
        let texts = [json!({"text": null}), json!({"text": ""}), json!({"text": " \n"})];
        texts.map(|text| text.to_string().into()).into()
    }

    fn stream(&self, pieces: &[&str], finish: Finish, usage: Usage) -> Option<Vec<u8>> {
        Some([self.unfinished_stream(pieces), event(&end(finish, usage))].concat())
    }

    fn unfinished_stream(&self, pieces: &[&str]) -> Vec<u8> {
        pieces.iter().flat_map(|piece| event(&json!({ "text": piece }))).collect()
    }

    fn failing_stream(&self, pieces: &[&str], message: &str) -> Option<Vec<u8>> {
        Some([self.unfinished_stream(pieces), event(&json!({ "error": message }))].concat())
    }

    fn error(&self, _: u16, message: &str) -> Vec<u8> {
        json!({ "error": message }).to_string().into()
    }

    fn error_in_success(&self, message: &str) -> Option<Vec<u8>> {
        Some(self.error(200, message))
    }

    fn too_long(&self) -> Option<(u16, Vec<u8>)> {
        Some((400, self.error(400, "too_long")))
    }

    fn retry_hint(&self, seconds: u64) -> Option<Vec<u8>> {
        Some(json!({"error": "busy", "retry_in": seconds}).to_string().into())
    }
}
