//! The suite of providers passes a sound client, and finds each fault of an unsound one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod case;
mod client;
mod client_stream;

use case::Simple;
use client::Fault;
use futures_util::future::join_all;
use kuhaku_testkit::providers::{
    Outcome, capability_table, case_names, conformance, conformance_of,
};

#[tokio::test]
async fn a_sound_client_passes_every_case() {
    let report = conformance(&Simple { fault: None }).await;
    report.assert_conforms();
    let not_offered = report.cases.iter().filter(|case| case.outcome == Outcome::NotOffered);
    assert_eq!(not_offered.count(), 0);
    let table = capability_table(&[report]);
    assert!(table.contains("| streams the same text, and ends once | yes |\n"), "{table}");
}

#[tokio::test]
async fn every_case_fails_for_a_fault_that_it_looks_for() {
    let table = [
        (Fault::AcceptsCut, "missing_end"),
        (Fault::AcceptsCut, "cut"),
        (Fault::SwallowsErrorEvents, "error_event"),
        (Fault::DecodesPieces, "split_characters"),
        (Fault::FollowsRedirects, "redirect"),
        (Fault::ZeroUsage, "usage_absent"),
        (Fault::KeepsUsage, "usage_of_each_call"),
        (Fault::KeyInErrors, "statuses"),
        (Fault::KeyInDebug, "chat"),
        (Fault::KeyInLogs, "chat"),
        (Fault::QuestionInLogs, "stream"),
        (Fault::QuotesReplies, "garbage"),
        (Fault::IgnoresErrorsInSuccess, "error_in_success"),
        (Fault::EmptyIsFine, "empty"),
        (Fault::NeverSaysWhy, "length"),
        (Fault::NeverSaysWhy, "content_filter"),
        (Fault::NeverSaysWhy, "refusal"),
        (Fault::IgnoresWaits, "seconds"),
        (Fault::IgnoresWaits, "date"),
        (Fault::IgnoresWaits, "hint_in_body"),
        (Fault::RetriesEverything, "permanent"),
        (Fault::RetriesEverything, "garbage"),
        (Fault::NeverRetries, "temporary"),
        (Fault::ForgetsOptions, "options"),
        (Fault::SendsNulls, "no_options"),
        (Fault::TrimsWholeRepliesOnly, "stream"),
        (Fault::EndsTwice, "stream"),
        (Fault::ReadsEverything, "giant_reply"),
        (Fault::ReadsEverything, "giant_event"),
        (Fault::Detaches, "dropped_call"),
        (Fault::NoLimits, "slow_head"),
        (Fault::NoLimits, "slow_body"),
        (Fault::NoLimits, "silent_stream"),
        (Fault::NoLimits, "deadline"),
        (Fault::NoLimits, "wait_beyond_deadline"),
        (Fault::Detaches, "dropped_stream"),
        (Fault::StopsAtEmptyPieces, "keep_alive_lines"),
        (Fault::ForgetsOptions, "formats"),
        (Fault::BlursStatuses, "statuses"),
        (Fault::BlursStatuses, "too_long"),
        (Fault::TakesNetworkForPermanent, "reset"),
        (Fault::TakesNetworkForPermanent, "refused_connection"),
        (Fault::RetriesEverything, "after_text"),
    ];
    let shown = |name: &str| table.iter().any(|(_, case)| *case == name);
    let unshown: Vec<_> = case_names().filter(|name| !shown(name)).collect();
    assert!(unshown.is_empty(), "no fault for {unshown:?}");
    let runs = table.map(|(fault, name)| async move {
        let report = conformance_of(&Simple { fault: Some(fault) }, &[name]).await;
        assert_eq!(report.cases.len(), 1, "{name}");
        (report.failures().count() == 0).then_some((fault, name))
    });
    let missed: Vec<_> = join_all(runs).await.into_iter().flatten().collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}
