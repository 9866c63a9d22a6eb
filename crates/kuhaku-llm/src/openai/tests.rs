//! What is sent and read.

use kuhaku_core::{ChatRequest, ErrorKind, Finish, Usage};
use serde_json::json;

use super::*;
use crate::dialect::{Closing, Draft};

fn model(service: Service, model: &str) -> OpenAi {
    OpenAi { service, model: model.into(), endpoint: Endpoint::Chat }
}

fn body(dialect: &OpenAi, request: &ChatRequest, streaming: bool) -> Value {
    dialect.wire(request, streaming).unwrap().body
}

fn read(reply: &Value) -> Result<Draft, Fault> {
    let mut draft = Draft::default();
    let reader = &mut model(Service::OpenAi, "m").reader(&ChatRequest::default());
    reader.reply(reply, &mut draft).map(|()| draft)
}

fn stream(events: &[Value]) -> Result<Draft, Fault> {
    let mut draft = Draft::default();
    let reader = &mut model(Service::OpenAi, "m").reader(&ChatRequest::default());
    events.iter().try_for_each(|event| reader.event("", &event.to_string(), &mut draft))?;
    Ok(draft)
}

/// LLM-01
#[test]
fn a_request_and_its_reply_in_openais_words() {
    let request = ChatRequest::new("s", "q").temperature(0.1).max_output_tokens(1024);
    let wire = model(Service::OpenAi, "gpt-4o-mini").wire(&request, false).unwrap();
    assert_eq!(wire.path, "/chat/completions");
    assert_eq!(
        wire.body,
        json!({
            "model": "gpt-4o-mini",
            "temperature": 0.1,
            "max_tokens": 1024,
            "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}],
        })
    );
    let draft = read(&json!({
        "choices": [{"message": {"content": "  hi  "}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    }))
    .unwrap();
    assert_eq!((draft.text.trim(), draft.usage), ("hi", Usage::new(Some(7), Some(3))));
}

#[test]
fn models_that_reason_have_another_limit_and_no_temperature() {
    let request = ChatRequest::new("", "q").temperature(0.1).max_output_tokens(9);
    for (name, reasons) in [
        ("o3-mini", true),
        ("o1", true),
        ("gpt-5", true),
        ("gpt-5.1-mini", true),
        ("gpt-4o", false),
        ("gpt-4.1", false),
        ("omni-1", false),
    ] {
        let body = body(&model(Service::OpenAi, name), &request, false);
        assert_eq!(body.get("max_completion_tokens").is_some(), reasons, "{name}");
        assert_eq!(body.get("max_tokens").is_some(), !reasons, "{name}");
        assert_eq!(body.get("temperature").is_some(), !reasons, "{name}");
    }
    let elsewhere = body(&model(Service::OpenRouter, "openai/gpt-5"), &request, false);
    assert_eq!(elsewhere["max_tokens"], 9);
}

/// LLM-14: the part about native modes.
#[test]
fn a_schema_goes_to_the_models_that_hold_to_it() {
    let schema = ReplyFormat::JsonSchema(json!({
        "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
    }));
    let list = ReplyFormat::JsonSchema(json!({"type": "array", "items": {"type": "string"}}));
    for (service, name, format, streaming, native) in [
        (Service::OpenAi, "gpt-4o-mini", &schema, true, Native::Yes),
        (Service::OpenAi, "gpt-4o-mini", &list, true, Native::No),
        (Service::OpenAi, "gpt-4-turbo", &schema, false, Native::No),
        (Service::OpenAi, "gpt-4-turbo", &ReplyFormat::Json, false, Native::WithPrompt),
        (Service::Groq, "openai/gpt-oss-20b", &schema, false, Native::Yes),
        (Service::Groq, "openai/gpt-oss-20b", &schema, true, Native::No),
        (Service::Groq, "llama-3.1-8b-instant", &schema, false, Native::No),
        (Service::OpenRouter, "m", &schema, true, Native::WithPrompt),
        (Service::OpenAiCompat, "m", &list, true, Native::WithPrompt),
        (Service::OpenAiCompat, "m", &ReplyFormat::Json, true, Native::No),
        (Service::HuggingFace, "m", &list, true, Native::Yes),
    ] {
        let seen = model(service, name).native(format, streaming);
        assert_eq!(seen, native, "{service} {name} {format:?}");
    }
}

#[test]
fn what_compatible_servers_send_is_understood() {
    let choice = |message: Value| json!({"choices": [{"message": message}]});
    for (reply, text) in [
        (choice(json!({"content": "a"})), "a"),
        (choice(json!({"content": [{"type": "text", "text": "a"}, {"text": "b"}, 1]})), "ab"),
        (choice(json!({"content": "a", "refusal": null, "reasoning": "hm"})), "a"),
        (json!({"choices": [{"text": "a", "index": 0}], "usage": null}), "a"),
        (json!({"choices": [{"message": {"content": "a"}, "error": null}], "error": null}), "a"),
    ] {
        assert_eq!(read(&reply).unwrap().text, text, "{reply}");
    }
    let draft = stream(&[
        json!({"choices": [{"index": 1, "delta": {"content": "other"}}]}),
        json!({"choices": [{"index": 0, "delta": {"role": "assistant"}}]}),
        json!({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "length"}]}),
        json!({"choices": [], "x_groq": {"usage": {"prompt_tokens": 4, "completion_tokens": 0}}}),
    ])
    .unwrap();
    assert_eq!((draft.text.as_str(), draft.finish), ("a", Some(Finish::Length)));
    assert_eq!(draft.usage, Usage::new(Some(4), None));
    assert_eq!(draft.closing, Closing::Possible);
}

#[test]
fn a_failure_inside_a_reply_is_found_wherever_it_stands() {
    let error = json!({"message": "m", "code": 502});
    for reply in [
        json!({"error": error, "choices": [{"message": {"content": "a"}}]}),
        json!({"choices": [{"error": error, "message": {"content": ""}}]}),
        json!({"choices": [{"message": {"content": "a"}, "finish_reason": "error"}]}),
        json!({"error": "m"}),
        json!({"error": 1}),
    ] {
        assert_eq!(read(&reply).unwrap_err().kind, ErrorKind::Unavailable, "{reply}");
    }
}

#[test]
fn what_groq_refuses_as_json_is_kept_for_our_own_check() {
    let groq = model(Service::Groq, "m");
    let error = json!({"message": "m", "code": "json_validate_failed", "failed_generation": "{}"});
    let fault = groq.failure(400, &json!({ "error": error }));
    assert_eq!((fault.kind, fault.salvage.as_deref()), (ErrorKind::InvalidInput, Some("{}")));
}
