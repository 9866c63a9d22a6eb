//! The dialects as pure functions.

use kuhaku_core::{ChatRequest, ErrorKind, Finish, Message, ReplyFormat, Usage};
use serde_json::{Value, json};

use super::{Ollama, OllamaEmbeddings};
use crate::dialect::{Closing, Dialect, Draft, Framing};
use crate::embeddings::{EmbeddingDialect, Purpose};
use crate::fault::Fault;

fn request() -> ChatRequest {
    ChatRequest::new("Be brief.", "How long is the notice period?")
}

fn read(reply: &Value) -> Result<Draft, Fault> {
    let mut draft = Draft::default();
    Ollama::new("m").reader(&request()).reply(reply, &mut draft)?;
    Ok(draft)
}

fn stream(lines: &[Value]) -> (Draft, Result<(), Fault>) {
    let mut draft = Draft::default();
    let mut reader = Ollama::new("m").reader(&request());
    let outcome = lines.iter().try_for_each(|line| reader.event("", &line.to_string(), &mut draft));
    (draft, outcome)
}

/// LLM-02: the request of Ollama.
#[test]
fn every_request_sets_its_window() {
    let mut request = request().temperature(0.1).max_output_tokens(64);
    request.messages.push(Message::assistant("Three months."));
    request.messages.push(Message::user("In Spain?"));
    request.stop = vec!["END".into()];
    request.seed = Some(u64::MAX);
    let dialect = Ollama::new("m").keep_alive("10m");
    let wire = dialect.wire(&request, false).unwrap();
    assert_eq!((wire.path.as_str(), dialect.framing()), ("/api/chat", Framing::Lines));
    let expected = json!({
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "How long is the notice period?"},
            {"role": "assistant", "content": "Three months."},
            {"role": "user", "content": "In Spain?"},
        ],
        "stream": false,
        "options": {
            "num_ctx": 4096, "temperature": 0.1, "num_predict": 64, "stop": ["END"],
            "seed": 0x7fff_ffff,
        },
        "keep_alive": "10m",
    });
    assert_eq!(wire.body, expected);
}

#[test]
fn options_that_are_absent_are_not_sent() {
    let wire = Ollama::new("m").wire(&ChatRequest::new(" ", "hi"), true).unwrap();
    let expected = json!({
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": true,
        "options": {"num_ctx": 4096},
    });
    assert_eq!(wire.body, expected);
}

#[test]
fn forms_are_grammars() {
    let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
    let forms = [
        (ReplyFormat::Json, json!("json")),
        (ReplyFormat::JsonSchema(schema.clone()), schema),
        (ReplyFormat::Text, Value::Null),
    ];
    for (format, sent) in forms {
        let mut request = request();
        request.format = format;
        assert_eq!(Ollama::new("m").wire(&request, false).unwrap().body["format"], sent);
    }
}

#[test]
fn seconds_are_sent_as_a_number() {
    let wire = Ollama::new("m").keep_alive("-1").wire(&request(), false).unwrap();
    assert_eq!(wire.body["keep_alive"], json!(-1));
}

#[test]
fn what_exceeds_the_limit_or_says_nothing_is_never_sent() {
    let long = ChatRequest::new("", "word ".repeat(4_000));
    let fault = Ollama::new("m").context(4_096).wire(&long, false).unwrap_err();
    assert_eq!(fault.kind, ErrorKind::ContextTooLong);
    assert!(Ollama::new("m").wire(&long, false).is_ok());
    let fault = Ollama::new("m").wire(&ChatRequest::new("system", " "), false).unwrap_err();
    assert_eq!(fault.kind, ErrorKind::InvalidInput);
}

/// LLM-02: the reply of Ollama.
#[test]
fn a_reply_is_its_content_without_the_thinking() {
    let reply = json!({
        "model": "m:latest",
        "message": {"role": "assistant", "thinking": "hm", "content": "<think>hm</think>\nYes."},
        "done": true,
        "done_reason": "length",
        "prompt_eval_count": 7,
        "eval_count": 3,
    });
    let draft = read(&reply).unwrap();
    assert_eq!(draft.text.trim(), "Yes.");
    assert_eq!(draft.usage, Usage::new(Some(7), Some(3)));
    assert_eq!(draft.model.as_deref(), Some("m:latest"));
    assert_eq!((draft.finish, draft.closing), (Some(Finish::Length), Closing::Reached));
}

#[test]
fn absent_counts_stay_absent_and_null_content_is_no_text() {
    let draft = read(&json!({"message": {"content": null}, "done": true})).unwrap();
    assert_eq!((draft.text.as_str(), draft.usage), ("", Usage::default()));
}

