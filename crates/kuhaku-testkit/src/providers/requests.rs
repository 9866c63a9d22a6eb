//! What the provider sends.

use kuhaku_core::{ChatRequest, Finish, ReplyFormat, Usage};
use serde_json::json;

use super::trial::{Checked, KEY, Trial, Verdict, ensure, full, offered, plain};
use crate::transcript::{RecordedRequest, Reply};

pub(super) async fn options(trial: Trial<'_>) -> Checked {
    sends(trial, full()).await
}

pub(super) async fn no_options(trial: Trial<'_>) -> Checked {
    let mut bare = plain();
    bare.system.clear();
    sends(trial, plain()).await?;
    sends(trial, bare).await
}

pub(super) async fn formats(trial: Trial<'_>) -> Checked {
    let schema = json!({
        "type": "object",
        "properties": {"days": {"type": "integer"}},
        "required": ["days"],
        "additionalProperties": false,
    });
    let mut request = plain();
    request.format = ReplyFormat::Json;
    sends(trial, request.clone()).await?;
    request.format = ReplyFormat::JsonSchema(schema);
    sends(trial, request).await
}

/// Sends a request both ways and compares what arrives.
async fn sends(trial: Trial<'_>, request: ChatRequest) -> Checked {
    let text = "{\"days\":25}";
    let usage = Usage::new(Some(7), Some(3));
    let body = offered!(trial.case.reply(text, Finish::Stop, usage));
    let stream = offered!(trial.case.stream(&[text], Finish::Stop, usage));
    let pair = trial.serve([Reply::json(body), trial.stream_reply(stream)]).await?;
    pair.answer(request.clone()).await?;
    pair.whole_stream(request.clone()).await?;
    let arrived = pair.server.requests();
    ensure!(arrived.len() == 2, "two calls made {} requests", arrived.len());
    for (arrived, streaming) in arrived.iter().zip([false, true]) {
        compare(trial, &request, arrived, streaming)?;
    }
    Ok(Verdict::Passed)
}

fn compare(
    trial: Trial<'_>,
    request: &ChatRequest,
    arrived: &RecordedRequest,
    streaming: bool,
) -> Checked<()> {
    let expected = trial.case.expected(request, streaming, KEY);
    let mode = if streaming { "stream" } else { "chat" };
    let (line, wanted) = ((&arrived.method, &arrived.path), (&expected.method, &expected.path));
    ensure!(line == wanted, "{mode} asks for {line:?}, not {wanted:?}");
    for (name, value) in &expected.headers {
        let seen = arrived.header(name);
        ensure!(seen == Some(value), "{mode} has the header {name}: {seen:?}, not {value:?}");
    }
    let body = arrived.json();
    ensure!(
        body.as_ref() == Some(&expected.body),
        "{mode} sends {}, not {}",
        body.unwrap_or_default(),
        expected.body
    );
    Ok(())
}
