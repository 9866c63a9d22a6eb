//! What is sent, and what comes back.

use kuhaku_core::{ErrorKind, HttpRequest, Runtime};
use kuhaku_testkit::transcript::{Ending, Reply};
use serde_json::json;

use crate::{SOON, client, serve};

#[tokio::test]
async fn a_request_arrives_as_it_was_made() {
    let server = serve([Reply::json("{\"a\":1}").header("x-answer", "yes")]).await;
    let body = json!({"model": "m", "text": "日本"});
    let request = HttpRequest::post(format!("{}/v1/chat?a=b", server.url()))
        .header("x-version", "2023-06-01")
        .bearer(&"k".to_owned().into())
        .json(&body);
    let reply = client().send(request, 1024).await.unwrap();
    assert_eq!((reply.status(), reply.header("X-Answer")), (200, Some("yes")));
    assert_eq!(reply.json::<serde_json::Value>("ask").unwrap(), json!({"a": 1}));
    let seen = &server.requests()[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/chat?a=b"));
    assert_eq!(seen.header("authorization"), Some("Bearer k"));
    assert_eq!(seen.header("x-version"), Some("2023-06-01"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert!(seen.header("user-agent").unwrap().starts_with("kuhaku/"));
    assert_eq!(seen.json(), Some(body));
}

#[tokio::test]
async fn a_key_with_a_line_end_behind_it_is_sent_without() {
    let server = serve([Reply::new(200)]).await;
    let request = HttpRequest::get(server.url()).bearer(&"k\r\n".to_owned().into());
    client().send(request, 1024).await.unwrap();
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer k"));
}

#[tokio::test]
async fn a_streamed_reply_comes_piece_by_piece() {
    let server = serve([Reply::stream("text/plain").piece("one").piece("two")]).await;
    let mut stream = client().open(HttpRequest::get(server.url())).await.unwrap();
    assert_eq!((stream.status(), stream.header("content-type")), (200, Some("text/plain")));
    let mut all = Vec::new();
    while let Some(piece) = stream.next_bytes().await.unwrap() {
        all.extend_from_slice(&piece);
    }
    assert_eq!(all, b"onetwo");
    assert_eq!(stream.next_bytes().await.unwrap(), None);
}

#[tokio::test]
async fn dropping_a_call_or_a_stream_ends_the_request() {
    let begun = Reply::stream("text/plain").piece("one").ending(Ending::Silence);
    let server = serve([Reply::silence(), begun]).await;
    let client = client();
    tokio::select! {
        _ = client.send(HttpRequest::get(server.url()), 1024) => panic!("there is no reply"),
        arrived = server.requested(1, SOON) => assert!(arrived),
    }
    assert!(server.abandoned(1, SOON).await);
    let mut stream = client.open(HttpRequest::get(server.url())).await.unwrap();
    stream.next_bytes().await.unwrap().unwrap();
    drop(stream);
    assert!(server.abandoned(2, SOON).await);
}

/// RTY-03, RTY-04: what statuses and headers mean.
#[tokio::test]
async fn statuses_become_kinds_and_waits() {
    let runtime = Runtime::system();
    let ask = async |reply: Reply| {
        let server = serve([reply]).await;
        let reply = client().send(HttpRequest::get(server.url()), 1024).await.unwrap();
        reply.failure("ask groq", &runtime)
    };
    for (status, kind, again, outage) in [
        (400, ErrorKind::InvalidInput, false, false),
        (401, ErrorKind::Unauthorized, false, false),
        (403, ErrorKind::Unauthorized, false, false),
        (404, ErrorKind::InvalidInput, false, false),
        (408, ErrorKind::TimedOut, true, false),
        (413, ErrorKind::InvalidInput, false, false),
        (422, ErrorKind::InvalidInput, false, false),
        (425, ErrorKind::Unavailable, true, false),
        (429, ErrorKind::RateLimited, true, false),
        (500, ErrorKind::Unavailable, true, true),
        (503, ErrorKind::Unavailable, true, true),
        (529, ErrorKind::Unavailable, true, true),
    ] {
        let error = ask(Reply::new(status).header("retry-after", "2")).await.unwrap();
        assert_eq!(*error.kind(), kind, "{status}");
        assert_eq!(error.status() == kuhaku_core::Status::Temporary, again, "{status}");
        assert_eq!(error.is_outage(), outage, "{status}");
        assert_eq!(error.retry_after().map(|wait| wait.as_secs()), again.then_some(2), "{status}");
        let text = error.to_string();
        assert!(text.contains("ask groq") && text.contains(&status.to_string()), "{text}");
        assert!(error.next_step().is_some());
    }
    assert!(ask(Reply::new(204)).await.is_none());
}
