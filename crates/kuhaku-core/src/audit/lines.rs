//! Lines of a log, one at a time and of bounded length.

use std::io::{self, BufRead, ErrorKind};

/// The longest line that is kept whole, in bytes. Records stay far below.
pub(super) const MAX_LINE: usize = 4 * 1024 * 1024;

/// One line without its line end.
#[derive(Debug)]
pub(super) struct Line {
    /// Its number in the file, from 1.
    pub(super) number: u64,
    /// Where it begins in the file, in bytes.
    pub(super) offset: u64,
    /// Its bytes, up to [`MAX_LINE`].
    pub(super) bytes: Vec<u8>,
    /// Whether it was longer than that.
    pub(super) cut: bool,
    /// Whether a line end closes it.
    pub(super) closed: bool,
}

/// Reads lines from where `source` stands.
#[derive(Debug)]
pub(super) struct Lines<R> {
    source: R,
    number: u64,
    offset: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, number: 0, offset: 0 }
    }

    /// The next line; `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line>> {
        let mut line = Line {
            number: self.number + 1,
            offset: self.offset,
            bytes: Vec::new(),
            cut: false,
            closed: false,
        };
        while !line.closed {
            let buffer = match self.source.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break;
            }
            let mut parts = buffer.splitn(2, |byte| *byte == b'\n');
            let content = parts.next().unwrap_or_default();
            line.closed = parts.next().is_some();
            let room = MAX_LINE.saturating_sub(line.bytes.len());
            line.cut |= content.len() > room;
            line.bytes.extend(content.iter().take(room));
            let used = content.len() + usize::from(line.closed);
            self.source.consume(used);
            self.offset += used as u64;
        }
        if self.offset == line.offset {
            return Ok(None);
        }
        self.number = line.number;
        Ok(Some(line))
    }
}
