//! One text of a batch in JSON.

use kuhaku_core::{Message, one_line};
use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::request::ExtractRequest;

/// The names that a line may have.
const NAMES: [&str; 5] = ["id", "text", "history", "reference", "prior"];
const LONGEST_NAME: usize = 60;

/// Reads a line: an object with `text` and perhaps the other names, or the text alone as a string. Its
/// id is given even when something else is wrong.
pub(crate) fn read(line: &str) -> (Option<Value>, Result<ExtractRequest>) {
    match parsed(line) {
        Ok(Value::String(text)) => (None, Ok(ExtractRequest::new(text))),
        Ok(Value::Object(mut entries)) => {
            let id = entries.remove("id").filter(|id| !id.is_null());
            (id, request(entries))
        }
        Ok(_) => (None, Err(wrong("it is neither a string nor an object"))),
        Err(error) => (None, Err(error)),
    }
}

fn parsed(line: &str) -> Result<Value> {
    // What is read leniently from bytes that are no text begins so.
    if line.starts_with('\u{fffd}') {
        return Err(wrong("it is not UTF-8").next("convert it to UTF-8, for example with iconv"));
    }
    // Errors of serde quote the line, which is outside text (R7).
    serde_json::from_str(line).map_err(|error| {
        let how = if error.is_eof() { "its JSON has no end" } else { "it is no JSON" };
        wrong(format!("{how}, column {}", error.column()))
    })
}

fn request(mut entries: Map<String, Value>) -> Result<ExtractRequest> {
    if let Some(name) = entries.keys().find(|name| !NAMES.contains(&name.as_str())) {
        let name = one_line(name, LONGEST_NAME);
        return Err(wrong(format!("it has the unknown key `{name}`"))
            .next(format!("use only {}", NAMES.join(", "))));
    }
    let text = match entries.remove("text") {
        Some(Value::String(text)) => text,
        Some(_) => return Err(wrong("`text` is not a string")),
        None => return Err(wrong("it has no `text`")),
    };
    let mut request = ExtractRequest::new(text);
    match entries.remove("history") {
        None => {}
        Some(Value::Array(messages)) => {
            let messages = messages.iter().enumerate().map(|(at, said)| message(at + 1, said));
            request.history = messages.collect::<Result<_>>()?;
        }
        Some(_) => return Err(of_history("`history` is not a list")),
    }
    let given = |value: Option<Value>| value.filter(|value| !value.is_null());
    request.reference = given(entries.remove("reference"));
    request.prior = given(entries.remove("prior")).map(Into::into);
    Ok(request)
}

fn message(number: usize, said: &Value) -> Result<Message> {
    let text = |name: &str| said.get(name).and_then(Value::as_str);
    let (Some(role), Some(text)) = (text("role"), text("text")) else {
        let wrong = format!("message {number} of `history` lacks a string `role` or `text`");
        return Err(of_history(wrong));
    };
    match role {
        "user" => Ok(Message::user(text)),
        "assistant" => Ok(Message::assistant(text)),
        _ => {
            let wrong = "is neither `user` nor `assistant`";
            Err(of_history(format!("the role of message {number} of `history` {wrong}")))
        }
    }
}

fn of_history(cause: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    wrong(cause).next("write `history` as a list of objects with `role` and `text`")
}

fn wrong(cause: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::Batch, "read a line of a batch", cause)
        .next("write a text as a JSON string, or an object with `text`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_line_says_its_own_cause_and_keeps_its_id() {
        let cases = [
            ("not json", "it is no JSON, column 2", false),
            (r#"{"text": "tea""#, "its JSON has no end, column 14", false),
            ("\u{fffd}\"tea\"", "not UTF-8", false),
            ("5", "neither a string nor an object", false),
            (r#"{"id": 7, "txt": "tea"}"#, "unknown key `txt`", true),
            (r#"{"id": 7}"#, "no `text`", true),
            (r#"{"id": 7, "text": 5}"#, "`text` is not a string", true),
            (r#"{"id": 7, "text": "a", "history": {}}"#, "`history` is not a list", true),
            (r#"{"id": 7, "text": "a", "history": [1]}"#, "message 1 of `history` lacks", true),
            (
                r#"{"id": 7, "text": "a", "history": [{"role": "system", "text": "b"}]}"#,
                "neither `user` nor `assistant`",
                true,
            ),
        ];
        for (line, says, has_id) in cases {
            let (id, request) = read(line);
            let error = request.unwrap_err().to_string();
            assert!(error.contains(says), "{line}: {error}");
            assert_eq!(id, has_id.then(|| 7.into()), "{line}");
        }
        let (id, request) = read(r#"{"id": "b", "text": "tea", "history": [], "prior": null}"#);
        assert_eq!((id, request.unwrap().prior), (Some("b".into()), None));
    }
}
