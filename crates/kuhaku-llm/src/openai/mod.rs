//! OpenAI's dialect and those who speak it: Groq, OpenRouter, text-generation-inference, vLLM,
//! LM Studio, llama.cpp.

mod address;
mod body;
mod embeddings;
mod reader;

use kuhaku_core::{Capabilities, ChatRequest, ReplyFormat};
use serde_json::{Value, json};

pub(crate) use self::address::{Endpoint, address};
pub(crate) use self::body::transcript;
pub(crate) use self::embeddings::OpenAiEmbeddings;
use self::reader::ChoiceReader;
use crate::dialect::{Dialect, Framing, Native, Reader, Wire};
use crate::fault::Fault;
use crate::schema::strict;
use crate::service::Service;
use crate::words::Words;

/// One model behind an endpoint of OpenAI's kind.
#[derive(Clone, Debug)]
pub(crate) struct OpenAi {
    pub(crate) service: Service,
    pub(crate) model: String,
    pub(crate) endpoint: Endpoint,
}

/// How a schema is given to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchemaForm {
    /// Lowered to OpenAI's strict subset.
    Strict,
    /// As it is.
    Whole,
    /// As a grammar of text-generation-inference.
    Grammar,
    /// Not at all.
    Absent,
}

impl OpenAi {
    /// The model's name without the maker's, in lower case.
    fn base_name(&self) -> String {
        let name = self.model.rsplit('/').next().unwrap_or_default();
        name.to_ascii_lowercase()
    }

    /// Models that reason count the tokens of their thoughts too: their limit has another name, and
    /// they take no temperature.
    fn reasons(&self) -> bool {
        let name = self.base_name();
        let o_series = name.strip_prefix('o').is_some_and(|rest| rest.starts_with(digit));
        let gpt = name.strip_prefix("gpt-").and_then(|rest| rest.chars().next());
        self.service == Service::OpenAi
            && (o_series || gpt.is_some_and(|c| ('5'..='9').contains(&c)))
    }

    fn schema_form(&self) -> SchemaForm {
        let name = self.base_name();
        let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        match self.service {
            _ if self.endpoint == Endpoint::Completions => SchemaForm::Absent,
            Service::OpenAi if begins(&["gpt-3.5", "gpt-4-"]) || name == "gpt-4" => {
                SchemaForm::Absent
            }
            Service::Groq if begins(&["gpt-oss"]) => SchemaForm::Strict,
            Service::Groq if begins(&["llama-4", "kimi-k2"]) => SchemaForm::Whole,
            Service::Groq => SchemaForm::Absent,
            Service::HuggingFace => SchemaForm::Grammar,
            Service::OpenAiCompat => SchemaForm::Whole,
            _ => SchemaForm::Strict,
        }
    }

    /// What `response_format` says; `None` when the form stands in the prompt alone.
    fn response_format(&self, format: &ReplyFormat) -> Option<Value> {
        let named = |schema: Value, strict: bool| {
            json!({
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": strict, "schema": schema},
            })
        };
        match (format, self.schema_form()) {
            (ReplyFormat::Json, SchemaForm::Grammar) => {
                Some(json!({"type": "json_object", "value": {"type": "object"}}))
            }
            (ReplyFormat::Json, _) if self.service == Service::OpenAiCompat => None,
            (ReplyFormat::Json, _) => Some(json!({"type": "json_object"})),
            (ReplyFormat::JsonSchema(schema), SchemaForm::Strict) => {
                let strict = strict(schema)?;
                if !strict.dropped.is_empty() {
                    let keywords = strict.dropped.join(", ");
                    tracing::debug!(keywords, "a schema was sent without these rules");
                }
                Some(named(strict.schema, true))
            }
            (ReplyFormat::JsonSchema(schema), SchemaForm::Whole) => {
                Some(named(schema.clone(), self.service != Service::Groq))
            }
            (ReplyFormat::JsonSchema(schema), SchemaForm::Grammar) => {
                Some(json!({"type": "json_object", "value": schema}))
            }
            _ => None,
        }
    }
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

impl Dialect for OpenAi {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.json_schema = self.schema_form() != SchemaForm::Absent;
        capabilities
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn native(&self, format: &ReplyFormat, streaming: bool) -> Native {
        // Groq refuses to stream what it holds to a form.
        let unable = self.service == Service::Groq && streaming;
        if unable
            || self.endpoint == Endpoint::Completions
            || self.response_format(format).is_none()
        {
            return Native::No;
        }
        let optional = matches!(self.service, Service::OpenRouter | Service::OpenAiCompat);
        // OpenAI refuses a request for JSON whose messages do not speak of it.
        if optional || *format == ReplyFormat::Json { Native::WithPrompt } else { Native::Yes }
    }

    fn wire(&self, request: &ChatRequest, streaming: bool) -> Result<Wire, Fault> {
        let (path, body) = match self.endpoint {
            Endpoint::Chat => ("/chat/completions", self.chat_body(request, streaming)),
            Endpoint::Completions => ("/completions", self.completion_body(request, streaming)),
        };
        let wire = Wire::new(path, body);
        // OpenRouter attributes use to the application that this names.
        let named = self.service == Service::OpenRouter;
        Ok(if named { wire.header("x-title", "kuhaku") } else { wire })
    }

    fn reader(&self, _: &ChatRequest) -> Box<dyn Reader> {
        Box::new(ChoiceReader)
    }

    fn failure(&self, status: u16, body: &Value) -> Fault {
        let fault = Fault::of_status(status);
        let Some(words) = Words::of(body) else { return fault };
        let mut fault = words.refine(fault);
        // Groq's check of JSON is stricter than its models: what they wrote may do.
        let failed = body.pointer("/error/failed_generation").and_then(Value::as_str);
        fault.salvage = failed.filter(|text| !text.trim().is_empty()).map(str::to_owned);
        fault
    }

    fn when_unreachable(&self) -> Option<String> {
        let local = matches!(self.service, Service::OpenAiCompat | Service::HuggingFace);
        local.then(|| {
            format!(
                "start the server, or set KUHAKU_{}_BASE_URL to where it is",
                self.service.name().to_uppercase()
            )
        })
    }
}

#[cfg(test)]
mod tests;
