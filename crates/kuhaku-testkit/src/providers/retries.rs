//! What is tried again, and when.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use kuhaku_core::{ErrorKind, Finish, Status, Timestamp, Usage};

use super::case::Endpoint;
use super::trial::{Checked, Pair, SHORT, SOON, Trial, Verdict, ensure, offered, plain};
use crate::transcript::{Ending, Reply};

/// What the services of these cases ask for, far above the wait that the provider would choose.
const ASKED: u64 = 1;

fn three_attempts(endpoint: &mut Endpoint) {
    endpoint.attempts = 3;
}

fn failure(trial: Trial<'_>, status: u16) -> Reply {
    let body = trial.case.error(status, "try again");
    Reply::new(status).header("content-type", "application/json").piece(body)
}

/// A complete reply for each way to ask.
fn successes(trial: Trial<'_>) -> Option<[Reply; 2]> {
    let usage = Usage::default();
    let body = trial.case.reply("Yes.", Finish::Stop, usage)?;
    let stream = trial.case.stream(&["Yes", "."], Finish::Stop, usage)?;
    Some([Reply::json(body), trial.stream_reply(stream)])
}

pub(super) async fn temporary(trial: Trial<'_>) -> Checked {
    let [chat, stream] = offered!(successes(trial));
    for status in [408, 429, 500, 503, 529] {
        let script = [failure(trial, status), Reply::reset(), chat.clone()];
        let pair = trial.serve_with(script, three_attempts).await?;
        pair.answer(plain()).await?;
        asked(&pair, 3)?;
        let script = [failure(trial, status), Reply::reset(), stream.clone()];
        let pair = trial.serve_with(script, three_attempts).await?;
        pair.whole_stream(plain()).await?;
        asked(&pair, 3)?;
    }
    let pair = trial.serve_with([failure(trial, 503)], three_attempts).await?;
    let error = pair.failure(plain()).await?;
    asked(&pair, 3)?;
    ensure!(*error.kind() == ErrorKind::Unavailable, "three times 503 became {error:?}");
    ensure!(error.status() == Status::Persistent, "three times 503 became {error:?}");
    Ok(Verdict::Passed)
}

pub(super) async fn permanent(trial: Trial<'_>) -> Checked {
    for status in [400, 401, 403, 404, 413, 422] {
        let pair = trial.serve_with([failure(trial, status)], three_attempts).await?;
        pair.failure(plain()).await?;
        let most = if status == 401 && trial.case.renews_credentials() { 2 } else { 1 };
        let seen = pair.server.requests().len();
        ensure!(seen <= most, "{status} was asked for {seen} times");
    }
    Ok(Verdict::Passed)
}

pub(super) async fn after_text(trial: Trial<'_>) -> Checked {
    let [_, stream] = offered!(successes(trial));
    let begun = trial.stream_reply(trial.case.unfinished_stream(&["Twenty", "-five"]));
    // The pause lets the text arrive before the reset, which may discard what is under way.
    let torn = begun.pause(SHORT).ending(Ending::Reset);
    let pair = trial.serve_with([torn, stream], three_attempts).await?;
    let (text, _) = pair.broken_stream(plain()).await?;
    ensure!(text == "Twenty-five", "the text before the reset is {text:?}");
    asked(&pair, 1)?;
    Ok(Verdict::Passed)
}

pub(super) async fn seconds(trial: Trial<'_>) -> Checked {
    let [chat, stream] = offered!(successes(trial));
    for status in [429, 503] {
        let busy = failure(trial, status).header("retry-after", ASKED.to_string());
        let pair = trial.serve_with([busy.clone(), chat.clone()], three_attempts).await?;
        pair.answer(plain()).await?;
        waited(&pair, Duration::from_secs(ASKED))?;
        let pair = trial.serve_with([busy, stream.clone()], three_attempts).await?;
        pair.whole_stream(plain()).await?;
        waited(&pair, Duration::from_secs(ASKED))?;
        let busy = failure(trial, status).header("retry-after", "7");
        tells(trial, busy, Duration::from_secs(7)..=Duration::from_secs(7)).await?;
    }
    Ok(Verdict::Passed)
}

pub(super) async fn date(trial: Trial<'_>) -> Checked {
    let [chat, _] = offered!(successes(trial));
    let busy = |date: String| failure(trial, 429).header("retry-after", date);
    let pair = trial.serve_with([busy(in_seconds(2)?), chat], three_attempts).await?;
    pair.answer(plain()).await?;
    // A date without fractions of a second is up to one early, and the clock is read again later.
    waited(&pair, Duration::from_millis(500))?;
    let within = Duration::from_secs(30)..=Duration::from_secs(60);
    tells(trial, busy(in_seconds(60)?), within).await?;
    Ok(Verdict::Passed)
}

/// A moment from now on as HTTP writes it.
fn in_seconds(seconds: i64) -> Checked<String> {
    let then = Timestamp::now().as_second().saturating_add(seconds);
    let then = Timestamp::from_second(then).map_err(|error| error.to_string())?;
    Ok(then.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string())
}

pub(super) async fn hint_in_body(trial: Trial<'_>) -> Checked {
    let hint = offered!(trial.case.retry_hint(ASKED));
    let [chat, _] = offered!(successes(trial));
    let busy = Reply::new(429).header("content-type", "application/json").piece(hint);
    let pair = trial.serve_with([busy.clone(), chat], three_attempts).await?;
    pair.answer(plain()).await?;
    let asked = Duration::from_secs(ASKED);
    waited(&pair, asked)?;
    tells(trial, busy, asked..=asked).await?;
    Ok(Verdict::Passed)
}

pub(super) async fn wait_beyond_deadline(trial: Trial<'_>) -> Checked {
    let busy = failure(trial, 429).header("retry-after", "3600");
    let pair = trial.serve_with([busy], three_attempts).await?;
    let started = Instant::now();
    let error = pair.failure(plain().deadline(Instant::now() + SHORT * 4)).await?;
    let took = started.elapsed();
    ensure!(took < SOON, "a deadline of {:?} took {took:?}", SHORT * 4);
    let kinds = [ErrorKind::RateLimited, ErrorKind::TimedOut];
    ensure!(kinds.contains(error.kind()), "it became {error:?}");
    asked(&pair, 1)?;
    Ok(Verdict::Passed)
}

fn asked(pair: &Pair, times: usize) -> Checked<()> {
    let seen = pair.server.requests().len();
    ensure!(seen == times, "the service was asked {seen} times, not {times}");
    Ok(())
}

/// Whether the error of a call that is not repeated says how long to wait.
async fn tells(trial: Trial<'_>, busy: Reply, expected: RangeInclusive<Duration>) -> Checked<()> {
    let pair = trial.serve([busy]).await?;
    for error in [pair.failure(plain()).await?, pair.broken_stream(plain()).await?.1] {
        let told = error.retry_after();
        let right = told.is_some_and(|wait| expected.contains(&wait));
        ensure!(right, "the error tells to wait {told:?}, not {expected:?}");
    }
    Ok(())
}

/// Whether two requests were made, the second not before its time.
fn waited(pair: &Pair, wait: Duration) -> Checked<()> {
    asked(pair, 2)?;
    let requests = pair.server.requests();
    let [first, second] = requests.as_slice() else { return Ok(()) };
    let gap = second.at.duration_since(first.at);
    ensure!(gap >= wait, "the second attempt came after {gap:?}, not {wait:?}");
    Ok(())
}
