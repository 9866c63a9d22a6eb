//! Why replies end.

use kuhaku_core::{ErrorKind, Finish, Usage};

use super::trial::{Checked, Trial, Verdict, ensure, offered, plain};
use crate::transcript::Reply;

pub(super) async fn length(trial: Trial<'_>) -> Checked {
    finishes(trial, "Twenty-five da", Finish::Length).await
}

pub(super) async fn content_filter(trial: Trial<'_>) -> Checked {
    let verdict = finishes(trial, "Twenty-five", Finish::ContentFilter).await?;
    removed(trial, Finish::ContentFilter).await?;
    Ok(verdict)
}

pub(super) async fn refusal(trial: Trial<'_>) -> Checked {
    let verdict = finishes(trial, "That I will not answer.", Finish::Refusal).await?;
    removed(trial, Finish::Refusal).await?;
    Ok(verdict)
}

async fn finishes(trial: Trial<'_>, text: &str, finish: Finish) -> Checked {
    let body = offered!(trial.case.reply(text, finish, Usage::default()));
    let stream = offered!(trial.case.stream(&[text], finish, Usage::default()));
    let pair = trial.serve([Reply::json(body), trial.stream_reply(stream)]).await?;
    let response = pair.answer(plain()).await?;
    ensure!(response.finish == finish, "chat ends with {:?}", response.finish);
    ensure!(response.text == text, "chat gives {:?}", response.text);
    let streamed = pair.whole_stream(plain()).await?;
    ensure!(streamed.text() == text, "the stream gives {:?}", streamed.text());
    let end = streamed.outcome.map_err(|error| error.to_string())?;
    ensure!(end.finish == finish, "the stream ends with {:?}", end.finish);
    Ok(Verdict::Passed)
}

/// A reply of which nothing is left says why: as its finish, or as an error of that kind.
async fn removed(trial: Trial<'_>, finish: Finish) -> Checked {
    let body = offered!(trial.case.reply("", finish, Usage::default()));
    let stream = offered!(trial.case.stream(&[], finish, Usage::default()));
    let pair = trial.serve([Reply::json(body), trial.stream_reply(stream)]).await?;
    let chat = pair.chat(plain()).await?.map(|response| response.finish);
    let stream = pair.stream(plain()).await?.outcome.map(|end| end.finish);
    for (mode, outcome) in [("chat", chat), ("the stream", stream)] {
        match outcome {
            Ok(seen) => ensure!(seen == finish, "without text, {mode} ends with {seen:?}"),
            Err(error) => ensure!(
                *error.kind() == ErrorKind::Refused,
                "without text, {mode} fails with {error}"
            ),
        }
    }
    Ok(Verdict::Passed)
}

pub(super) async fn empty(trial: Trial<'_>) -> Checked {
    let bodies = trial.case.empty_replies();
    ensure!(!bodies.is_empty(), "the case has no empty replies");
    for body in bodies {
        let shown = String::from_utf8_lossy(&body).into_owned();
        let pair = trial.serve([Reply::json(body)]).await?;
        let error = pair.failure(plain()).await?;
        ensure!(*error.kind() == ErrorKind::EmptyResponse, "{shown} gives {error}");
    }
    let stream = offered!(trial.case.stream(&[], Finish::Stop, Usage::default()));
    let pair = trial.serve([trial.stream_reply(stream)]).await?;
    let (_, error) = pair.broken_stream(plain()).await?;
    ensure!(*error.kind() == ErrorKind::EmptyResponse, "an empty stream gives {error}");
    Ok(Verdict::Passed)
}
