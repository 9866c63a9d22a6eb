//! Services that speak OpenAI's language, and text-generation-inference.

use std::sync::Arc;

use kuhaku_core::{ChatRequest, Fence, Finish, HttpClient, LlmProvider, ReplyFormat, Role, Usage};
use kuhaku_llm::{ModelBuilder, Service};
use kuhaku_testkit::providers::{Endpoint, ExpectedRequest, ProviderCase};
use serde_json::{Map, Value, json};

use crate::support::{build, event, resting_runtime};

/// Which endpoint of which service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speech {
    Chat,
    Completions,
    Generate,
}

/// A service and the words that it uses.
#[derive(Debug)]
pub(crate) struct Case {
    service: Service,
    name: &'static str,
    base_path: &'static str,
    path: &'static str,
    speech: Speech,
    http: HttpClient,
}

const MODEL: &str = "maker/gpt-oss-20b";

impl Case {
    fn new(service: Service, name: &'static str, base_path: &'static str) -> Self {
        let http = HttpClient::builder().build().unwrap();
        let path = "/chat/completions";
        Self { service, name, base_path, path, speech: Speech::Chat, http }
    }

    pub(crate) fn openai() -> Self {
        Self::new(Service::OpenAi, "openai", "/v1/")
    }

    pub(crate) fn groq() -> Self {
        Self::new(Service::Groq, "groq", "/openai/v1")
    }

    pub(crate) fn openrouter() -> Self {
        Self::new(Service::OpenRouter, "openrouter", "/api/v1")
    }

    pub(crate) fn compatible() -> Self {
        Self::new(Service::OpenAiCompat, "openai_compat", "/v1")
    }

    pub(crate) fn completions() -> Self {
        let case = Self::new(Service::OpenAiCompat, "openai_compat completions", "/v1/completions");
        Self { path: "", speech: Speech::Completions, ..case }
    }

    pub(crate) fn tgi_chat() -> Self {
        Self::new(Service::HuggingFace, "huggingface chat", "/v1")
    }

    pub(crate) fn tgi() -> Self {
        let case = Self::new(Service::HuggingFace, "huggingface", "");
        Self { path: "/generate", speech: Speech::Generate, ..case }
    }

    fn asks_in_prompt(&self, format: &ReplyFormat, streaming: bool) -> bool {
        match (self.service, format) {
            (_, ReplyFormat::Text) => false,
            (Service::OpenAi, ReplyFormat::JsonSchema(_)) => false,
            (Service::Groq, ReplyFormat::JsonSchema(_)) => streaming,
            (Service::HuggingFace, ReplyFormat::JsonSchema(_)) => self.speech == Speech::Generate,
            _ => true,
        }
    }

    fn system(&self, request: &ChatRequest, streaming: bool) -> String {
        if !self.asks_in_prompt(&request.format, streaming) {
            return request.system.clone();
        }
        let asked = match &request.format {
            ReplyFormat::JsonSchema(schema) => {
                let fence = Fence::new(&resting_runtime()).unwrap();
                let schema = fence.block("schema", &schema.to_string());
                format!(
                    "Answer with one JSON value that satisfies the JSON Schema below, and nothing \
                     else.\n{}\n{schema}",
                    fence.explain()
                )
            }
            _ => "Answer with one JSON value and nothing else.".into(),
        };
        [request.system.as_str(), &asked].join("\n\n")
    }

    fn response_format(&self, format: &ReplyFormat, streaming: bool) -> Option<Value> {
        let schema = match format {
            ReplyFormat::Json => json!({"type": "object"}),
            ReplyFormat::JsonSchema(schema) => schema.clone(),
            _ => return None,
        };
        let named = json!({"name": "reply", "strict": true, "schema": schema});
        match (self.service, format) {
            _ if self.speech == Speech::Completions => None,
            (Service::Groq, _) if streaming => None,
            (Service::HuggingFace, _) => Some(json!({"type": "json_object", "value": schema})),
            (Service::OpenAiCompat, ReplyFormat::Json) => None,
            (_, ReplyFormat::Json) => Some(json!({"type": "json_object"})),
            _ => Some(json!({"type": "json_schema", "json_schema": named})),
        }
    }

    fn messages(&self, request: &ChatRequest, streaming: bool) -> Vec<Value> {
        let system = self.system(request, streaming);
        let system = (!system.is_empty()).then(|| json!({"role": "system", "content": system}));
        let rest = request.messages.iter().map(|message| {
            let role = if message.role == Role::User { "user" } else { "assistant" };
            json!({"role": role, "content": message.text})
        });
        system.into_iter().chain(rest).collect()
    }

