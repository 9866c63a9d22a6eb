//! Lines of plain and of gzip files, one at a time.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::error::{Result, unreadable};

/// A line with its number, which starts at 1.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    /// Without line end; `None` when it is not UTF-8.
    pub(crate) text: Option<&'a str>,
}

/// Reads a file line by line; a name that ends in `.gz` is unpacked on the way.
pub(crate) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    number: usize,
    buffer: Vec<u8>,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").field("path", &self.path).field("number", &self.number).finish()
    }
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|source| unreadable(path, source))?;
        let reader: Box<dyn BufRead + Send> = if is_gzip(path) {
            Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(file))))
        } else {
            Box::new(BufReader::new(file))
        };
        Ok(Self { path: path.to_owned(), reader, number: 0, buffer: Vec::new() })
    }

    /// The next line; `None` at the end.
    pub(crate) fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        self.buffer.clear();
        let read = self.reader.read_until(b'\n', &mut self.buffer);
        if read.map_err(|source: io::Error| unreadable(&self.path, source))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let mut bytes = self.buffer.as_slice();
        bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if self.number == 1 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        Ok(Some(Line { number: self.number, text: std::str::from_utf8(bytes).ok() }))
    }
}

pub(crate) fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// Visits each line that is not blank.
pub(crate) fn each_line(
    path: &Path,
    mut visit: impl FnMut(usize, Result<&str, &'static str>),
) -> Result<()> {
    let mut lines = Lines::open(path)?;
    while let Some(line) = lines.next_line()? {
        match line.text {
            Some(text) if text.trim().is_empty() => {}
            Some(text) => visit(line.number, Ok(text)),
            None => visit(line.number, Err("is not UTF-8")),
        }
    }
    Ok(())
}
