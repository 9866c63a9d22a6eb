//! The cases, and how they are run.

use std::time::Duration;

use futures_util::future::BoxFuture;
use tracing::instrument::WithSubscriber;

use super::case::ProviderCase;
use super::logs::Logs;
use super::report::{CaseReport, Outcome, Report};
use super::trial::{Checked, Trial, Verdict};
use super::{answers, endings, failures, hostile, leaks, requests, retries, statuses, timing};

/// A case that takes longer hangs.
const LONGEST_CASE: Duration = Duration::from_secs(60);

type Run = for<'a> fn(Trial<'a>) -> BoxFuture<'a, Checked>;

macro_rules! cases {
    ($($module:ident::$case:ident: $claim:literal,)+) => {
        &[$((stringify!($case), $claim, |trial| Box::pin($module::$case(trial)))),+]
    };
}

/// Name, claim and code of each case. Names are stable.
const CASES: &[(&str, &str, Run)] = cases! {
    answers::chat: "answers in one piece",
    answers::stream: "streams the same text, and ends once",
    answers::split_characters: "joins characters that the network splits",
    answers::keep_alive_lines: "passes over empty pieces of a stream",
    answers::usage_absent: "leaves unknown usage unknown",
    answers::usage_of_each_call: "reports usage per call",
    endings::length: "says that the token limit cut the reply",
    endings::content_filter: "says that a filter cut the reply",
    endings::refusal: "says that the model declined",
    endings::empty: "treats an empty reply as an error",
    requests::options: "sends every option of a request",
    requests::no_options: "sends no option that was not given",
    requests::formats: "sends the form that the reply shall have",
    statuses::statuses: "sorts HTTP errors by kind and by what a retry can do",
    statuses::too_long: "says that the input is too long",
    statuses::error_in_success: "finds an error inside a 200",
    failures::error_event: "ends a stream at an error inside it, with the text so far",
    failures::missing_end: "takes a stream without an end for cut",
    failures::cut: "takes a reply that ends early for cut",
    failures::reset: "takes a reset for a failure of the service",
    failures::refused_connection: "says that nobody answers",
    failures::garbage: "takes a reply of another shape for malformed, and asks once",
    hostile::giant_reply: "stops reading a giant reply",
    hostile::giant_event: "stops reading a giant event",
    hostile::redirect: "follows no redirect with key or question",
    timing::slow_head: "gives up on a head that does not come",
    timing::slow_body: "gives up on a body that does not come",
    timing::silent_stream: "gives up on a stream that falls silent",
    timing::deadline: "ends at the deadline",
    timing::dropped_call: "ends its request when a call is dropped",
    timing::dropped_stream: "ends its request when a stream is dropped",
    retries::temporary: "tries again after a failure that may pass",
    retries::permanent: "does not try again after one that stays",
    retries::after_text: "does not try again after text was streamed",
    retries::seconds: "waits for the seconds that the service asks for",
    retries::date: "waits for the date that the service asks for",
    retries::hint_in_body: "waits for what the body asks for",
    retries::wait_beyond_deadline: "does not wait beyond the deadline",
};

/// The names of all cases, in their order.
pub fn case_names() -> impl Iterator<Item = &'static str> {
    CASES.iter().map(|(name, ..)| *name)
}

/// Runs every case, one after the other, whether or not one fails.
pub async fn conformance(case: &dyn ProviderCase) -> Report {
    run_where(case, |_| true).await
}

/// Runs the named cases alone, for a closer look. Names that no case has are passed over.
pub async fn conformance_of(case: &dyn ProviderCase, names: &[&str]) -> Report {
    run_where(case, |name| names.contains(&name)).await
}

async fn run_where(case: &dyn ProviderCase, wanted: impl Fn(&str) -> bool) -> Report {
    let mut cases = Vec::new();
    for (name, claim, run) in CASES.iter().filter(|(name, ..)| wanted(name)) {
        let outcome = match checked(case, *run).await {
            Ok(Verdict::Passed) => Outcome::Passed,
            Ok(Verdict::NotOffered) => Outcome::NotOffered,
            Err(seen) => Outcome::Failed(seen),
        };
        cases.push(CaseReport { case: name, claim, outcome });
    }
    Report { provider: case.name().into(), cases }
}

async fn checked(case: &dyn ProviderCase, run: Run) -> Checked {
    let logs = Logs::default();
    let run = run(Trial { case }).with_subscriber(logs.clone());
    let verdict = tokio::time::timeout(LONGEST_CASE, run).await;
    let verdict = verdict.unwrap_or_else(|_| Err(format!("not over within {LONGEST_CASE:?}")))?;
    leaks::check("the logs", &logs.text())?;
    Ok(verdict)
}
