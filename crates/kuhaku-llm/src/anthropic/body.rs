//! What is sent.

use kuhaku_core::{ChatRequest, ErrorKind, ReplyFormat, Role};
use serde_json::{Value, json};

use crate::dialect::temperature;
use crate::fault::Fault;
use crate::lowering::{Subset, lower};
use crate::turns::alternating;

/// The service wants a limit with every request.
const MOST_OUTPUT_TOKENS: u32 = 1024;

/// What structured output understands, as documented in its guide.
const SCHEMA: Subset = Subset {
    keywords: &[
        "$defs",
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "default",
        "definitions",
        "description",
        "enum",
        "items",
        "properties",
        "required",
        "title",
        "type",
    ],
    closed: true,
    recursive: false,
};

/// The schema as the service takes it, or `None` when it cannot hold a reply to it.
pub(super) fn schema(schema: &Value) -> Option<Value> {
    lower(schema, SCHEMA)
}

/// The body of a request. A seed has no place in it.
pub(super) fn of(model: &str, request: &ChatRequest, streaming: bool) -> Result<Value, Fault> {
    let mut turns = alternating(&request.messages);
    match turns.first() {
        Some((Role::User, _)) => {}
        Some(_) => return Err(impossible("the conversation begins with a reply")),
        None => return Err(impossible("there is no message with text")),
    }
    if let Some((Role::Assistant, text)) = turns.last_mut() {
        // A reply that is to be continued must not end in blanks.
        text.truncate(text.trim_end().len());
    }
    if request.stop.iter().any(|stop| stop.trim().is_empty()) {
        return Err(impossible("a stop text is blank"));
    }
    let messages = turns.iter().map(|(role, text)| {
        let role = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        json!({"role": role, "content": text})
    });
    let mut body = json!({
        "model": model,
        "max_tokens": request.max_output_tokens.unwrap_or(MOST_OUTPUT_TOKENS),
        "messages": messages.collect::<Vec<_>>(),
        "stream": streaming,
    });
    let mut set = |name: &str, value: Value| {
        if let Some(body) = body.as_object_mut() {
            body.insert(name.into(), value);
        }
    };
    if !request.system.trim().is_empty() {
        set("system", request.system.as_str().into());
    }
    if let Some(randomness) = request.temperature {
        // The scale ends at 1 here, and at 2 elsewhere.
        set("temperature", temperature(randomness.min(1.0)));
    }
    if !request.stop.is_empty() {
        set("stop_sequences", json!(request.stop));
    }
    if let ReplyFormat::JsonSchema(wanted) = &request.format
        && let Some(schema) = schema(wanted)
    {
        set("output_config", json!({"format": {"type": "json_schema", "schema": schema}}));
    }
    Ok(body)
}

fn impossible(wrong: &'static str) -> Fault {
    let next = "begin with a message of the user, and leave out blank messages and stop texts";
    Fault::new(ErrorKind::InvalidInput, wrong).next(next)
}
