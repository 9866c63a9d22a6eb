//! What the server sends, and how it goes wrong.

use std::time::Duration;

/// How a reply ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// As HTTP wants it; the connection stays open for the next request.
    #[default]
    Complete,
    /// The connection is closed although more was promised.
    Close,
    /// The connection is reset although more was promised.
    Reset,
    /// Nothing more comes although more was promised, and the connection stays open.
    Silence,
}

/// One answer of a [`super::TranscriptServer`].
///
/// ```
/// use std::time::Duration;
/// use kuhaku_testkit::transcript::{Ending, Reply};
/// let cut = Reply::stream("text/event-stream")
///     .piece("data: {\"text\":\"Twen")
///     .pause(Duration::from_millis(20))
///     .piece("ty\"}\n\n")
///     .ending(Ending::Reset);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Reply {
    framing: Framing,
    before: Duration,
    drip: Option<Duration>,
    head: String,
    body: Vec<Part>,
    ending: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// The body's length stands in the head.
    Length,
    /// Each piece is a chunk of its own.
    Chunked,
    /// The body is all there is; no head is made.
    Raw,
}

#[derive(Clone, Debug)]
enum Part {
    Piece(Vec<u8>),
    Pause(Duration),
    Flood { piece: Vec<u8>, times: u64 },
}

/// What the connection does, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action {
    Send(Vec<u8>),
    Repeat(Vec<u8>, u64),
    Pause(Duration),
}

impl Reply {
    /// A reply with this status and an empty body.
    pub fn new(status: u16) -> Self {
        Self::framed(Framing::Length, format!("HTTP/1.1 {status} Scripted\r\n"))
    }

