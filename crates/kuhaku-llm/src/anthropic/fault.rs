//! What its errors mean.

use serde_json::Value;

use crate::fault::Fault;
use crate::words::Words;

/// Its own status for a service that has too much to do.
const OVERLOADED: u16 = 529;

/// A reply with an error status.
pub(super) fn of_status(status: u16, body: &Value) -> Fault {
    let mut fault = Fault::of_status(status);
    if status == OVERLOADED {
        fault.wrong = "it is overloaded".into();
    }
    match Words::of(body) {
        Some(words) => words.refine(fault),
        None => fault,
    }
}

/// An error inside a reply or a stream that began with status 200.
pub(super) fn of_event(body: &Value) -> Fault {
    let kind = body.pointer("/error/type").and_then(Value::as_str).unwrap_or_default();
    let status = match kind {
        "authentication_error" => 401,
        "billing_error" | "permission_error" => 403,
        "invalid_request_error" => 400,
        "not_found_error" => 404,
        "overloaded_error" => OVERLOADED,
        "rate_limit_error" => 429,
        "request_too_large" => 413,
        _ => 500,
    };
    Fault { status: None, ..of_status(status, body) }
}
