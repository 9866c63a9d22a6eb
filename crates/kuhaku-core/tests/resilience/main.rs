//! What holds of calls that go through the layer (D33). Time is the paused clock of tokio, so waits
//! are exact, unless a real server takes part.
#![cfg(feature = "http")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod breakers;
mod calls;
mod fallbacks;
mod models;
mod spans;
mod storm;
mod support;
