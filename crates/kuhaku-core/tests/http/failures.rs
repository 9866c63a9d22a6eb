//! What goes wrong between client and server, each told apart.

use std::time::{Duration, Instant};

use kuhaku_core::{Error, ErrorKind, HttpRequest, Status};
use kuhaku_testkit::transcript::{Ending, Reply};
use tokio::net::TcpListener;

use crate::{SHORT, SOON, client, serve};

async fn failing(reply: Reply, limit: Duration) -> Error {
    let server = serve([reply]).await;
    let request = HttpRequest::get(server.url()).attempt_timeout(limit);
    client().send(request, 1000).await.unwrap_err()
}

#[tokio::test]
async fn each_failure_has_its_kind_and_its_words() {
    let cut = |ending| Reply::json("{\"a\":").ending(ending);
    for (name, reply, kind, words) in [
        ("silence", Reply::silence(), ErrorKind::TimedOut, "no reply began"),
        ("slow body", cut(Ending::Silence), ErrorKind::TimedOut, "not complete"),
        ("reset", Reply::reset(), ErrorKind::Unavailable, "before the reply"),
        ("cut", cut(Ending::Close), ErrorKind::Unavailable, "within the reply"),
        ("torn", cut(Ending::Reset), ErrorKind::Unavailable, "within the reply"),
        ("no HTTP", Reply::raw("SSH-2.0\r\n"), ErrorKind::Unavailable, "before the reply"),
    ] {
        // Only where a limit is meant may a busy machine reach it.
        let limit = if kind == ErrorKind::TimedOut { SHORT } else { SOON };
        let error = failing(reply, limit).await;
        assert_eq!(*error.kind(), kind, "{name}: {error}");
        assert_eq!(error.status(), Status::Temporary, "{name}");
        assert!(error.is_outage(), "{name}");
        assert!(error.wrong().contains(words), "{name}: {error}");
    }
}

#[tokio::test]
async fn a_reply_is_read_up_to_the_limit_and_no_further() {
    let exact = Reply::json("a".repeat(1000));
    let server = serve([exact]).await;
    let reply = client().send(HttpRequest::get(server.url()), 1000).await.unwrap();
    assert_eq!(reply.body().len(), 1000);
    let endless = Reply::chunked(200).flood(vec![b'a'; 64 << 10], 1 << 14);
    let server = serve([endless]).await;
    let error = client().send(HttpRequest::get(server.url()), 1000).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::ResponseTooLarge);
    assert!(server.abandoned(1, SOON).await);
    assert!(server.sent() < 64 << 20, "{} bytes were read", server.sent());
}

#[tokio::test]
async fn a_stream_that_falls_silent_times_out_and_what_came_is_there() {
    let server = serve([Reply::stream("text/plain").piece("one").ending(Ending::Silence)]).await;
    let request = HttpRequest::get(server.url()).idle_timeout(SHORT);
    let started = Instant::now();
    let mut stream = client().open(request).await.unwrap();
    assert_eq!(stream.next_bytes().await.unwrap().unwrap(), "one");
    let error = stream.next_bytes().await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::TimedOut);
    assert!(started.elapsed() < SOON);
}

#[tokio::test]
async fn nobody_there_no_such_host_and_no_tls_are_failures_to_connect() {
    let gone = serve([]).await.url();
    tokio::task::yield_now().await;
    for (url, words) in [
        (gone, "no connection came about"),
        ("http://host.invalid/".into(), "its host name is not known"),
        (no_tls().await, "no connection came about"),
    ] {
        let request = HttpRequest::get(&url).attempt_timeout(SOON);
        let error = client().send(request, 1000).await.unwrap_err();
        if error.wrong().contains("no root certificates") {
            // Then https:// is refused before it connects.
            continue;
        }
        assert_eq!(*error.kind(), ErrorKind::Unavailable, "{url}: {error}");
        assert!(error.wrong().contains(words), "{url}: {error}");
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_before_anything_is_sent() {
    let server = serve([Reply::new(200)]).await;
    let here = || HttpRequest::get(server.url());
    for (request, words) in [
        (HttpRequest::get("localhost:11434"), "does not start with http"),
        (HttpRequest::get("file:///etc/hosts"), "does not start with http"),
        (HttpRequest::get("http://"), "not a URL"),
        (here().header("a b", "c"), "name of a header"),
        (here().header("x-key", "a\nb"), "value of x-key"),
    ] {
        let error = client().send(request, 1000).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::InvalidInput);
        assert!(error.wrong().contains(words), "{error}");
    }
    assert_eq!(server.connections(), 0);
}

/// The address of a server that speaks no TLS.
async fn no_tls() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        stream.writable().await.unwrap();
        stream.try_write(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    url
}
