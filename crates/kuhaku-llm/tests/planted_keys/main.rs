//! A key, wherever it is set, is seen in requests and nowhere else (R7).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod callers;
mod failures;
mod settings;
mod watch;

use std::collections::BTreeSet;

use callers::Caller;
use futures_util::future::join_all;
use kuhaku_core::{Field, Runtime, Section as _};
use kuhaku_llm::LlmSettings;
use kuhaku_testkit::providers::Logs;
use kuhaku_testkit::transcript::{Reply, TranscriptServer};
use tracing::instrument::WithSubscriber as _;
use watch::Watch;

/// Every planted key begins with it, and so does the question: it is what is looked for.
const MARK: &str = "pl4nted";

const QUESTION: &str = "pl4nted question: how long is the notice period?";

/// The key that is planted in a setting, or in a part of a key file.
fn planted(place: &str) -> String {
    format!("{MARK}-{place}-5up3r53cr3t")
}

/// The settings that hold a secret.
fn secret_settings() -> Vec<&'static str> {
    let secret = |field: &Field| field.kind == "a secret";
    LlmSettings::fields().into_iter().filter(secret).map(|field| field.name).collect()
}

/// Everywhere a key is planted.
fn places() -> Vec<&'static str> {
    [secret_settings(), callers::PARTS_OF_A_KEY_FILE.to_vec()].concat()
}

/// Lets every call of one caller fail in every way, and looks at all that can be seen of it. Gives
/// the places whose keys it has sent.
async fn places_in_use(caller: Caller) -> Vec<&'static str> {
    let script = failures::that_quote(&caller.sends);
    let calls = script.len();
    let server = TranscriptServer::start(script).await.unwrap();
    let tokens = TranscriptServer::start([Reply::json(callers::token())]).await.unwrap();
    let (watch, logs) = (Watch::default(), Logs::default());
    let runtime = Runtime::builder().metrics(watch.clone()).announcer(watch.clone()).build();
    let work = async {
        let called = (caller.make)(&server.url(), &tokens.url(), &runtime);
        // Each of the two ways to ask takes a reply.
        for _ in 0..calls.div_ceil(2) {
            called.fail_twice(&watch).await;
        }
    };
    work.with_subscriber(logs.clone()).await;
    watch.see("the logs", &logs.text());
    let shown = watch.lines_with(MARK);
    assert!(shown.is_empty(), "{}: {shown}", caller.name);
    // Two who wait for one token, the silent reply, share a request.
    let asked = server.requests().len();
    assert!(asked + 1 >= calls, "{}: {asked} of {calls} replies were asked for", caller.name);
    let requests = [server.requests(), tokens.requests()].concat();
    let sent = |place: &&str| requests.iter().any(|request| request.mentions(&planted(place)));
    places().into_iter().filter(sent).collect()
}

#[tokio::test]
async fn no_failure_of_a_provider_or_embedder_shows_a_key_and_every_key_was_in_use() {
    let used = join_all(callers::all().into_iter().map(places_in_use)).await.concat();
    let used: BTreeSet<_> = used.into_iter().collect();
    // That a key is kept is only shown where it is sent.
    let unused: Vec<_> = places().into_iter().filter(|place| !used.contains(place)).collect();
    assert!(unused.is_empty(), "no caller of this test uses {unused:?}");
}

#[test]
fn the_watch_sees_a_key_in_a_cause_of_an_error() {
    let watch = Watch::default();
    let cause = std::io::Error::other(planted("openai_api_key"));
    let error = kuhaku_core::Error::new(kuhaku_core::ErrorKind::Unavailable, "ask", "no answer");
    watch.see_error(&error.caused_by(cause));
    assert!(watch.lines_with(MARK).contains("openai_api_key"));
}
