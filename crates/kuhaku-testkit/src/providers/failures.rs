//! Replies that break, and replies that are not what they should be.

use kuhaku_core::{ErrorKind, Finish, Status, Usage};
use serde_json::Value;

use super::statuses::is_of_service;
use super::trial::{CONTENT, Checked, KEY, Trial, Verdict, ensure, offered, plain};
use crate::transcript::{Ending, Reply};

const PIECES: [&str; 2] = ["Twenty", "-five"];

pub(super) async fn error_event(trial: Trial<'_>) -> Checked {
    let message = format!("the backend of {KEY} failed");
    let body = offered!(trial.case.failing_stream(&PIECES, &message));
    let pair = trial.serve([trial.stream_reply(body)]).await?;
    let (text, error) = pair.broken_stream(plain()).await?;
    ensure!(text == PIECES.concat(), "the text before the error is {text:?}");
    ensure!(is_of_service(&error), "it became {error:?}");
    Ok(Verdict::Passed)
}

pub(super) async fn missing_end(trial: Trial<'_>) -> Checked {
    let whole = trial.case.unfinished_stream(&PIECES);
    let torn = whole.split_at(whole.len().saturating_sub(4)).0.to_vec();
    let pair = trial.serve([trial.stream_reply(whole), trial.stream_reply(torn)]).await?;
    let (text, _) = pair.broken_stream(plain()).await?;
    ensure!(text == PIECES.concat(), "the text before the cut is {text:?}");
    pair.broken_stream(plain()).await?;
    let pair = trial.serve([trial.stream_reply("")]).await?;
    pair.broken_stream(plain()).await?;
    Ok(Verdict::Passed)
}

pub(super) async fn cut(trial: Trial<'_>) -> Checked {
    broken_off(trial, Ending::Close).await
}

pub(super) async fn reset(trial: Trial<'_>) -> Checked {
    let pair = trial.serve([Reply::reset()]).await?;
    for error in [pair.failure(plain()).await?, pair.broken_stream(plain()).await?.1] {
        ensure!(*error.kind() == ErrorKind::Unavailable, "a reset became {error:?}");
        ensure!(error.status() != Status::Permanent, "a reset became {error:?}");
    }
    broken_off(trial, Ending::Reset).await
}

async fn broken_off(trial: Trial<'_>, ending: Ending) -> Checked {
    let whole = offered!(trial.case.reply("Twenty-five days.", Finish::Stop, Usage::default()));
    let half = whole.split_at(whole.len() / 2).0.to_vec();
    let pair = trial.serve([Reply::json(half).ending(ending)]).await?;
    let error = pair.failure(plain()).await?;
    ensure!(error.status() != Status::Permanent, "a torn reply became {error:?}");
    let pair = trial.serve([Reply::json(whole).ending(ending)]).await?;
    pair.failure(plain()).await?;
    let begun = trial.stream_reply(trial.case.unfinished_stream(&PIECES));
    let pair = trial.serve([begun.ending(ending)]).await?;
    pair.broken_stream(plain()).await?;
    Ok(Verdict::Passed)
}

pub(super) async fn refused_connection(trial: Trial<'_>) -> Checked {
    let mut pair = trial.serve([Reply::json("{}")]).await?;
    // A port that nobody listens on any more.
    let gone = trial.serve([]).await?;
    pair.provider = gone.provider;
    drop(gone.server);
    tokio::task::yield_now().await;
    for error in [pair.failure(plain()).await?, pair.broken_stream(plain()).await?.1] {
        ensure!(*error.kind() == ErrorKind::Unavailable, "it became {error:?}");
        ensure!(error.status() != Status::Permanent, "it became {error:?}");
    }
    Ok(Verdict::Passed)
}

pub(super) async fn garbage(trial: Trial<'_>) -> Checked {
    let quoted = format!("\"{CONTENT}\"");
    let bodies: [Vec<u8>; 10] = [
        "{\"choi".into(),
        format!("<html>{CONTENT}</html>").into(),
        quoted.clone().into(),
        format!("[{quoted}]").into(),
        format!("{{\"other\":{quoted}}}").into(),
        "null".into(),
        "17".into(),
        "[".repeat(100_000).into(),
        b"\xff\xfe\x00".into(),
        Vec::new(),
    ];
    for body in bodies {
        let shown = String::from_utf8_lossy(&body).chars().take(20).collect::<String>();
        let pair = trial.serve_with([Reply::json(body)], |endpoint| endpoint.attempts = 3).await?;
        let error = pair.failure(plain()).await?;
        let kinds = [ErrorKind::MalformedResponse, ErrorKind::EmptyResponse];
        ensure!(kinds.contains(error.kind()), "{shown:?} became {error:?}");
        let requests = pair.server.requests().len();
        ensure!(requests == 1, "{shown:?} was asked for {requests} times");
        pair.broken_stream(plain()).await?;
    }
    let torn = [trial.case.endless_event(), b"\n\n".into()].concat();
    trial.serve([trial.stream_reply(torn)]).await?.broken_stream(plain()).await?;
    let raw = trial.serve([Reply::raw("SSH-2.0-server\r\n")]).await?;
    raw.failure(plain()).await?;
    odd_values(trial).await
}

/// A reply in which one value after the other is of another type: an answer or an error, and
/// nothing of it in the error. The model's name is left alone: it is no content, and spans show it.
async fn odd_values(trial: Trial<'_>) -> Checked {
    let usage = Usage::new(Some(7), Some(3));
    let body = offered!(trial.case.reply("Twenty-five days.", Finish::Stop, usage));
    let reply: Value = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
    let model = trial.serve([Reply::json(body)]).await?.answer(plain()).await?.model;
    let mut paths = Vec::new();
    collect_paths(&reply, String::new(), &mut paths);
    paths.retain(|path| reply.pointer(path).is_none_or(|value| *value != model.as_str()));
    for odd in [Value::Null, CONTENT.into(), (-1).into(), Value::Array(vec![CONTENT.into()])] {
        for path in &paths {
            let mut reply = reply.clone();
            let Some(value) = reply.pointer_mut(path) else { continue };
            *value = odd.clone();
            let pair = trial.serve([Reply::json(reply.to_string())]).await?;
            // Either way is right; leaks are found on the way.
            let _ = pair.chat(plain()).await?;
        }
    }
    Ok(Verdict::Passed)
}

/// The JSON pointer of every value.
fn collect_paths(value: &Value, path: String, paths: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(values) => {
            values.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (name, value) in inner {
        let name = name.replace('~', "~0").replace('/', "~1");
        collect_paths(value, format!("{path}/{name}"), paths);
    }
    paths.push(path);
}
