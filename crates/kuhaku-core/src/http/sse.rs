//! Server-sent events (HTML Standard, section 9.2.6, "Interpreting an event stream").

use std::time::Duration;

use super::lines::LineDecoder;
use crate::error::{Error, ErrorKind, Result};

/// An event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent {
    /// Its type; empty when the stream names none, which means `message`.
    pub name: String,
    /// Its data; several lines are joined by LF.
    pub data: String,
    /// Its id, if it has one of its own.
    pub id: Option<String>,
    /// The wait that the service asks for before the stream is opened again.
    pub retry: Option<Duration>,
}

/// Cuts a stream of bytes into server-sent events.
///
/// It does no I/O: feed it what comes, take what is there. Characters that two pieces share are
/// whole; bytes that are not UTF-8 become U+FFFD. Comments are skipped, and so are events without
/// data. Unlike a browser it keeps no id from one event to the next.
///
/// ```
/// use kuhaku_core::SseDecoder;
/// let mut events = SseDecoder::new(1 << 20);
/// events.feed(b": hello\n\ndata: {\"text\":");
/// assert_eq!(events.next_event()?, None);
/// events.feed(b"\"Yes\"}\n\n");
/// assert_eq!(events.next_event()?.map(|event| event.data), Some("{\"text\":\"Yes\"}".into()));
/// # Ok::<(), kuhaku_core::Error>(())
/// ```
#[derive(Debug)]
pub struct SseDecoder {
    lines: LineDecoder,
    event: SseEvent,
    has_data: bool,
    first_line: bool,
    longest: usize,
}

impl SseDecoder {
    /// A decoder that refuses events of more than `longest` bytes.
    pub fn new(longest: usize) -> Self {
        Self {
            lines: LineDecoder::new(longest),
            event: SseEvent::default(),
            has_data: false,
            first_line: true,
            longest,
        }
    }

    /// Takes the next bytes of the stream. Take out the events that are complete between two calls:
    /// what is fed is kept until then.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.lines.feed(bytes);
    }

    /// The next complete event; `None` when more must be fed.
    ///
    /// # Errors
    /// [`ErrorKind::ResponseTooLarge`] when an event is too long. The stream is then of no use.
    pub fn next_event(&mut self) -> Result<Option<SseEvent>> {
        while let Some(line) = self.lines.next_line()? {
            let line = unmarked(line, &mut self.first_line);
            if line.is_empty() {
                let event = std::mem::take(&mut self.event);
                if std::mem::take(&mut self.has_data) {
                    return Ok(Some(event));
                }
                continue;
            }
            take_field(&mut self.event, &mut self.has_data, line);
            let held = self.event.data.len() + self.event.name.len();
            if held > self.longest {
                return Err(too_long(self.longest));
            }
        }
        Ok(None)
    }

    /// The event that the end of the stream cut, if there is one. The standard discards it; some
    /// services leave out the last blank line.
    pub fn finish(mut self) -> Option<SseEvent> {
        let rest = unmarked(self.lines.rest(), &mut self.first_line);
        take_field(&mut self.event, &mut self.has_data, rest);
        self.has_data.then_some(self.event)
    }
}

/// A line without the byte order mark that the first one may have.
fn unmarked<'a>(line: &'a [u8], first: &mut bool) -> &'a [u8] {
    let mark = if std::mem::take(first) { &b"\xef\xbb\xbf"[..] } else { b"" };
    line.strip_prefix(mark).unwrap_or(line)
}

fn take_field(event: &mut SseEvent, has_data: &mut bool, line: &[u8]) {
    let colon = line.iter().position(|byte| *byte == b':');
    let (name, value) = line.split_at(colon.unwrap_or(line.len()));
    let value = value.strip_prefix(b":").unwrap_or(value);
    let value = value.strip_prefix(b" ").unwrap_or(value);
    let text = || String::from_utf8_lossy(value);
    match name {
        b"data" => {
            if std::mem::replace(has_data, true) {
                event.data.push('\n');
            }
            event.data.push_str(&text());
        }
        b"event" => event.name = text().into_owned(),
        b"id" if !value.contains(&0) => event.id = Some(text().into_owned()),
        b"retry" if value.iter().all(u8::is_ascii_digit) => {
            event.retry = text().parse().ok().map(Duration::from_millis);
        }
        _ => {}
    }
}

fn too_long(longest: usize) -> Error {
    let wrong = format!("an event is longer than {longest} bytes");
    Error::new(ErrorKind::ResponseTooLarge, "read a streamed reply", wrong)
        .next("check that the address belongs to the service that you mean")
}
