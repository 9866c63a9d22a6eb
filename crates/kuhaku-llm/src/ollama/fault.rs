//! What its errors mean.

use serde_json::Value;

use crate::fault::Fault;
use crate::words::Words;

/// A reply with an error status.
pub(super) fn of_status(model: &str, status: u16, body: &Value) -> Fault {
    let fault = Fault::of_status(status);
    let Some(words) = Words::of(body) else { return fault };
    // Something in front of the server says "not found" too, but does not name the model.
    let missing = status == 404 && words.message.to_lowercase().contains("model");
    if missing {
        let next = format!("run `ollama pull {model}`, or choose a model that `ollama list` shows");
        return Fault { wrong: "the model is not pulled".into(), ..fault }.next(next);
    }
    words.refine(fault)
}