    /// A 200 with this JSON.
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200).header("content-type", "application/json").piece(body)
    }

    /// A 200 whose pieces are sent one by one, each as a chunk of the chunked encoding, so that a
    /// client meets them one by one even when the network joins them.
    pub fn stream(content_type: &str) -> Self {
        Self::chunked(200).header("content-type", content_type)
    }

    /// The same with any status and no media type.
    pub fn chunked(status: u16) -> Self {
        Self::framed(Framing::Chunked, format!("HTTP/1.1 {status} Scripted\r\n"))
            .header("transfer-encoding", "chunked")
    }

    /// These bytes in place of HTTP; the connection is closed after them.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::framed(Framing::Raw, String::new()).piece(bytes).ending(Ending::Close)
    }

    /// No byte, ever.
    pub fn silence() -> Self {
        Self::framed(Framing::Raw, String::new()).ending(Ending::Silence)
    }

    /// A reset in place of an answer.
    pub fn reset() -> Self {
        Self::framed(Framing::Raw, String::new()).ending(Ending::Reset)
    }

    fn framed(framing: Framing, head: String) -> Self {
        Self {
            framing,
            before: Duration::ZERO,
            drip: None,
            head,
            body: Vec::new(),
            ending: Ending::Complete,
        }
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: impl AsRef<str>) -> Self {
        let value = value.as_ref();
        self.head.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    /// Adds bytes to the body.
    pub fn piece(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.body.push(Part::Piece(bytes.into()));
        self
    }

    /// Adds bytes to the body, each for itself.
    pub fn byte_by_byte(mut self, bytes: &[u8]) -> Self {
        self.body.extend(bytes.iter().map(|byte| Part::Piece(vec![*byte])));
        self
    }

    /// Waits before what is added next.
    pub fn pause(mut self, pause: Duration) -> Self {
        self.body.push(Part::Pause(pause));
        self
    }

    /// Adds a piece so many times, without holding them all in memory. Not for replies of a stated
    /// length.
    pub fn flood(mut self, piece: impl Into<Vec<u8>>, times: u64) -> Self {
        self.body.push(Part::Flood { piece: piece.into(), times });
        self
    }

    /// Waits before the first byte of the head.
    pub fn after(mut self, wait: Duration) -> Self {
        self.before = wait;
        self
    }

    /// Sends every byte, from the first of the head, after a pause of its own.
    pub fn drip(mut self, pause: Duration) -> Self {
        self.drip = Some(pause);
        self
    }

    /// Ends in another way. A reply of stated length then promises one byte more than it has.
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    pub(super) fn ends(&self) -> Ending {
        self.ending
    }

    pub(super) fn actions(&self) -> Vec<Action> {
        let mut actions = vec![Action::Pause(self.before)];
        match self.framing {
            Framing::Raw => {}
            Framing::Chunked => actions.push(Action::Send(format!("{}\r\n", self.head).into())),
            Framing::Length => {
                let length = self.length() + usize::from(self.ending != Ending::Complete);
                let head = format!("{}content-length: {length}\r\n\r\n", self.head);
                actions.push(Action::Send(head.into()));
            }
        }
        for part in &self.body {
            actions.push(match part {
                Part::Piece(piece) => Action::Send(self.frame(piece)),
                Part::Pause(pause) => Action::Pause(*pause),
                Part::Flood { piece, times } => Action::Repeat(self.frame(piece), *times),
            });
        }
        if self.framing == Framing::Chunked && self.ending == Ending::Complete {
            actions.push(Action::Send(b"0\r\n\r\n".into()));
        }
        match self.drip {
            Some(pause) => actions.into_iter().flat_map(|action| dripped(action, pause)).collect(),
            None => actions,
        }
    }

    fn length(&self) -> usize {
        let pieces = self.body.iter().filter_map(|part| match part {
            Part::Piece(piece) => Some(piece.len()),
            Part::Pause(_) | Part::Flood { .. } => None,
        });
        pieces.sum()
    }

    fn frame(&self, piece: &[u8]) -> Vec<u8> {
        // An empty chunk would end the body.
        if self.framing != Framing::Chunked || piece.is_empty() {
            return piece.to_vec();
        }
        [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()
    }
}

fn dripped(action: Action, pause: Duration) -> Vec<Action> {
    let Action::Send(bytes) = action else { return vec![action] };
    let drops = bytes.into_iter().map(|byte| Action::Send(vec![byte]));
    drops.flat_map(|drop| [Action::Pause(pause), drop]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(reply: &Reply) -> String {
        let bytes = reply.actions().into_iter().flat_map(|action| match action {
            Action::Send(bytes) => bytes,
            Action::Repeat(bytes, times) => bytes.repeat(usize::try_from(times).unwrap()),
            Action::Pause(_) => Vec::new(),
        });
        String::from_utf8(bytes.collect()).unwrap()
    }

    #[test]
    fn replies_are_framed_as_http_wants_it() {
        let head = "HTTP/1.1 200 Scripted\r\n";
        let table = [
            (
                Reply::json("{}"),
                format!("{head}content-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}"),
            ),
            (
                Reply::stream("a/b").piece("0123456789abcdef").piece("").piece("é"),
                format!(
                    "{head}transfer-encoding: chunked\r\ncontent-type: a/b\r\n\r\n\
                     10\r\n0123456789abcdef\r\n2\r\né\r\n0\r\n\r\n"
                ),
            ),
            (Reply::raw("SSH-2.0"), "SSH-2.0".into()),
            (Reply::silence(), String::new()),
        ];
        for (reply, expected) in table {
            assert_eq!(sent(&reply), expected);
            assert_eq!(sent(&reply.drip(Duration::ZERO)), expected);
        }
    }

    #[test]
    fn a_reply_that_is_cut_promises_more_than_it_has() {
        let cut = Reply::new(200).piece("abc").ending(Ending::Close);
        assert!(sent(&cut).contains("content-length: 4\r\n"));
        let cut = Reply::stream("a/b").piece("abc").ending(Ending::Reset);
        assert!(sent(&cut).ends_with("3\r\nabc\r\n"));
    }
}
