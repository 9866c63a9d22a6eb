//! The dialect as pure functions.

use kuhaku_core::{ChatRequest, ErrorKind, Finish, Message, ReplyFormat, Usage};
use serde_json::{Value, json};

use super::Anthropic;
use crate::dialect::{Closing, Dialect, Draft, Native};
use crate::fault::Fault;

fn request() -> ChatRequest {
    ChatRequest::new("Be brief.", "How long is the notice period?")
}

fn body(request: &ChatRequest) -> Value {
    Anthropic::new("m").wire(request, false).unwrap().body
}

fn read(reply: &Value) -> Result<Draft, Fault> {
    let mut draft = Draft::default();
    Anthropic::new("m").reader(&request()).reply(reply, &mut draft)?;
    Ok(draft)
}

fn stream(events: &[Value]) -> (Draft, Result<(), Fault>) {
    let mut draft = Draft::default();
    let mut reader = Anthropic::new("m").reader(&request());
    let outcome =
        events.iter().try_for_each(|event| reader.event("", &event.to_string(), &mut draft));
    (draft, outcome)
}

/// LLM-02: the request.
#[test]
fn instructions_stand_apart_and_a_limit_is_always_sent() {
    let wire = Anthropic::new("m").wire(&request(), true).unwrap();
    assert_eq!(wire.path, "/v1/messages");
    assert_eq!(wire.headers, [("anthropic-version", "2023-06-01".to_owned())]);
    let expected = json!({
        "model": "m",
        "max_tokens": 1024,
        "stream": true,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "How long is the notice period?"}],
    });
    assert_eq!(wire.body, expected);
}

#[test]
fn options_are_sent_in_the_scale_of_the_service() {
    let mut request = request().temperature(1.5).max_output_tokens(64);
    request.stop = vec!["END".into()];
    request.seed = Some(7);
    let body = body(&request);
    assert_eq!(body["temperature"], json!(1.0));
    assert_eq!(body["max_tokens"], json!(64));
    assert_eq!(body["stop_sequences"], json!(["END"]));
    assert!(body.get("seed").is_none());
}

#[test]
fn roles_alternate_and_blank_messages_are_left_out() {
    let mut request = request();
    request.messages.push(Message::user("In Spain."));
    request.messages.push(Message::assistant("It is \n"));
    let expected = json!([
        {"role": "user", "content": "How long is the notice period?\n\nIn Spain."},
        {"role": "assistant", "content": "It is"},
    ]);
    assert_eq!(body(&request)["messages"], expected);
}

#[test]
fn what_the_service_cannot_express_is_refused_before_it_is_sent() {
    let mut reply_first = request();
    reply_first.messages.insert(0, Message::assistant("Hello."));
    let mut blank_stop = request();
    blank_stop.stop.push("\n".into());
    for request in [reply_first, blank_stop, ChatRequest::new("system", " ")] {
        let fault = Anthropic::new("m").wire(&request, false).unwrap_err();
        assert_eq!(fault.kind, ErrorKind::InvalidInput);
    }
}

/// LLM-14: the native mode, and where it ends.
#[test]
fn a_schema_is_sent_natively_where_the_service_can_hold_to_it() {
    let dialect = Anthropic::new("m");
    let object =
        json!({"type": "object", "properties": {"days": {"type": "integer", "minimum": 0}}});
    let mut request = request();
    request.format = ReplyFormat::JsonSchema(object);
    assert_eq!(dialect.native(&request.format, false), Native::Yes);
    let schema = json!({
        "type": "object",
        "properties": {"days": {"type": "integer"}},
        "additionalProperties": false,
    });
    let expected = json!({"format": {"type": "json_schema", "schema": schema}});
    assert_eq!(body(&request)["output_config"], expected);

    request.format = ReplyFormat::JsonSchema(json!({"type": "object"}));
    assert_eq!(dialect.native(&request.format, false), Native::No);
    assert!(body(&request).get("output_config").is_none());
    assert_eq!(dialect.native(&ReplyFormat::Json, false), Native::No);
}

/// LLM-02: the reply.
#[test]
fn text_blocks_are_joined_and_others_passed_over() {
    let draft = read(&json!({
        "type": "message",
        "model": "claude",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "text", "text": "a "},
            {"type": "tool_use", "id": "t", "name": "n", "input": {}},
            {"type": "text", "text": "b"},
        ],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }));
    let draft = draft.unwrap();
    assert_eq!(draft.text, "a b");
    assert_eq!(draft.usage, Usage::new(Some(10), Some(5)));
    assert_eq!(draft.model.as_deref(), Some("claude"));
    assert_eq!((draft.finish, draft.closing), (Some(Finish::Stop), Closing::Reached));
}

