//! Services as targets, against a server of this test.
#![cfg(feature = "http")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use kuhaku_eval::{ErrorKind, HttpTarget, Outcome, Sample, Target, Usage};
use serde_json::{Value, json};

/// Answers each connection with the next of these replies, and tells the requests; an empty reply
/// leaves the caller waiting.
fn serve(replies: Vec<String>) -> (String, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://user:secret@{}/ask?key=secret", listener.local_addr().unwrap());
    let (tell, requests) = mpsc::channel();
    thread::spawn(move || {
        let mut open = Vec::new();
        for reply in replies {
            let (mut stream, _) = listener.accept().unwrap();
            tell.send(request(&stream)).unwrap();
            stream.write_all(reply.as_bytes()).unwrap();
            if reply.is_empty() {
                open.push(stream);
            }
        }
        // Held open until the test ends, which drops the receiver.
        while tell.send((String::new(), Value::Null)).is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
        drop(open);
    });
    (url, requests)
}

fn request(stream: &TcpStream) -> (String, Value) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

fn reply(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}

fn run(target: &dyn Target, sample: &Sample) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(target.run(sample))
}

#[test]
fn a_service_gets_the_sample_and_gives_the_outcome() {
    let body = json!({
        "retrieved": ["b", "a"], "cited": ["b"], "text": "27 days", "abstained": false,
        "input_tokens": 120, "unknown": 1,
    });
    let (url, requests) = serve(vec![reply("200 OK", &body.to_string())]);
    let target = HttpTarget::new(&url).unwrap().bearer_token("t0ken").unwrap();
    let sample = Sample::new("q1", "how many?").history(["hello".to_owned()]);
    let outcome = run(&target, &sample);
    let mut expected = Outcome::answered("27 days");
    expected.retrieved = Some(vec!["b".into(), "a".into()]);
    expected.cited = Some(vec!["b".into()]);
    expected.usage = Usage::new(Some(120), None);
    assert_eq!(outcome, expected);
    let (head, sent) = requests.recv().unwrap();
    assert!(head.starts_with("POST /ask?key=secret HTTP/1.1\r\n"), "{head}");
    let head = head.to_lowercase();
    assert!(head.contains("authorization: bearer t0ken"), "{head}");
    assert_eq!(head.matches("authorization").count(), 1, "{head}");
    assert_eq!(sent, json!({"id": "q1", "query": "how many?", "history": ["hello"]}));
}

#[test]
fn each_failure_has_its_code() {
    let big = "x".repeat(17 << 20);
    let table = [
        (reply("500 Oops", "secret"), "core.unavailable"),
        (reply("429 Slow", ""), "core.rate_limited"),
        (reply("401 Who", ""), "core.unauthorized"),
        (reply("404 Where", ""), "core.invalid_input"),
        (reply("504 Late", ""), "core.unavailable"),
        (reply("302 There\r\nlocation: http://127.0.0.1:1/", ""), "core.redirected"),
        (reply("200 OK", "no json"), "core.malformed_response"),
        (reply("200 OK", "{\"retrieved\": \"a\"}"), "core.malformed_response"),
        (reply("200 OK", &format!("{{\"text\": \"{big}\"}}")), "core.response_too_large"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{".to_owned(), "core.unavailable"),
    ];
    for (reply, code) in table {
        let head: String = reply.chars().take(30).collect();
        let (url, _requests) = serve(vec![reply]);
        let outcome = run(&HttpTarget::new(&url).unwrap(), &Sample::new("q", "?"));
        assert_eq!(outcome, Outcome::failed(code), "{head}");
    }
}

#[test]
fn a_silent_service_times_out() {
    let (url, _requests) = serve(vec![String::new()]);
    let target = HttpTarget::new(&url).unwrap().timeout(Duration::from_millis(50));
    assert_eq!(run(&target, &Sample::new("q", "?")), Outcome::failed("core.timed_out"));
}

#[test]
fn other_shapes_are_asked_and_read_by_closures() {
    let (url, requests) = serve(vec![reply("200 OK", "[{\"doc\": \"a\"}]"), reply("200 OK", "7")]);
    let target = HttpTarget::new(&url)
        .unwrap()
        .name("search, k 5")
        .ask_with(|sample| json!({"q": sample.query, "k": 5}))
        .read_with(|reply| {
            let hits = reply.as_array()?.iter();
            let ids: Option<Vec<String>> =
                hits.map(|hit| Some(hit.get("doc")?.as_str()?.to_owned())).collect();
            Some(Outcome::retrieved(ids?))
        });
    assert_eq!(Target::name(&target), "search, k 5");
    let sample = Sample::new("q", "?");
    assert_eq!(run(&target, &sample), Outcome::retrieved(["a".to_owned()]));
    assert_eq!(requests.recv().unwrap().1, json!({"q": "?", "k": 5}));
    assert_eq!(run(&target, &sample), Outcome::failed("core.malformed_response"));
}

#[test]
fn addresses_and_tokens_are_checked_and_never_shown() {
    let target = HttpTarget::new("http://user:secret@host:81/a?key=secret#secret").unwrap();
    let target = target.bearer_token("secret").unwrap();
    assert_eq!(Target::name(&target), "http://host:81/a");
    assert!(!format!("{target:?}").contains("secret"));
    for bad in ["", "secret", "host/secret", "file:///secret"] {
        let error = HttpTarget::new(bad).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::InvalidInput);
        assert!(!error.to_string().contains("secret") && error.next_step().is_some(), "{error}");
    }
    assert!(target.bearer_token("a\nb").is_err());
}
