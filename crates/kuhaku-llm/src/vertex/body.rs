//! What is sent.

use kuhaku_core::{ChatRequest, ErrorKind, ReplyFormat, Role};
use serde_json::{Map, Value, json};

use crate::dialect::temperature;
use crate::fault::Fault;
use crate::lowering::{Subset, lower};
use crate::turns::alternating;

/// What `responseJsonSchema` understands, as documented with the field.
const SCHEMA: Subset = Subset {
    keywords: &[
        "$anchor",
        "$defs",
        "$id",
        "$ref",
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "oneOf",
        "prefixItems",
        "properties",
        "required",
        "title",
        "type",
    ],
    closed: false,
    recursive: true,
};

/// The most stop texts that the service takes.
const MOST_STOPS: usize = 5;

/// The schema as the service takes it, or `None` when it cannot be lowered.
pub(super) fn schema(schema: &Value) -> Option<Value> {
    lower(schema, SCHEMA)
}

/// The body of a request.
pub(super) fn of(request: &ChatRequest) -> Result<Value, Fault> {
    let turns = alternating(&request.messages);
    if turns.is_empty() {
        let fault = Fault::new(ErrorKind::InvalidInput, "there is no message with text");
        return Err(fault.next("send a message with text"));
    }
    if request.stop.len() > MOST_STOPS {
        let wrong = format!("it takes {MOST_STOPS} stop texts, not {}", request.stop.len());
        return Err(Fault::new(ErrorKind::InvalidInput, wrong).next("give fewer stop texts"));
    }
    let contents = turns.iter().map(|(role, text)| {
        let role = match role {
            Role::User => "user",
            Role::Assistant => "model",
        };
        json!({"role": role, "parts": [{"text": text}]})
    });
    let mut body = Map::new();
    body.insert("contents".into(), contents.collect());
    if !request.system.trim().is_empty() {
        body.insert("systemInstruction".into(), json!({"parts": [{"text": request.system}]}));
    }
    let generation = generation(request);
    if !generation.is_empty() {
        body.insert("generationConfig".into(), generation.into());
    }
    Ok(body.into())
}

fn generation(request: &ChatRequest) -> Map<String, Value> {
    let mut config = Map::new();
    if let Some(value) = request.temperature {
        config.insert("temperature".into(), temperature(value));
    }
    if let Some(tokens) = request.max_output_tokens {
        config.insert("maxOutputTokens".into(), tokens.into());
    }
    if !request.stop.is_empty() {
        config.insert("stopSequences".into(), json!(request.stop));
    }
    if let Some(seed) = request.seed {
        // The field has 32 bits and a sign.
        config.insert("seed".into(), (seed & 0x7fff_ffff).into());
    }
    let json = match &request.format {
        ReplyFormat::Json => Some(None),
        ReplyFormat::JsonSchema(wanted) => schema(wanted).map(Some),
        _ => None,
    };
    if let Some(schema) = json {
        config.insert("responseMimeType".into(), "application/json".into());
        config.extend(schema.map(|schema| ("responseJsonSchema".into(), schema)));
    }
    config
}
