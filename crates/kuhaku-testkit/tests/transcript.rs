//! The server that follows a script to the byte.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::time::Duration;

use kuhaku_testkit::transcript::{Ending, Reply, TranscriptServer};
use reqwest::Client;

const SOON: Duration = Duration::from_secs(10);

fn client() -> Client {
    Client::builder().tls_backend_preconfigured(trusting_nobody()).no_proxy().build().unwrap()
}

/// Without a configuration, reqwest looks for a provider of the whole process, which there is not.
fn trusting_nobody() -> rustls::ClientConfig {
    let ring = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

#[tokio::test]
async fn replies_follow_the_script_and_the_last_one_is_repeated() {
    let script = [Reply::new(503).header("Retry-After", "7"), Reply::json("{\"a\":1}")];
    let server = TranscriptServer::start(script).await.unwrap();
    let client = client();
    for (status, body) in [(503, ""), (200, "{\"a\":1}"), (200, "{\"a\":1}")] {
        let request = client.post(format!("{}/v1/x?y=z", server.url())).header("X-Key", "k");
        let response = request.body("{\"q\":[1,2]}").send().await.unwrap();
        assert_eq!(response.status().as_u16(), status);
        assert_eq!(response.headers().contains_key("retry-after"), status == 503);
        assert_eq!(response.text().await.unwrap(), body);
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    for request in &requests {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/x?y=z"));
        assert_eq!(request.header("X-KEY"), Some("k"));
        assert_eq!(request.json().unwrap()["q"][1], 2);
        assert!(request.mentions("y=z") && !request.mentions("other"));
    }
    assert!(requests[0].at <= requests[1].at);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn pieces_reach_the_client_one_by_one() {
    let text = "naïve 日本 🦀";
    let reply = Reply::stream("text/event-stream").byte_by_byte(text.as_bytes());
    let server = TranscriptServer::start([reply]).await.unwrap();
    let mut response = client().get(server.url()).send().await.unwrap();
    let mut pieces = Vec::new();
    while let Some(piece) = response.chunk().await.unwrap() {
        pieces.push(piece);
    }
    assert_eq!(pieces.len(), text.len());
    assert_eq!(pieces.concat(), text.as_bytes());
}

#[tokio::test]
async fn a_reply_ends_badly_in_each_way_that_it_can() {
    for ending in [Ending::Close, Ending::Reset] {
        let script = [
            Reply::json("{\"half\":").ending(ending),
            Reply::stream("text/event-stream").piece("data: ").ending(ending),
        ];
        let server = TranscriptServer::start(script).await.unwrap();
        for _ in 0..2 {
            let response = client().get(server.url()).send().await;
            let cut = match response {
                Ok(response) => response.bytes().await.is_err(),
                Err(_) => true,
            };
            assert!(cut, "{ending:?}");
        }
    }
    for reply in [Reply::reset(), Reply::raw("SSH-2.0-server\r\n"), Reply::raw("")] {
        let server = TranscriptServer::start([reply]).await.unwrap();
        assert!(client().get(server.url()).send().await.is_err());
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_client_that_leaves_is_noticed() {
    let waiting = [
        Reply::silence(),
        Reply::json("{}").after(Duration::from_secs(3600)),
        Reply::json("{}").drip(Duration::from_secs(3600)),
        Reply::json("{").ending(Ending::Silence),
        Reply::stream("text/event-stream").piece("a").pause(Duration::from_secs(3600)),
        Reply::stream("text/event-stream").flood(vec![b'a'; 4096], u64::MAX),
    ];
    for reply in waiting {
        let server = TranscriptServer::start([reply.clone()]).await.unwrap();
        let call = async {
            let mut response = client().get(server.url()).send().await.unwrap();
            while let Some(_piece) = response.chunk().await.unwrap() {}
        };
        tokio::select! {
            () = call => panic!("it ended: {reply:?}"),
            arrived = server.requested(1, SOON) => assert!(arrived),
        }
        assert!(server.abandoned(1, SOON).await, "{reply:?}");
    }
}

#[tokio::test]
async fn a_complete_exchange_abandons_nothing() {
    let server = TranscriptServer::start([Reply::json("{}")]).await.unwrap();
    let response = client().get(server.url_of_another_host()).send().await.unwrap();
    assert_eq!(response.text().await.unwrap(), "{}");
    assert!(!server.abandoned(1, Duration::from_millis(50)).await);
}

#[tokio::test]
async fn dropping_the_server_closes_its_connections() {
    let server = TranscriptServer::start([Reply::silence()]).await.unwrap();
    let call = client().get(server.url()).send();
    let (answer, ()) = tokio::join!(call, async {
        assert!(server.requested(1, SOON).await);
        drop(server);
    });
    assert!(answer.is_err());
}