    fn prompt(&self, request: &ChatRequest, streaming: bool) -> String {
        let mut prompt = self.system(request, streaming);
        if !prompt.is_empty() {
            prompt.push_str("\n\n");
        }
        if let [one] = request.messages.as_slice() {
            return prompt + &one.text;
        }
        for message in &request.messages {
            let name = if message.role == Role::User { "User" } else { "Assistant" };
            prompt.push_str(&format!("{name}: {}\n\n", message.text));
        }
        prompt + "Assistant:"
    }

    fn generate_body(&self, request: &ChatRequest, streaming: bool) -> Value {
        let mut parameters = Map::from_iter([("details".to_owned(), true.into())]);
        if request.temperature.is_some() {
            parameters.insert("do_sample".into(), true.into());
            parameters.insert("temperature".into(), 0.5.into());
        }
        let options = [
            ("max_new_tokens", request.max_output_tokens.map(Value::from)),
            ("seed", request.seed.map(Value::from)),
            ("stop", (!request.stop.is_empty()).then(|| request.stop.clone().into())),
            (
                "grammar",
                self.response_format(&request.format, streaming)
                    .map(|mut format| json!({"type": "json", "value": format["value"].take()})),
            ),
        ];
        parameters.extend(options.into_iter().filter_map(|(k, v)| Some((k.into(), v?))));
        json!({"inputs": self.prompt(request, streaming), "parameters": parameters})
    }

    fn body(&self, request: &ChatRequest, streaming: bool) -> Value {
        let mut body = json!({"model": MODEL});
        let options = [
            ("temperature", request.temperature.map(|_| 0.5.into())),
            ("max_tokens", request.max_output_tokens.map(Value::from)),
            ("seed", request.seed.map(Value::from)),
            ("stop", (!request.stop.is_empty()).then(|| request.stop.clone().into())),
            ("stream", streaming.then_some(Value::Bool(true))),
            ("stream_options", streaming.then(|| json!({"include_usage": true}))),
            ("response_format", self.response_format(&request.format, streaming)),
        ];
        for (name, value) in options {
            if let Some(value) = value {
                body[name] = value;
            }
        }
        match self.speech {
            Speech::Chat => body["messages"] = self.messages(request, streaming).into(),
            _ => body["prompt"] = self.prompt(request, streaming).into(),
        }
        body
    }

    /// A choice with text, refusal and reason, as a whole or as a piece.
    fn choice(&self, part: &str, text: Value, finish: Option<Finish>) -> Value {
        let reason = finish.map(|finish| match finish {
            Finish::Length => "length",
            Finish::ContentFilter => "content_filter",
            _ => "stop",
        });
        if self.speech == Speech::Completions {
            return json!({"index": 0, "text": text, "finish_reason": reason});
        }
        let refused = finish == Some(Finish::Refusal) && part == "message";
        let message = if refused {
            json!({"role": "assistant", "content": null, "refusal": text})
        } else {
            json!({"role": "assistant", "content": text})
        };
        json!({"index": 0, part: message, "finish_reason": reason})
    }

    fn envelope(&self, choices: Vec<Value>, usage: Usage) -> Value {
        let mut reply = json!({"id": "1", "model": "m-1", "choices": choices});
        let counts =
            [("prompt_tokens", usage.input_tokens), ("completion_tokens", usage.output_tokens)];
        for (name, count) in counts {
            if let Some(count) = count {
                reply["usage"][name] = count.into();
            }
        }
        reply
    }

    /// What ends a text of text-generation-inference.
    fn details(finish: Finish, usage: Usage) -> Value {
        let reason = if finish == Finish::Length { "length" } else { "eos_token" };
        let mut details = json!({"finish_reason": reason, "seed": null});
        for (name, count) in
            [("input_length", usage.input_tokens), ("generated_tokens", usage.output_tokens)]
        {
            if let Some(count) = count {
                details[name] = count.into();
            }
        }
        details
    }

    fn can_end(&self, finish: Finish, text: &str) -> bool {
        match self.speech {
            Speech::Chat => finish != Finish::Refusal || !text.is_empty(),
            Speech::Completions => finish != Finish::Refusal,
            Speech::Generate => matches!(finish, Finish::Stop | Finish::Length),
        }
    }
}

impl ProviderCase for Case {
    fn name(&self) -> &str {
        self.name
    }

    fn provider(&self, endpoint: &Endpoint) -> Arc<dyn LlmProvider> {
        let url = format!("{}{}", endpoint.base_url, self.base_path);
        build(ModelBuilder::new(self.service, MODEL).base_url(url), endpoint, &self.http)
    }

