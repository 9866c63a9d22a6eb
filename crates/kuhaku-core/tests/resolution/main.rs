//! Choosing among candidates: order, questions, consent, memory, announcements.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod choosing;
mod memory;
mod support;
