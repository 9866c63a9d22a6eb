//! Limits of time, and callers that leave (R12).
//!
//! Services here would keep a caller for much longer than [`SOON`], so that a limit that does not
//! hold is told from a busy machine.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use kuhaku_core::{ChatEvent, ChatRequest, ErrorKind, Finish, Usage};

use super::trial::{Checked, Pair, SHORT, SOON, Trial, Verdict, ensure, offered, plain};
use crate::transcript::{Ending, Reply};

/// Between two bytes of a reply that drips: an answer of 200 bytes takes a minute.
const DRIP: Duration = Duration::from_millis(300);

pub(super) async fn slow_head(trial: Trial<'_>) -> Checked {
    let body = offered!(trial.case.reply("Yes.", Finish::Stop, Usage::default()));
    for reply in [Reply::silence(), Reply::json(body).drip(DRIP)] {
        let pair = trial.serve_with([reply], |endpoint| endpoint.attempt_timeout = SHORT).await?;
        times_out(&pair, plain, true).await?;
    }
    Ok(Verdict::Passed)
}

pub(super) async fn slow_body(trial: Trial<'_>) -> Checked {
    let body = offered!(trial.case.reply("Yes.", Finish::Stop, Usage::default()));
    let half = body.split_at(body.len() / 2).0.to_vec();
    for reply in [Reply::json(half), Reply::json("")] {
        let reply = reply.ending(Ending::Silence);
        let pair = trial.serve_with([reply], |endpoint| endpoint.attempt_timeout = SHORT).await?;
        times_out(&pair, plain, false).await?;
    }
    Ok(Verdict::Passed)
}

pub(super) async fn silent_stream(trial: Trial<'_>) -> Checked {
    let begun = trial.stream_reply(trial.case.unfinished_stream(&["Twenty", "-five"]));
    let script = [begun.ending(Ending::Silence)];
    let pair = trial.serve_with(script, |endpoint| endpoint.idle_timeout = SHORT).await?;
    let started = Instant::now();
    let (text, error) = pair.broken_stream(plain()).await?;
    soon(started)?;
    ensure!(text == "Twenty-five", "the text before the silence is {text:?}");
    ensure!(*error.kind() == ErrorKind::TimedOut, "silence became {error:?}");
    Ok(Verdict::Passed)
}

pub(super) async fn deadline(trial: Trial<'_>) -> Checked {
    let body = offered!(trial.case.reply("Yes.", Finish::Stop, Usage::default()));
    let limited = || plain().deadline(Instant::now() + SHORT);
    for reply in [Reply::silence(), Reply::json(body).drip(DRIP)] {
        times_out(&trial.serve([reply]).await?, limited, true).await?;
    }
    let begun = trial.case.unfinished_stream(&["a"; 50]);
    let dripping =
        begun.into_iter().fold(Reply::stream(trial.case.stream_type()), |reply, byte| {
            reply.piece(vec![byte]).pause(Duration::from_millis(20))
        });
    let pair = trial.serve([dripping]).await?;
    let started = Instant::now();
    let (_, error) = pair.broken_stream(limited()).await?;
    soon(started)?;
    ensure!(*error.kind() == ErrorKind::TimedOut, "a stream at its deadline became {error:?}");

    let pair = trial.serve([Reply::silence()]).await?;
    times_out(&pair, || plain().deadline(Instant::now()), true).await?;
    let asked = pair.server.requests().len();
    ensure!(asked == 0, "after its deadline, a call made {asked} requests");
    Ok(Verdict::Passed)
}

/// Whether calls end soon, and because of a limit.
async fn times_out(
    pair: &Pair,
    request: impl Fn() -> ChatRequest,
    streams_too: bool,
) -> Checked<()> {
    let started = Instant::now();
    let mut errors = vec![pair.failure(request()).await?];
    if streams_too {
        errors.push(pair.broken_stream(request()).await?.1);
    }
    soon(started)?;
    for error in errors {
        ensure!(*error.kind() == ErrorKind::TimedOut, "the limit became {error:?}");
    }
    Ok(())
}

fn soon(started: Instant) -> Checked<()> {
    let took = started.elapsed();
    ensure!(took < SOON, "a limit of {SHORT:?} took {took:?}");
    Ok(())
}

pub(super) async fn dropped_call(trial: Trial<'_>) -> Checked {
    let body = offered!(trial.case.reply("Yes.", Finish::Stop, Usage::default()));
    for reply in [Reply::silence(), Reply::json(body).ending(Ending::Silence)] {
        let pair = trial.serve([reply]).await?;
        tokio::select! {
            outcome = pair.provider.chat(plain()) => {
                return Err(format!("the call ended with {outcome:?}"));
            }
            arrived = pair.server.requested(1, SOON) => ensure!(arrived, "no request arrived"),
        }
        let noticed = pair.server.abandoned(1, SOON).await;
        ensure!(noticed, "the request goes on after its call was dropped");
    }
    Ok(Verdict::Passed)
}

pub(super) async fn dropped_stream(trial: Trial<'_>) -> Checked {
    let begun = trial.stream_reply(trial.case.unfinished_stream(&["Twenty", "-five"]));
    let pair = trial.serve([begun.ending(Ending::Silence)]).await?;
    let stream = pair.provider.stream(plain()).await;
    let mut stream = stream.map_err(|error| format!("there is no stream: {error}"))?;
    let first = stream.next().await;
    ensure!(matches!(first, Some(Ok(ChatEvent::Text(_)))), "the stream begins with {first:?}");
    drop(stream);
    let noticed = pair.server.abandoned(1, SOON).await;
    ensure!(noticed, "the request goes on after its stream was dropped");
    Ok(Verdict::Passed)
}
