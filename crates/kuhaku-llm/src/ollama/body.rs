//! What is sent.

use kuhaku_core::{ChatRequest, ErrorKind, Message, ReplyFormat, Role};
use serde_json::{Map, Value, json};

use crate::dialect::temperature;
use crate::fault::Fault;

/// The body of a request that gets a window of `num_ctx` tokens.
pub(super) fn of(
    model: &str,
    keep_alive: Option<&str>,
    num_ctx: u32,
    request: &ChatRequest,
    streaming: bool,
) -> Result<Value, Fault> {
    let said = |message: &&Message| !message.text.trim().is_empty();
    if !request.messages.iter().any(|message| said(&message)) {
        // The service would load the model and answer with nothing.
        let fault = Fault::new(ErrorKind::InvalidInput, "there is no message with text");
        return Err(fault.next("send a message with text"));
    }
    let system = Some(request.system.as_str()).filter(|system| !system.trim().is_empty());
    let system = system.map(|system| json!({"role": "system", "content": system}));
    let messages = request.messages.iter().map(|message| {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        json!({"role": role, "content": message.text})
    });
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("messages".into(), system.into_iter().chain(messages).collect());
    body.insert("stream".into(), streaming.into());
    body.insert("options".into(), options(num_ctx, request));
    match &request.format {
        ReplyFormat::Json => drop(body.insert("format".into(), "json".into())),
        ReplyFormat::JsonSchema(schema) => drop(body.insert("format".into(), schema.clone())),
        _ => {}
    }
    if let Some(time) = keep_alive {
        body.insert("keep_alive".into(), time_span(time));
    }
    Ok(body.into())
}

fn options(num_ctx: u32, request: &ChatRequest) -> Value {
    let mut options = Map::new();
    options.insert("num_ctx".into(), num_ctx.into());
    if let Some(value) = request.temperature {
        options.insert("temperature".into(), temperature(value));
    }
    if let Some(tokens) = request.max_output_tokens {
        options.insert("num_predict".into(), tokens.into());
    }
    if !request.stop.is_empty() {
        options.insert("stop".into(), json!(request.stop));
    }
    if let Some(seed) = request.seed {
        // The service reads a signed number and takes a negative one for none.
        options.insert("seed".into(), (seed & 0x7fff_ffff).into());
    }
    options.into()
}

/// A number is seconds, and is sent as one; `5m` stays a text.
pub(super) fn time_span(written: &str) -> Value {
    let written = written.trim();
    written.parse::<i64>().map_or_else(|_| written.into(), Value::from)
}
