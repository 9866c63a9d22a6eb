//! Tokens over HTTP, from a server on this machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use kuhaku_core::{Clock, ErrorKind, HttpClient, Runtime, Status, Timestamp};
use kuhaku_testkit::transcript::{Reply, TranscriptServer};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::identity::tests::{account, identity, user};
use super::{ApplicationDefault, Identity};
use crate::credentials::Credentials;

/// A clock that a test sets, in seconds.
#[derive(Clone, Debug, Default)]
struct Hands(Arc<AtomicI64>);

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + self.0.load(Ordering::Relaxed)).unwrap()
    }
}

struct Setting {
    server: TranscriptServer,
    credentials: ApplicationDefault,
    clock: Hands,
}

/// A person's credentials before a server that follows a script.
async fn setting(script: impl IntoIterator<Item = Reply>) -> Setting {
    let server = TranscriptServer::start(script).await.unwrap();
    let identity = identity(&user(&server.url())).unwrap();
    let clock = Hands::default();
    let runtime = Runtime::builder().clock(clock.clone()).build();
    let client = HttpClient::builder().build().unwrap();
    let credentials = ApplicationDefault::new(identity, client, runtime);
    Setting { server, credentials, clock }
}

fn token(value: &str) -> Reply {
    let body = json!({"access_token": value, "expires_in": 3600, "token_type": "Bearer"});
    Reply::json(body.to_string())
}

fn late(value: &str) -> Reply {
    token(value).after(Duration::from_millis(100))
}

async fn header(credentials: &ApplicationDefault) -> String {
    let (name, value) = credentials.header().await.unwrap().unwrap();
    assert_eq!(name, "authorization");
    value.expose_secret().to_owned()
}

#[tokio::test]
async fn a_token_is_kept_and_renewed_before_it_ends() {
    let Setting { server, credentials, clock } = setting([token("one"), token("two")]).await;
    for (second, expected, requests) in [
        (0, "Bearer one", 1),
        (3_299, "Bearer one", 1),
        (3_300, "Bearer two", 2),
        (3_400, "Bearer two", 2),
    ] {
        clock.0.store(second, Ordering::Relaxed);
        assert_eq!(header(&credentials).await, expected, "{second}");
        assert_eq!(server.requests().len(), requests, "{second}");
    }
}

#[tokio::test]
async fn callers_at_the_same_time_share_one_request() {
    let Setting { server, credentials, .. } = setting([late("one"), token("two")]).await;
    let headers = join_all((0..50).map(|_| header(&credentials))).await;
    assert!(headers.iter().all(|header| header == "Bearer one"));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_refresh_outlives_the_caller_that_began_it() {
    let Setting { server, credentials, .. } = setting([late("one"), token("two")]).await;
    let first = tokio::spawn({
        let credentials = credentials.clone();
        async move { header(&credentials).await }
    });
    assert!(server.requested(1, Duration::from_secs(5)).await);
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert_eq!(header(&credentials).await, "Bearer one");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_refused_token_is_fetched_anew_once_for_all_who_saw_it() {
    let Setting { server, credentials, .. } = setting([token("one"), token("two")]).await;
    let refused = SecretString::from(header(&credentials).await);
    assert!(credentials.renew(&refused).await);
    assert_eq!(header(&credentials).await, "Bearer two");
    assert!(credentials.renew(&refused).await);
    assert_eq!(header(&credentials).await, "Bearer two");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_token_that_still_holds_is_used_when_its_renewal_fails() {
    let script = [token("one"), Reply::new(503), token("two")];
    let Setting { server: _server, credentials, clock } = setting(script).await;
    header(&credentials).await;
    clock.0.store(3_500, Ordering::Relaxed);
    assert_eq!(header(&credentials).await, "Bearer one");
    assert_eq!(header(&credentials).await, "Bearer two");
}

#[tokio::test]
async fn failures_are_of_their_kind_and_show_no_secret() {
    for (status, kind, temporary) in [
        (400, ErrorKind::Unauthorized, false),
        (401, ErrorKind::Unauthorized, false),
        (403, ErrorKind::Unauthorized, false),
        (429, ErrorKind::RateLimited, true),
        (500, ErrorKind::Unavailable, true),
        (503, ErrorKind::Unavailable, true),
    ] {
        let body = "{\"error\":\"invalid_grant\",\"error_description\":\"planted&secret\"}";
        let refused = Reply::new(status).header("retry-after", "7").piece(body);
        let Setting { server: _server, credentials, .. } = setting([refused]).await;
        let error = credentials.header().await.unwrap_err();
        assert_eq!(*error.kind(), kind, "{status}");
        assert_eq!(error.status() == Status::Temporary, temporary, "{status}");
        let wait = temporary.then_some(Duration::from_secs(7));
        assert_eq!(error.retry_after(), wait, "{status}");
        let shown = format!("{error} {error:?} {error:#?} {credentials:?}");
        assert!(!shown.contains("planted"), "{shown}");
    }
    for reply in [Reply::json("{}"), Reply::json("<html>"), Reply::json("[]")] {
        let Setting { server: _server, credentials, .. } = setting([reply]).await;
        let error = credentials.header().await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::MalformedResponse);
    }
}

#[tokio::test]
async fn a_failure_is_not_kept() {
    let Setting { server: _server, credentials, .. } =
        setting([Reply::new(503), token("one")]).await;
    assert!(credentials.header().await.is_err());
    assert_eq!(header(&credentials).await, "Bearer one");
}

#[tokio::test]
async fn a_service_account_sends_a_statement_and_a_machine_a_question() {
    let server = TranscriptServer::start([token("one")]).await.unwrap();
    let client = HttpClient::builder().build().unwrap();
    let host = server.url().replace("http://", "");
    for identity in [identity(&account(&server.url())).unwrap(), Identity::of_machine(Some(&host))]
    {
        let credentials = ApplicationDefault::new(identity, client.clone(), Runtime::system());
        assert_eq!(header(&credentials).await, "Bearer one");
    }
    let requests = server.requests();
    let [statement, question] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(statement.method, "POST");
    assert_eq!(statement.header("content-type"), Some("application/x-www-form-urlencoded"));
    assert!(statement.mentions("jwt-bearer&assertion=ey"));
    assert_eq!(question.method, "GET");
    assert_eq!(question.header("metadata-flavor"), Some("Google"));
}

#[tokio::test]
async fn without_a_metadata_server_the_next_step_is_a_key_file() {
    let closed = TranscriptServer::start([]).await.unwrap().url().replace("http://", "");
    let client = HttpClient::builder().build().unwrap();
    let machine = Identity::of_machine(Some(&closed));
    let credentials = ApplicationDefault::new(machine, client, Runtime::system());
    let error = credentials.header().await.unwrap_err();
    assert!(error.to_string().contains("GOOGLE_APPLICATION_CREDENTIALS"), "{error}");
    assert_eq!(error.status(), Status::Permanent);
}
