//! The dialects as pure functions.

use std::time::Duration;

use kuhaku_core::{ChatRequest, ErrorKind, Finish, Message, ReplyFormat, Usage};
use serde_json::{Value, json};

use super::{Place, Vertex, VertexEmbeddings};
use crate::dialect::{Closing, Dialect, Draft, Native};
use crate::embeddings::{EmbeddingDialect, Purpose};
use crate::fault::Fault;

fn place() -> Place {
    Place::new("p", "us-central1").unwrap()
}

fn vertex() -> Vertex {
    Vertex::new(place(), "gemini").unwrap()
}

fn request() -> ChatRequest {
    ChatRequest::new("Be brief.", "How long is the notice period?")
}

fn read(reply: &Value) -> Result<Draft, Fault> {
    let mut draft = Draft::default();
    vertex().reader(&request()).reply(reply, &mut draft)?;
    Ok(draft)
}

fn stream(events: &[Value]) -> (Draft, Result<(), Fault>) {
    let mut draft = Draft::default();
    let mut reader = vertex().reader(&request());
    let read = |event: &Value| reader.event("", &event.to_string(), &mut draft);
    let outcome = events.iter().try_for_each(read);
    (draft, outcome)
}

fn candidate(text: &str, reason: Value) -> Value {
    json!({"candidates": [{
        "content": {"role": "model", "parts": [{"text": text}]}, "finishReason": reason,
    }]})
}

#[test]
fn the_path_names_the_model_and_the_way_to_reply() {
    let path = "/v1/projects/p/locations/us-central1/publishers/google/models/gemini";
    let wire = vertex().wire(&request(), false).unwrap();
    assert_eq!(wire.path, format!("{path}:generateContent"));
    assert!(wire.headers.is_empty());
    let charged = vertex().quota_project(Some("q".into()));
    let wire = charged.wire(&request(), true).unwrap();
    assert_eq!(wire.path, format!("{path}:streamGenerateContent?alt=sse"));
    assert_eq!(wire.headers, [("x-goog-user-project", "q".to_owned())]);
}

#[test]
fn a_request_is_contents_instructions_and_options() {
    let mut request = request().temperature(0.5).max_output_tokens(64);
    request.messages.push(Message::user("In Spain."));
    request.messages.push(Message::assistant("Which contract?"));
    request.messages.push(Message::user("Ada's."));
    request.stop = vec!["END".into()];
    request.seed = Some(7);
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "How long is the notice period?\n\nIn Spain."}]},
            {"role": "model", "parts": [{"text": "Which contract?"}]},
            {"role": "user", "parts": [{"text": "Ada's."}]},
        ],
        "generationConfig": {
            "temperature": 0.5, "maxOutputTokens": 64, "stopSequences": ["END"], "seed": 7,
        },
    });
    assert_eq!(vertex().wire(&request, false).unwrap().body, expected);
    let bare = vertex().wire(&ChatRequest::new("", "hi"), false).unwrap().body;
    assert_eq!(bare, json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}));
}

/// LLM-14: the native mode of Vertex.
#[test]
fn a_schema_is_sent_in_the_subset_of_the_service() {
    let schema = json!({
        "type": "object",
        "properties": {"kind": {"type": "string", "const": "invoice", "minLength": 1}},
    });
    let mut request = request();
    request.format = ReplyFormat::JsonSchema(schema);
    assert_eq!(vertex().native(&request.format, false), Native::Yes);
    let expected = json!({
        "responseMimeType": "application/json",
        "responseJsonSchema": {
            "type": "object", "properties": {"kind": {"type": "string", "enum": ["invoice"]}},
        },
    });
    assert_eq!(vertex().wire(&request, false).unwrap().body["generationConfig"], expected);
    request.format = ReplyFormat::Json;
    let expected = json!({"responseMimeType": "application/json"});
    assert_eq!(vertex().wire(&request, false).unwrap().body["generationConfig"], expected);
}

#[test]
fn what_the_service_cannot_express_is_refused_before_it_is_sent() {
    let mut stops = request();
    stops.stop = vec!["x".into(); 6];
    for request in [stops, ChatRequest::new("system", "")] {
        let fault = vertex().wire(&request, false).unwrap_err();
        assert_eq!(fault.kind, ErrorKind::InvalidInput);
    }
}

#[test]
fn a_reply_is_the_text_of_its_parts_without_thoughts() {
    let draft = read(&json!({
        "candidates": [{
            "content": {"parts": [{"text": "hm", "thought": true}, {"text": "a "}, {"text": "b"}]},
            "finishReason": "STOP",
        }],
        "usageMetadata": {
            "promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 20,
        },
        "modelVersion": "gemini-001",
    }));
    let draft = draft.unwrap();
    assert_eq!(draft.text, "a b");
    assert_eq!(draft.usage, Usage::new(Some(10), Some(25)));
    assert_eq!(draft.model.as_deref(), Some("gemini-001"));
    assert_eq!((draft.finish, draft.closing), (Some(Finish::Stop), Closing::Reached));
    assert_eq!(read(&candidate("a", json!("STOP"))).unwrap().usage, Usage::default());
}