#[test]
fn reasons_to_end_are_told_apart() {
    for (reason, finish) in [
        (json!("end_turn"), Some(Finish::Stop)),
        (json!("stop_sequence"), Some(Finish::Stop)),
        (json!("max_tokens"), Some(Finish::Length)),
        (json!("model_context_window_exceeded"), Some(Finish::Length)),
        (json!("refusal"), Some(Finish::Refusal)),
        (json!(null), None),
    ] {
        let draft = read(&json!({"content": [], "stop_reason": reason})).unwrap();
        assert_eq!(draft.finish, finish, "{reason}");
    }
}

#[test]
fn cached_tokens_are_tokens_of_the_input_and_absent_counts_stay_absent() {
    let usage = json!({
        "input_tokens": 1,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 300,
        "output_tokens": 4,
    });
    let draft = read(&json!({"content": [], "usage": usage})).unwrap();
    assert_eq!(draft.usage, Usage::new(Some(321), Some(4)));
    for reply in [json!({"content": []}), json!({"content": null, "usage": {"input_tokens": -1}})] {
        assert_eq!(read(&reply).unwrap().usage, Usage::default(), "{reply}");
    }
}

#[test]
fn a_stream_is_its_text_its_counts_and_its_end() {
    let (draft, outcome) = stream(&[
        json!({"type": "message_start", "message": {"model": "claude", "usage": {
            "input_tokens": 7, "cache_read_input_tokens": 2, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}}),
        json!({"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "h"}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_start", "content_block": {"type": "tool_use", "input": {}}}),
        json!({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": ""}}),
        json!({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{\"a"}}),
        json!({"type": "content_block_start", "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "na"}}),
        json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "ïve"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"},
            "usage": {"output_tokens": 3}}),
        json!({"type": "an_event_of_tomorrow"}),
    ]);
    outcome.unwrap();
    assert_eq!(draft.text, "naïve");
    assert_eq!(draft.usage, Usage::new(Some(9), Some(3)));
    assert_eq!(draft.finish, Some(Finish::Length));
    assert_eq!(draft.closing, Closing::Open, "without `message_stop` it was cut");
    let (draft, outcome) = stream(&[json!({"type": "message_stop"})]);
    outcome.unwrap();
    assert_eq!(draft.closing, Closing::Reached);
}

#[test]
fn the_placeholder_count_of_the_first_event_is_not_usage() {
    let start = json!({"type": "message_start", "message": {"usage": {"output_tokens": 1}}});
    assert_eq!(stream(&[start]).0.usage, Usage::default());
}

#[test]
fn an_error_within_a_success_is_of_its_kind() {
    for (name, kind) in [
        ("overloaded_error", ErrorKind::Unavailable),
        ("api_error", ErrorKind::Unavailable),
        ("rate_limit_error", ErrorKind::RateLimited),
        ("authentication_error", ErrorKind::Unauthorized),
        ("invalid_request_error", ErrorKind::InvalidInput),
        ("request_too_large", ErrorKind::ContextTooLong),
        ("an_error_of_tomorrow", ErrorKind::Unavailable),
    ] {
        let error = json!({"type": "error", "error": {"type": name, "message": "words"}});
        let faults = [read(&error).unwrap_err(), stream(&[error]).1.unwrap_err()];
        for fault in faults {
            assert_eq!((fault.kind, fault.status), (kind, None), "{name}");
            assert_eq!(fault.said.as_deref(), Some("words"));
        }
    }
}

#[test]
fn statuses_mean_what_they_mean_elsewhere_and_529_is_overload() {
    let dialect = Anthropic::new("m");
    for (status, kind) in [
        (400, ErrorKind::InvalidInput),
        (401, ErrorKind::Unauthorized),
        (403, ErrorKind::Unauthorized),
        (404, ErrorKind::InvalidInput),
        (408, ErrorKind::TimedOut),
        (413, ErrorKind::ContextTooLong),
        (422, ErrorKind::InvalidInput),
        (429, ErrorKind::RateLimited),
        (500, ErrorKind::Unavailable),
        (503, ErrorKind::Unavailable),
        (529, ErrorKind::Unavailable),
    ] {
        for body in [json!({"error": {"type": "x", "message": "words"}}), Value::Null] {
            let fault = dialect.failure(status, &body);
            assert_eq!((fault.kind, fault.status), (kind, Some(status)), "{status} {body}");
        }
    }
    let fault = dialect.failure(529, &json!({"error": {"message": "Overloaded"}}));
    assert!(fault.wrong.contains("overloaded"));
}

#[test]
fn an_input_that_is_too_long_says_by_how_much() {
    let message = "prompt is too long: 210000 tokens > 200000 maximum";
    let fault = Anthropic::new("m").failure(400, &json!({"error": {"message": message}}));
    assert_eq!((fault.kind, fault.status), (ErrorKind::ContextTooLong, Some(400)));
    assert!(fault.wrong.contains("10000 over"), "{}", fault.wrong);
}

#[test]
fn a_reply_of_another_shape_is_malformed() {
    for reply in [json!({}), json!([]), json!("hi"), json!(null)] {
        assert_eq!(read(&reply).unwrap_err().kind, ErrorKind::MalformedResponse, "{reply}");
    }
}
