//! Services that mean harm.

use kuhaku_core::{Finish, Usage};

use super::trial::{Checked, KEY, QUESTION, Trial, Verdict, ensure, offered, plain};
use crate::transcript::{Reply, TranscriptServer};

/// What a provider may read of one reply, and what the network may hold besides.
const MOST: u64 = 64 << 20;

/// Adds twice what may be read.
fn flooded(reply: Reply) -> Reply {
    let piece = vec![b'a'; 64 << 10];
    let times = 2 * MOST / piece.len() as u64;
    reply.flood(piece, times)
}

pub(super) async fn giant_reply(trial: Trial<'_>) -> Checked {
    for status in [200, 400, 500] {
        let head = Reply::chunked(status).header("content-type", "application/json");
        let reply = flooded(head.piece("{\"error\":{\"message\":\""));
        let pair = trial.serve([reply]).await?;
        pair.failure(plain()).await?;
        let read = pair.server.sent();
        ensure!(read <= MOST, "of a giant reply with status {status}, {read} bytes were read");
    }
    Ok(Verdict::Passed)
}

pub(super) async fn giant_event(trial: Trial<'_>) -> Checked {
    let pair = trial.serve([flooded(trial.stream_reply(trial.case.endless_event()))]).await?;
    pair.broken_stream(plain()).await?;
    let read = pair.server.sent();
    ensure!(read <= MOST, "of a giant event, {read} bytes were read");
    Ok(Verdict::Passed)
}

pub(super) async fn redirect(trial: Trial<'_>) -> Checked {
    let body = offered!(trial.case.reply("Twenty-five days.", Finish::Stop, Usage::default()));
    for status in [301, 302, 303, 307, 308] {
        let other = TranscriptServer::start([Reply::json(body.clone())]).await;
        let other = other.map_err(|error| error.to_string())?;
        let location = format!("{}/elsewhere", other.url_of_another_host());
        let pair = trial.serve([Reply::new(status).header("location", location)]).await?;
        let chat = pair.chat(plain()).await?;
        let stream = pair.stream(plain()).await?;
        for request in other.requests() {
            ensure!(!request.mentions(KEY), "the key followed a {status} to another host");
            ensure!(!request.mentions(QUESTION), "the question followed a {status} elsewhere");
        }
        ensure!(chat.is_err(), "chat took an answer from where a {status} led");
        ensure!(stream.outcome.is_err(), "the stream took an answer from where a {status} led");
    }
    Ok(Verdict::Passed)
}