#[test]
fn reasons_to_end_are_told_apart() {
    for (reason, finish) in [
        ("STOP", Some(Finish::Stop)),
        ("MAX_TOKENS", Some(Finish::Length)),
        ("SAFETY", Some(Finish::ContentFilter)),
        ("RECITATION", Some(Finish::ContentFilter)),
        ("PROHIBITED_CONTENT", Some(Finish::ContentFilter)),
        ("SPII", Some(Finish::ContentFilter)),
        ("MODEL_ARMOR", Some(Finish::ContentFilter)),
        ("A_REASON_OF_TOMORROW", Some(Finish::Stop)),
        ("FINISH_REASON_UNSPECIFIED", None),
    ] {
        let reply = candidate("a", json!(reason));
        assert_eq!(read(&reply).unwrap().finish, finish, "{reason}");
    }
    let empty = read(&json!({"candidates": [{"finishReason": "SAFETY"}]})).unwrap();
    assert_eq!((empty.text.as_str(), empty.finish), ("", Some(Finish::ContentFilter)));
}

#[test]
fn a_blocked_question_ends_as_filtered() {
    let blocked = json!({
        "promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9},
    });
    let draft = read(&blocked).unwrap();
    assert_eq!(draft.finish, Some(Finish::ContentFilter));
    assert_eq!(draft.usage, Usage::new(Some(9), None));
    let (draft, outcome) = stream(&[blocked]);
    outcome.unwrap();
    assert_eq!((draft.finish, draft.closing), (Some(Finish::ContentFilter), Closing::Possible));
}

#[test]
fn a_stream_may_end_once_it_has_said_why() {
    let (draft, outcome) = stream(&[candidate("na", Value::Null), candidate("ïve", Value::Null)]);
    outcome.unwrap();
    assert_eq!((draft.text.as_str(), draft.closing), ("naïve", Closing::Open));
    let usage = json!({"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3}});
    let (draft, outcome) = stream(&[candidate("a", json!("STOP")), usage]);
    outcome.unwrap();
    assert_eq!(draft.closing, Closing::Possible);
    assert_eq!(draft.usage, Usage::new(Some(7), Some(3)));
}

#[test]
fn an_error_within_a_success_is_of_its_kind_also_in_a_list() {
    for (code, kind) in [
        (429, ErrorKind::RateLimited),
        (500, ErrorKind::Unavailable),
        (503, ErrorKind::Unavailable),
        (401, ErrorKind::Unauthorized),
    ] {
        let error = json!({"error": {"code": code, "message": "words", "status": "X"}});
        for body in [error.clone(), json!([error])] {
            assert_eq!(read(&body).unwrap_err().kind, kind, "{body}");
            assert_eq!(stream(&[body]).1.unwrap_err().kind, kind);
        }
    }
}

#[test]
fn statuses_mean_what_they_mean_elsewhere() {
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
        for body in [json!({"error": {"code": status, "message": "words"}}), Value::Null] {
            let fault = vertex().failure(status, &body);
            assert_eq!((fault.kind, fault.status), (kind, Some(status)), "{status} {body}");
        }
    }
}

#[test]
fn the_wait_stands_in_the_details() {
    let body = json!({"error": {"code": 429, "message": "Resource exhausted.", "details": [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure"},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "21.5s"},
    ]}});
    for body in [body.clone(), json!([body])] {
        assert_eq!(vertex().failure(429, &body).wait, Some(Duration::from_millis(21_500)));
    }
}

#[test]
fn an_input_that_is_too_long_says_by_how_much() {
    let message = "The input token count (1200000) exceeds the maximum number of tokens allowed \
                   (1048576).";
    let fault = vertex().failure(400, &json!({"error": {"code": 400, "message": message}}));
    assert_eq!(fault.kind, ErrorKind::ContextTooLong);
    assert!(fault.wrong.contains("151424 over"), "{}", fault.wrong);
}

#[test]
fn a_reply_of_another_shape_is_malformed() {
    for reply in [json!({}), json!([]), json!("hi"), json!(null)] {
        assert_eq!(read(&reply).unwrap_err().kind, ErrorKind::MalformedResponse, "{reply}");
    }
}

#[test]
fn embeddings_are_asked_for_by_purpose_and_never_cut() {
    let dialect = VertexEmbeddings::new(place(), "text-embedding-005").unwrap().dimension(256);
    let wire = dialect.wire(&["a", "b"], Purpose::Document);
    let path = "/v1/projects/p/locations/us-central1/publishers/google/models/text-embedding-005";
    assert_eq!(wire.path, format!("{path}:predict"));
    let expected = json!({
        "instances": [
            {"content": "a", "task_type": "RETRIEVAL_DOCUMENT"},
            {"content": "b", "task_type": "RETRIEVAL_DOCUMENT"},
        ],
        "parameters": {"autoTruncate": false, "outputDimensionality": 256},
    });
    assert_eq!(wire.body, expected);
    let query = dialect.wire(&["q"], Purpose::Query).body;
    assert_eq!(query["instances"][0]["task_type"], json!("RETRIEVAL_QUERY"));
    let gemini = VertexEmbeddings::new(place(), "gemini-embedding-001").unwrap();
    assert_eq!(gemini.most_texts(), 1);
}

#[test]
fn embeddings_come_back_in_order_or_as_an_error() {
    let dialect = VertexEmbeddings::new(place(), "m").unwrap();
    let one = |values: Value, truncated: bool| json!({"embeddings": {"values": values, "statistics": {"truncated": truncated}}});
    let reply = json!({"predictions": [one(json!([1, 0]), false), one(json!([0, 1]), false)]});
    assert_eq!(dialect.vectors(&reply).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
    let cut = json!({"predictions": [one(json!([1, 0]), true)]});
    assert_eq!(dialect.vectors(&cut).unwrap_err().kind, ErrorKind::ContextTooLong);
    for reply in [json!({}), json!({"predictions": [{}]}), json!({"error": {"code": 500}})] {
        assert!(dialect.vectors(&reply).is_err(), "{reply}");
    }
}