    fn expected(&self, request: &ChatRequest, streaming: bool, key: &str) -> ExpectedRequest {
        let base = self.base_path.trim_end_matches('/');
        let (path, body) = match self.speech {
            Speech::Generate if streaming => {
                ("/generate_stream", self.generate_body(request, streaming))
            }
            Speech::Generate => (self.path, self.generate_body(request, streaming)),
            _ => (self.path, self.body(request, streaming)),
        };
        ExpectedRequest::post(format!("{base}{path}"), body)
            .header("authorization", format!("Bearer {key}"))
    }

    fn reply(&self, text: &str, finish: Finish, usage: Usage) -> Option<Vec<u8>> {
        if !self.can_end(finish, text) {
            return None;
        }
        let reply = match self.speech {
            Speech::Generate => {
                json!({"generated_text": text, "details": Self::details(finish, usage)})
            }
            _ => self.envelope(vec![self.choice("message", text.into(), Some(finish))], usage),
        };
        Some(reply.to_string().into())
    }

    fn empty_replies(&self) -> Vec<Vec<u8>> {
        let texts = [Value::Null, "".into(), " \n".into(), json!([])];
        let replies = texts.map(|text| match self.speech {
            Speech::Generate => json!({ "generated_text": text }),
            _ => json!({"choices": [self.choice("message", text, Some(Finish::Stop))]}),
        });
        let mut replies: Vec<Vec<u8>> =
            replies.into_iter().map(|reply| reply.to_string().into()).collect();
        if self.speech != Speech::Generate {
            replies.push(json!({"choices": []}).to_string().into());
        }
        replies
    }

    fn stream(&self, pieces: &[&str], finish: Finish, usage: Usage) -> Option<Vec<u8>> {
        if !self.can_end(finish, &pieces.concat()) {
            return None;
        }
        if self.speech == Speech::Generate {
            let end = json!({
                "token": {"id": 2, "text": "</s>", "special": true},
                "generated_text": pieces.concat(),
                "details": Self::details(finish, usage),
            });
            return Some([self.unfinished_stream(pieces), event(&end)].concat());
        }
        let mut stream = if finish == Finish::Refusal {
            let refusals = pieces.iter().map(|piece| {
                let delta = json!({"content": null, "refusal": piece});
                event(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
            });
            refusals.flatten().collect()
        } else {
            self.unfinished_stream(pieces)
        };
        let last = self.choice("delta", "".into(), Some(finish));
        stream.extend(event(&self.envelope(vec![last], Usage::default())));
        if usage != Usage::default() {
            stream.extend(event(&self.envelope(Vec::new(), usage)));
        }
        stream.extend(b"data: [DONE]\n\n");
        Some(stream)
    }

    fn unfinished_stream(&self, pieces: &[&str]) -> Vec<u8> {
        let events = pieces.iter().map(|piece| match self.speech {
            Speech::Generate => event(&json!({
                "token": {"id": 1, "text": piece, "special": false}, "generated_text": null,
            })),
            _ => {
                let choice = self.choice("delta", (*piece).into(), None);
                event(&self.envelope(vec![choice], Usage::default()))
            }
        });
        let comments = b": PROCESSING\n\n".to_vec();
        std::iter::once(comments).chain(events).flatten().collect()
    }

    fn failing_stream(&self, pieces: &[&str], message: &str) -> Option<Vec<u8>> {
        let error = match self.service {
            Service::OpenRouter => json!({
                "error": {"code": 502, "message": message},
                "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}],
            }),
            _ => serde_json::from_slice(&self.error(500, message)).unwrap(),
        };
        Some([self.unfinished_stream(pieces), event(&error)].concat())
    }

    fn error(&self, status: u16, message: &str) -> Vec<u8> {
        let error = match self.speech {
            Speech::Generate => json!({"error": message, "error_type": "overloaded"}),
            Speech::Completions => {
                json!({"object": "error", "message": message, "type": "e", "code": status})
            }
            Speech::Chat => {
                json!({"error": {"message": message, "type": "e", "param": null, "code": null}})
            }
        };
        error.to_string().into()
    }

    fn error_in_success(&self, message: &str) -> Option<Vec<u8>> {
        match self.service {
            Service::OpenRouter => {
                let error = json!({"code": 502, "message": message});
                Some(json!({"choices": [{"error": error}]}).to_string().into())
            }
            _ => Some(self.error(500, message)),
        }
    }

    fn too_long(&self) -> Option<(u16, Vec<u8>)> {
        let (status, message) = match self.speech {
            Speech::Generate => {
                (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096")
            }
            _ => (400, "This model's maximum context length is 8192 tokens, you sent 9000 tokens."),
        };
        Some((status, self.error(status, message)))
    }

    fn retry_hint(&self, seconds: u64) -> Option<Vec<u8>> {
        Some(self.error(429, &format!("Rate limit reached. Please try again in {seconds}s.")))
    }
}
