//! What Google's errors mean (`google.rpc.Status` as JSON).

use std::time::Duration;

use kuhaku_core::retry_hint_in_text;
use serde_json::Value;

use crate::fault::Fault;
use crate::words::Words;

/// A reply with an error status.
pub(super) fn of_status(status: u16, body: &Value) -> Fault {
    let fault = Fault::of_status(status).wait(retry_delay(body));
    let fault = match status {
        401 => fault.next("check the application-default credentials"),
        403 => fault.next("give the account the role Vertex AI User, and turn the API on"),
        404 => fault.next("check the model's name, and that the location has it"),
        _ => fault,
    };
    match Words::of(body) {
        Some(words) => words.refine(fault),
        None => fault,
    }
}

/// An error inside a reply or a stream that began with status 200.
pub(super) fn of_event(body: &Value, words: Words) -> Fault {
    words.into_fault().wait(retry_delay(body))
}

/// The wait that the error's details ask for.
fn retry_delay(body: &Value) -> Option<Duration> {
    let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let details = body.pointer("/error/details")?.as_array()?;
    details.iter().find_map(|detail| retry_hint_in_text(detail.get("retryDelay")?.as_str()?))
}
