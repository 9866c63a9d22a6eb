//! The ways in which a service fails, each quoting what it was sent.

use kuhaku_testkit::transcript::{Ending, Reply};
use serde_json::json;

use crate::QUESTION;

/// Two replies of each kind, since there are two ways to ask; none is a success.
pub(crate) fn that_quote(keys: &[String]) -> Vec<Reply> {
    let said = format!("Incorrect key {} for: {QUESTION}", keys.join(" or "));
    let bodies = [
        json!({"error": {"message": said, "type": said, "metadata": {"raw": said}}}).to_string(),
        json!({"error": said, "error_type": said}).to_string(),
        said.clone(),
    ];
    let mut replies = Vec::new();
    for body in &bodies {
        for status in [400, 401, 403, 404, 408, 413, 422, 429, 500, 503, 529] {
            replies.push(Reply::new(status).header("x-said", &said).piece(body.as_str()));
        }
        replies.push(Reply::json(body.as_str()));
        replies.push(Reply::json(body.as_str()).ending(Ending::Close));
        replies.push(Reply::stream("application/x-ndjson").piece(format!("{body}\n")));
        let event = format!("event: error\ndata: {body}\n\n");
        replies.push(Reply::stream("text/event-stream").piece(event).ending(Ending::Reset));
        replies.push(Reply::raw(body.as_str()));
    }
    let elsewhere = format!("http://localhost:9/{}", said.replace(' ', "+"));
    replies.push(Reply::new(307).header("location", elsewhere));
    replies
        .push(Reply::json(json!({"choices": said, "content": said, "message": said}).to_string()));
    replies.push(Reply::reset());
    replies.push(Reply::silence());
    replies.into_iter().flat_map(|reply| [reply.clone(), reply]).collect()
}
