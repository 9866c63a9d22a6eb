//! Bytes into lines, whatever the pieces in which they come.

use crate::error::{Error, ErrorKind, Result};

/// Cuts a stream of bytes into lines, as in newline-delimited JSON and server-sent events.
///
/// It does no I/O: feed it what comes, take what is there. Lines end with LF, CR or CRLF. They are
/// bytes, so that a character which two pieces share is whole when its line is.
///
/// ```
/// use kuhaku_core::LineDecoder;
/// let mut lines = LineDecoder::new(1024);
/// lines.feed(b"{\"a\":1}\r");
/// lines.feed(b"\n{\"b\"");
/// assert_eq!(lines.next_line()?, Some(&b"{\"a\":1}"[..]));
/// assert_eq!(lines.next_line()?, None);
/// lines.feed(b":2}");
/// assert_eq!(lines.next_line()?, None);
/// assert_eq!(lines.rest(), b"{\"b\":2}");
/// # Ok::<(), kuhaku_core::Error>(())
/// ```
#[derive(Debug)]
pub struct LineDecoder {
    buffer: Vec<u8>,
    /// Where the current line begins.
    start: usize,
    /// Everything before is known to hold no end of the current line.
    scanned: usize,
    /// The last line ended with CR, so an LF that comes next belongs to that end.
    after_cr: bool,
    longest: usize,
}

impl LineDecoder {
    /// A decoder that refuses lines of more than `longest` bytes.
    pub fn new(longest: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, scanned: 0, after_cr: false, longest }
    }

    /// Takes the next bytes of the stream. Take out the lines that are complete between two calls:
    /// what is fed is kept until then.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
        } else {
            self.buffer.drain(..self.start);
        }
        self.scanned -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete line without its end; `None` when more must be fed. It may be empty.
    ///
    /// # Errors
    /// [`ErrorKind::ResponseTooLarge`] when a line is too long.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>> {
        if self.after_cr && self.start < self.buffer.len() {
            self.after_cr = false;
            if self.buffer.get(self.start) == Some(&b'\n') {
                self.start += 1;
            }
        }
        self.scanned = self.scanned.max(self.start);
        let fresh = self.buffer.get(self.scanned..).unwrap_or_default();
        let found = fresh.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let end = self.scanned + found.unwrap_or(fresh.len());
        if end - self.start > self.longest {
            return Err(too_long(self.longest));
        }
        self.scanned = end;
        if found.is_none() {
            return Ok(None);
        }
        self.after_cr = self.buffer.get(end) == Some(&b'\r');
        let line = self.start..end;
        self.start = end + 1;
        self.scanned = self.start;
        Ok(self.buffer.get(line))
    }

    /// What was fed and belongs to no complete line. At the end of a stream it is the last line, if
    /// that has no end, and else empty.
    pub fn rest(&self) -> &[u8] {
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        match rest.strip_prefix(b"\n") {
            Some(rest) if self.after_cr => rest,
            _ => rest,
        }
    }
}

fn too_long(longest: usize) -> Error {
    let wrong = format!("a line is longer than {longest} bytes");
    Error::new(ErrorKind::ResponseTooLarge, "read a streamed reply", wrong)
        .next("check that the address belongs to the service that you mean")
}
