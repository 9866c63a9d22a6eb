//! A stream, taken to its end under the rules of the contract.

use futures_util::StreamExt;
use kuhaku_core::{ChatEvent, ChatStream, Error, Finish, Usage};

use super::leaks;
use super::trial::{Checked, ensure};

/// How a complete stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) finish: Finish,
    pub(super) usage: Usage,
    pub(super) model: String,
}

/// What came out of a stream.
#[derive(Debug)]
pub(super) struct Streamed {
    pub(super) pieces: Vec<String>,
    pub(super) outcome: Result<End, Error>,
}

impl Streamed {
    pub(super) fn text(&self) -> String {
        self.pieces.concat()
    }
}

/// Reads a stream until it gives nothing more. A call that fails before there is a stream counts as
/// one that fails at once.
pub(super) async fn collect(stream: Result<ChatStream, Error>) -> Checked<Streamed> {
    let mut streamed = match stream {
        Ok(stream) => read(stream).await?,
        Err(error) => Streamed { pieces: Vec::new(), outcome: Err(error) },
    };
    if let Err(error) = &streamed.outcome {
        leaks::check_error(error)?;
    }
    streamed.pieces.retain(|piece| !piece.is_empty());
    Ok(streamed)
}

async fn read(mut stream: ChatStream) -> Checked<Streamed> {
    let mut pieces = Vec::new();
    let mut outcome = None;
    while let Some(event) = stream.next().await {
        ensure!(outcome.is_none(), "after {outcome:?} the stream gave {event:?}");
        match event {
            Ok(ChatEvent::Text(text)) => pieces.push(text),
            Ok(ChatEvent::End { finish, usage, model }) => {
                outcome = Some(Ok(End { finish, usage, model }));
            }
            Ok(other) => return Err(format!("an event that the suite does not know: {other:?}")),
            Err(error) => outcome = Some(Err(error)),
        }
    }
    match outcome {
        Some(outcome) => Ok(Streamed { pieces, outcome }),
        None => Err(format!("the stream gave neither an end nor an error, after {pieces:?}")),
    }
}
