//! The native endpoints of text-generation-inference: one text in, its continuation out.
//!
//! No chat template is applied there. A base URL that ends in `/v1` leads to its messages instead,
//! in OpenAI's dialect. A text at which the reply was to stop is the last part of the reply.

use kuhaku_core::{Capabilities, ChatRequest, Finish, ReplyFormat};
use serde_json::{Map, Value, json};

use crate::dialect::{Closing, Dialect, Draft, Framing, Native, Reader, Wire, json, temperature};
use crate::fault::Fault;
use crate::openai::transcript;
use crate::words::Words;

/// The model that a server of text-generation-inference was started with.
#[derive(Clone, Debug)]
pub(crate) struct Tgi;

impl Dialect for Tgi {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.json_schema = true;
        capabilities
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn native(&self, _: &ReplyFormat, _: bool) -> Native {
        // A grammar holds the model to the form; only the prompt makes it fill the form sensibly.
        Native::WithPrompt
    }

    fn wire(&self, request: &ChatRequest, streaming: bool) -> Result<Wire, Fault> {
        let mut parameters = Map::new();
        // Without details there is no reason why the reply ended.
        parameters.insert("details".into(), true.into());
        if let Some(most) = request.max_output_tokens {
            parameters.insert("max_new_tokens".into(), most.into());
        }
        if let Some(value) = request.temperature {
            // A temperature of 0 is refused; it means the most probable token.
            parameters.insert("do_sample".into(), (value > 0.0).into());
            if value > 0.0 {
                parameters.insert("temperature".into(), temperature(value));
            }
        }
        if !request.stop.is_empty() {
            parameters.insert("stop".into(), request.stop.as_slice().into());
        }
        if let Some(seed) = request.seed {
            parameters.insert("seed".into(), seed.into());
        }
        let grammar = match &request.format {
            ReplyFormat::Json => Some(json!({"type": "object"})),
            ReplyFormat::JsonSchema(schema) => Some(schema.clone()),
            _ => None,
        };
        if let Some(grammar) = grammar {
            parameters.insert("grammar".into(), json!({"type": "json", "value": grammar}));
        }
        let path = if streaming { "/generate_stream" } else { "/generate" };
        Ok(Wire::new(path, json!({"inputs": transcript(request), "parameters": parameters})))
    }

    fn reader(&self, _: &ChatRequest) -> Box<dyn Reader> {
        Box::new(TgiReader)
    }

    fn failure(&self, status: u16, body: &Value) -> Fault {
        let fault = Fault::of_status(status);
        match Words::of(body) {
            Some(words) => words.refine(fault),
            None => fault,
        }
    }

    fn when_unreachable(&self) -> Option<String> {
        Some("start the server, or set KUHAKU_HUGGINGFACE_BASE_URL to where it is".into())
    }
}

struct TgiReader;

impl Reader for TgiReader {
    fn reply(&mut self, body: &Value, draft: &mut Draft) -> Result<(), Fault> {
        let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
        if let Some(words) = Words::reported(body) {
            return Err(words.into_fault());
        }
        let Some(text) = body.get("generated_text") else {
            return Err(Fault::malformed("the reply has no generated text"));
        };
        draft.text.push_str(text.as_str().unwrap_or_default());
        read_details(body, draft);
        Ok(())
    }

    fn event(&mut self, _: &str, data: &str, draft: &mut Draft) -> Result<(), Fault> {
        let body = json(data)?;
        if let Some(words) = Words::reported(&body) {
            return Err(words.into_fault());
        }
        let token = body.get("token").unwrap_or(&Value::Null);
        // The tokens that end a reply are no text.
        if token.get("special").and_then(Value::as_bool) != Some(true) {
            draft.text.push_str(token.get("text").and_then(Value::as_str).unwrap_or_default());
        }
        if body.get("generated_text").is_some_and(Value::is_string) {
            read_details(&body, draft);
        }
        Ok(())
    }
}

fn read_details(body: &Value, draft: &mut Draft) {
    if let Some(details) = body.get("details") {
        draft.count(details.get("input_length"), details.get("generated_tokens"));
        let reason = details.get("finish_reason").and_then(Value::as_str);
        draft.finish = reason.map(|reason| match reason {
            "length" => Finish::Length,
            _ => Finish::Stop,
        });
    }
    draft.closing = Closing::Reached;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HY-64: the part about request and reply.
    #[test]
    fn one_text_goes_to_generate_as_it_is() {
        let request = ChatRequest::new("", "P").temperature(0.0).max_output_tokens(50);
        let wire = Tgi.wire(&request, false).unwrap();
        assert_eq!(wire.path, "/generate");
        let parameters = json!({"max_new_tokens": 50, "do_sample": false, "details": true});
        assert_eq!(wire.body, json!({"inputs": "P", "parameters": parameters}));
        for reply in [json!({"generated_text": "hi"}), json!([{"generated_text": "hi"}])] {
            let mut draft = Draft::default();
            TgiReader.reply(&reply, &mut draft).unwrap();
            assert_eq!((draft.text.as_str(), draft.finish), ("hi", None));
        }
    }
}
