//! Replies that are as they should be.

use kuhaku_core::{Finish, Usage};

use super::trial::{Checked, Trial, Verdict, ensure, offered, plain};
use crate::transcript::Reply;

fn some_usage() -> Usage {
    Usage::new(Some(7), Some(3))
}

pub(super) async fn chat(trial: Trial<'_>) -> Checked {
    let body = offered!(trial.case.reply("  Twenty-five days. \n", Finish::Stop, some_usage()));
    let pair = trial.serve([Reply::json(body)]).await?;
    let response = pair.answer(plain()).await?;
    ensure!(response.text == "Twenty-five days.", "the text is {:?}", response.text);
    ensure!(response.finish == Finish::Stop, "the finish is {:?}", response.finish);
    ensure!(response.usage == some_usage(), "the usage is {:?}", response.usage);
    ensure!(!response.model.is_empty(), "the model has no name");
    Ok(Verdict::Passed)
}

pub(super) async fn stream(trial: Trial<'_>) -> Checked {
    let pieces = ["  Twenty", "-five", "\n\n", "days", ". \n", " "];
    let whole = offered!(trial.case.reply(&pieces.concat(), Finish::Stop, some_usage()));
    let stream = offered!(trial.case.stream(&pieces, Finish::Stop, some_usage()));
    let pair = trial.serve([Reply::json(whole), trial.stream_reply(stream)]).await?;
    let response = pair.answer(plain()).await?;
    let streamed = pair.whole_stream(plain()).await?;
    let (text, count) = (streamed.text(), streamed.pieces.len());
    ensure!(text == response.text, "chat gives {:?}, the stream {text:?}", response.text);
    ensure!(count > 1, "the text came in one piece");
    let end = streamed.outcome.map_err(|error| error.to_string())?;
    ensure!(end.finish == Finish::Stop, "the finish is {:?}", end.finish);
    ensure!(end.usage == some_usage(), "the usage is {:?}", end.usage);
    ensure!(end.model == response.model, "the model is {:?}", end.model);
    Ok(Verdict::Passed)
}

pub(super) async fn split_characters(trial: Trial<'_>) -> Checked {
    let pieces = ["naïve ", "日本語", " §4 ", "🦀."];
    let body = offered!(trial.case.stream(&pieces, Finish::Stop, some_usage()));
    let media_type = trial.case.stream_type();
    let mut script = vec![Reply::stream(media_type).byte_by_byte(&body)];
    for border in 1..body.len() {
        let (before, after) = body.split_at(border);
        script.push(Reply::stream(media_type).piece(before).piece(after));
    }
    let requests = script.len();
    let pair = trial.serve(script).await?;
    for border in 0..requests {
        let text = pair.whole_stream(plain()).await?.text();
        ensure!(text == pieces.concat(), "split at byte {border}, the text is {text:?}");
    }
    Ok(Verdict::Passed)
}

pub(super) async fn keep_alive_lines(trial: Trial<'_>) -> Checked {
    let pieces = ["", "Twenty", "", "", "-five days.", ""];
    let body = offered!(trial.case.stream(&pieces, Finish::Stop, some_usage()));
    let pair = trial.serve([trial.stream_reply(body)]).await?;
    let text = pair.whole_stream(plain()).await?.text();
    ensure!(text == pieces.concat(), "the text is {text:?}");
    Ok(Verdict::Passed)
}

pub(super) async fn usage_absent(trial: Trial<'_>) -> Checked {
    let body = offered!(trial.case.reply("Yes.", Finish::Stop, Usage::default()));
    let stream = offered!(trial.case.stream(&["Yes", "."], Finish::Stop, Usage::default()));
    let pair = trial.serve([Reply::json(body), trial.stream_reply(stream)]).await?;
    let usage = pair.answer(plain()).await?.usage;
    ensure!(usage == Usage::default(), "the usage of chat is {usage:?}");
    let end = pair.whole_stream(plain()).await?.outcome.map_err(|error| error.to_string())?;
    ensure!(end.usage == Usage::default(), "the usage of the stream is {:?}", end.usage);
    Ok(Verdict::Passed)
}

pub(super) async fn usage_of_each_call(trial: Trial<'_>) -> Checked {
    let with = offered!(trial.case.reply("Yes.", Finish::Stop, some_usage()));
    let without = offered!(trial.case.reply("Yes.", Finish::Stop, Usage::default()));
    let pair = trial.serve([Reply::json(with), Reply::json(without)]).await?;
    for expected in [some_usage(), Usage::default()] {
        let usage = pair.answer(plain()).await?.usage;
        ensure!(usage == expected, "the usage is {usage:?} in place of {expected:?}");
    }
    Ok(Verdict::Passed)
}