#[test]
fn a_stream_ends_with_the_line_that_says_so() {
    let piece = |text: &str| json!({"model": "m", "message": {"content": text}, "done": false});
    let thought = json!({"message": {"content": "", "thinking": "hm"}, "done": false});
    let (draft, outcome) = stream(&[thought, piece("na"), piece("ïve")]);
    outcome.unwrap();
    assert_eq!((draft.text.as_str(), draft.closing), ("naïve", Closing::Open));
    let end = json!({"message": {"content": ""}, "done": true, "done_reason": "stop",
        "prompt_eval_count": 7, "eval_count": 3});
    let (draft, outcome) = stream(&[piece("<thi"), end]);
    outcome.unwrap();
    assert_eq!((draft.text.as_str(), draft.closing), ("<thi", Closing::Reached));
    assert_eq!(draft.usage, Usage::new(Some(7), Some(3)));
}

#[test]
fn an_input_that_was_cut_in_silence_is_an_error_that_says_how_much() {
    let request = ChatRequest::new("", "word ".repeat(3_000));
    let dialect = Ollama::new("m");
    let reply = |count: u32| json!({"message": {"content": "Yes."}, "done": true, "prompt_eval_count": count});
    for (count, cut) in [(1_024, true), (3_010, false), (8_192, true)] {
        let mut draft = Draft::default();
        let outcome = dialect.reader(&request).reply(&reply(count), &mut draft);
        let kind = outcome.as_ref().err().map(|fault| fault.kind);
        assert_eq!(kind, cut.then_some(ErrorKind::ContextTooLong), "{count}");
        let mut reader = dialect.reader(&request);
        let line = reply(count).to_string();
        let streamed = reader.event("", &line, &mut Draft::default());
        assert_eq!(streamed.is_err(), cut, "{count}");
        if let Err(fault) = outcome
            && count < 3_000
        {
            assert!(fault.wrong.contains("at least 1976 were cut off"), "{}", fault.wrong);
        }
    }
}

#[test]
fn an_error_within_a_success_is_an_error() {
    let error = json!({"error": "llama runner process has terminated"});
    for fault in [read(&error).unwrap_err(), stream(&[error]).1.unwrap_err()] {
        assert_eq!((fault.kind, fault.status), (ErrorKind::Unavailable, None));
    }
}

#[test]
fn a_reply_of_another_shape_is_malformed() {
    for reply in [json!({}), json!([]), json!("hi"), json!(null)] {
        assert_eq!(read(&reply).unwrap_err().kind, ErrorKind::MalformedResponse, "{reply}");
    }
    let mut draft = Draft::default();
    let fault = Ollama::new("m").reader(&request()).event("", "<html>", &mut draft).unwrap_err();
    assert_eq!(fault.kind, ErrorKind::MalformedResponse);
}

/// LLM-05: Ollama's part.
#[test]
fn a_model_that_is_not_there_is_one_to_pull() {
    let body = json!({"error": "model 'm' not found"});
    let fault = Ollama::new("m").failure(404, &body);
    assert_eq!(fault.kind, ErrorKind::InvalidInput);
    assert!(fault.wrong.contains("not pulled") && fault.next.contains("`ollama pull m`"));
    let other = Ollama::new("m").failure(404, &json!({"error": "404 page not found"}));
    assert!(!other.wrong.contains("pulled"));
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
        for body in [json!({"error": "words"}), Value::Null] {
            let fault = Ollama::new("m").failure(status, &body);
            assert_eq!((fault.kind, fault.status), (kind, Some(status)), "{status} {body}");
        }
    }
}

#[test]
fn embeddings_are_asked_for_without_truncation_and_with_the_prefix_of_their_purpose() {
    let dialect = OllamaEmbeddings::new("nomic-embed-text:v1.5").dimension(256).keep_alive("60");
    let wire = dialect.wire(&["a", "b"], Purpose::Document);
    assert_eq!(wire.path, "/api/embed");
    let expected = json!({
        "model": "nomic-embed-text:v1.5",
        "input": ["search_document: a", "search_document: b"],
        "truncate": false,
        "dimensions": 256,
        "keep_alive": 60,
    });
    assert_eq!(wire.body, expected);
    assert_eq!(dialect.wire(&["q"], Purpose::Query).body["input"], json!(["search_query: q"]));
    let plain = OllamaEmbeddings::new("bge-m3");
    assert_eq!(plain.wire(&["q"], Purpose::Query).body["input"], json!(["q"]));
    assert_ne!(plain.fingerprint(), plain.clone().prefixes("", "q: ").fingerprint());
}

#[test]
fn embeddings_come_back_in_order_or_as_an_error() {
    let dialect = OllamaEmbeddings::new("m");
    let reply = json!({"embeddings": [[1.0, 0.0], [0.0, 1.0]], "prompt_eval_count": 4});
    assert_eq!(dialect.vectors(&reply).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
    for reply in [json!({}), json!({"embeddings": [1.0]}), json!({"error": "words"})] {
        assert!(dialect.vectors(&reply).is_err(), "{reply}");
    }
    let body = json!({"error": "the input length exceeds the context length"});
    assert_eq!(dialect.failure(400, &body).kind, ErrorKind::ContextTooLong);
}
