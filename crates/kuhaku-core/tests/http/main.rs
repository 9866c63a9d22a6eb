//! What holds of the HTTP client, against a server that follows a script to the byte.
#![cfg(feature = "http")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod decoders;
mod downloads;
mod exchanges;
mod failures;
mod hostile_downloads;
mod redirects;
mod secrets;
mod tls;

use std::time::Duration;

use kuhaku_core::HttpClient;
use kuhaku_testkit::transcript::{Reply, TranscriptServer};

/// More than anything that is not meant to wait takes on a busy machine.
const SOON: Duration = Duration::from_secs(5);

/// The short limit in tests of limits.
const SHORT: Duration = Duration::from_millis(100);

fn client() -> HttpClient {
    HttpClient::builder().build().unwrap()
}

async fn serve(script: impl IntoIterator<Item = Reply>) -> TranscriptServer {
    TranscriptServer::start(script).await.unwrap()
}
