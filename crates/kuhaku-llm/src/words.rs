//! What a service says about a failure, in whichever envelope it says it.

use kuhaku_core::{ErrorKind, retry_hint_in_text};
use serde_json::Value;

use crate::excess::{named, too_long};
use crate::fault::Fault;

/// The explanation of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    /// The sentence for people.
    pub(crate) message: String,
    /// The code or type for programs; empty for none.
    pub(crate) code: String,
    /// The HTTP status that the envelope names.
    pub(crate) status: Option<u16>,
}

impl Words {
    /// Reads `{"error": {"message", "code", "type"}}`, `{"error": "…", "error_type"}`,
    /// `{"object": "error", "message", "code"}`, `{"message"}` and `{"detail"}`; the first element
    /// of a list is read like its envelope.
    pub(crate) fn of(body: &Value) -> Option<Self> {
        let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
        Self::reported(body).or_else(|| {
            let message = ["message", "detail"].iter().find_map(|name| body.get(name)?.as_str());
            message.map(|message| Self::from_parts(message, body))
        })
    }

    /// The same for a reply that may as well be an answer: only what cannot be one is taken.
    pub(crate) fn reported(body: &Value) -> Option<Self> {
        match body.get("error") {
            Some(Value::String(message)) => Some(Self::from_parts(message, body)),
            Some(error @ Value::Object(_)) => {
                let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
                Some(Self::from_parts(message, error))
            }
            Some(Value::Null | Value::Bool(false)) | None => {
                let message = body.get("message").and_then(Value::as_str).unwrap_or_default();
                let error = body.get("object").and_then(Value::as_str) == Some("error");
                error.then(|| Self::from_parts(message, body))
            }
            Some(_) => Some(Self::default()),
        }
    }

    fn from_parts(message: &str, around: &Value) -> Self {
        let text = |name: &str| around.get(name).and_then(Value::as_str).map(str::to_owned);
        let code = text("code").or_else(|| text("error_type")).or_else(|| text("type"));
        let status = around.get("code").and_then(Value::as_u64);
        let status = status.and_then(|status| u16::try_from(status).ok());
        Self {
            message: message.into(),
            code: code.unwrap_or_default(),
            status: status.filter(|status| (400..=599).contains(status)),
        }
    }

    /// The fault that these words report inside a reply that seemed to succeed.
    pub(crate) fn into_fault(self) -> Fault {
        let fault = match self.status {
            Some(status) => Fault::of_status(status),
            None => Fault::new(ErrorKind::Unavailable, "it reports a failure within its reply")
                .next("try again later, or choose another provider"),
        };
        self.refine(fault)
    }

    /// What the words add to what the status alone says.
    pub(crate) fn refine(self, fault: Fault) -> Fault {
        let wait = retry_hint_in_text(&self.message);
        let fault = match fault.kind {
            ErrorKind::InvalidInput | ErrorKind::ContextTooLong | ErrorKind::Unavailable
                if self.is_about_length() =>
            {
                Fault { status: fault.status, ..too_long(None) }
            }
            ErrorKind::InvalidInput if self.is_about_content() => {
                let wrong = "a filter of the service refused the input";
                let next = "leave out what the service does not allow";
                Fault { kind: ErrorKind::Refused, wrong: wrong.into(), ..fault }.next(next)
            }
            ErrorKind::RateLimited if self.is_about_money() => {
                let wrong = "the account has no quota left";
                let next = "add credit at the service, or choose another provider";
                Fault { temporary: Some(false), wrong: wrong.into(), ..fault }.next(next)
            }
            _ => fault,
        };
        let fault = fault.wait(wait);
        if self.message.is_empty() { fault } else { named(fault.said(self.message)) }
    }

    fn says(&self, parts: &[&str]) -> bool {
        let all = format!("{} {}", self.code, self.message).to_lowercase();
        parts.iter().any(|part| all.contains(part))
    }

    fn is_about_length(&self) -> bool {
        self.says(&[
            "context_length",
            "context length",
            "context window",
            "context size",
            "too many tokens",
            "prompt is too long",
            "input is too long",
            "reduce the length",
            "input token count",
            "`inputs` tokens",
            "`inputs` must have less than",
            "exceed_context_size",
        ])
    }

    fn is_about_content(&self) -> bool {
        self.says(&["content_filter", "content_policy", "content management policy"])
    }

    fn is_about_money(&self) -> bool {
        self.says(&["insufficient_quota", "exceeded your current quota", "billing"])
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn every_envelope_is_read() {
        let table = [
            (json!({"error": {"message": "m", "code": "c", "type": "t"}}), "c"),
            (json!({"error": {"message": "m", "code": null, "type": "t"}}), "t"),
            (json!({"error": "m", "error_type": "validation"}), "validation"),
            (json!({"object": "error", "message": "m", "type": "t", "code": 400}), "t"),
            (json!({"message": "m"}), ""),
            (json!({"detail": "m"}), ""),
            (json!([{"error": {"message": "m"}}]), ""),
        ];
        for (body, code) in table {
            let words = Words::of(&body).unwrap();
            assert_eq!((words.message.as_str(), words.code.as_str()), ("m", code), "{body}");
        }
        for body in [json!(null), json!({}), json!("m"), json!([]), json!({"detail": [1]})] {
            assert_eq!(Words::of(&body), None, "{body}");
        }
    }

    #[test]
    fn an_answer_is_not_taken_for_a_failure() {
        for body in [
            json!({"error": null, "choices": []}),
            json!({"error": false}),
            json!({"message": {"content": "m"}}),
            json!({"message": "m"}),
        ] {
            assert_eq!(Words::reported(&body), None, "{body}");
        }
    }

    #[test]
    fn words_tell_more_than_the_status() {
        let fault = |status, error| Words::of(&error).unwrap().refine(Fault::of_status(status));
        let long =
            json!({"error": {"message": "This model's maximum context length is 8192 tokens."}});
        assert_eq!(fault(400, long).kind, ErrorKind::ContextTooLong);
        let quota = json!({"error": {"message": "m", "code": "insufficient_quota"}});
        assert_eq!(fault(429, quota).temporary, Some(false));
        let busy = json!({"error": {"message": "Please try again in 1.5s."}});
        assert_eq!(fault(429, busy).wait, Some(Duration::from_millis(1500)));
        let filter = json!({"error": {"message": "m", "code": "content_filter"}});
        assert_eq!(fault(400, filter).kind, ErrorKind::Refused);
        let inside = Words::of(&json!({"error": {"message": "m", "code": 429}})).unwrap();
        assert_eq!(inside.into_fault().kind, ErrorKind::RateLimited);
    }
}
