//! Reading a log, for those who want to look at it. Nothing is verified here.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Take};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::Result;
use super::error::{AuditError, AuditErrorKind, unreadable};
use super::files::{Files, Stock, open_if_there};
use super::lines::Lines;

const TRIED: &str = "read the audit log";

/// One line of a log: any JSON object.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRecord {
    file: Arc<Path>,
    line: u64,
    object: Value,
}

impl StoredRecord {
    /// Reads a line, without its line end, that stands at `number` of `file`.
    ///
    /// # Errors
    /// [`AuditErrorKind::BadLine`] when it is no JSON object.
    pub fn read(file: &Arc<Path>, number: u64, line: &[u8]) -> Result<Self> {
        match serde_json::from_slice(line).ok().filter(Value::is_object) {
            Some(object) => Ok(Self { file: Arc::clone(file), line: number, object }),
            None => Err(bad_line(number)),
        }
    }

    /// The file that it stands in.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Its line there, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The whole object.
    pub fn object(&self) -> &Value {
        &self.object
    }

    /// A text of the object by its key, for example `outcome`.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.object.get(key)?.as_str()
    }
}

/// Reads the records of a log one by one, oldest first, rotated files included.
///
/// A line that is no JSON object is an error item of kind [`AuditErrorKind::BadLine`], and reading
/// goes on behind it. A log that is not there has no records.
#[derive(Debug)]
pub struct AuditReader {
    /// Rotated files still to come, the next one last.
    rotated: Vec<PathBuf>,
    /// The newest file, until its turn.
    newest: Option<Open>,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    path: Arc<Path>,
    lines: Lines<BufReader<Take<File>>>,
}

impl Open {
    fn new(path: &Path, file: File, length: u64) -> Self {
        Self { path: path.into(), lines: Lines::new(BufReader::new(file.take(length))) }
    }
}

impl AuditReader {
    /// Reads the log whose newest file is at `path`. Records that come later are not shown.
    ///
    /// # Errors
    /// [`AuditErrorKind::Read`] when its files cannot be listed or opened.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let files = Files::new(path.into());
        let stock = files.lock_to_read().and_then(|_still| files.stock());
        let Stock { rotated, newest } = stock.map_err(|source| unreadable(TRIED, source))?;
        let newest = newest.map(|(file, length)| Open::new(files.log(), file, length));
        let rotated = rotated.into_iter().rev().map(|(_, path)| path).collect();
        Ok(Self { rotated, newest, open: None })
    }

    /// Goes on to the next file; one that retention has removed meanwhile is passed over.
    fn advance(&mut self) -> io::Result<()> {
        while let Some(path) = self.rotated.pop() {
            if let Some(file) = open_if_there(&path)? {
                self.open = Some(Open::new(&path, file, u64::MAX));
                return Ok(());
            }
        }
        self.open = self.newest.take();
        Ok(())
    }

    fn read(&mut self) -> io::Result<Option<Result<StoredRecord>>> {
        loop {
            if self.open.is_none() {
                self.advance()?;
            }
            let Some(Open { path, lines }) = &mut self.open else { return Ok(None) };
            let Some(line) = lines.next_line()? else {
                self.open = None;
                continue;
            };
            return Ok(Some(match line.cut {
                true => Err(bad_line(line.number)),
                false => StoredRecord::read(path, line.number, &line.bytes),
            }));
        }
    }
}

impl Iterator for AuditReader {
    type Item = Result<StoredRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().unwrap_or_else(|source| {
            // The file that failed is given up; the next ones may be readable.
            self.open = None;
            Some(Err(unreadable(TRIED, source)))
        })
    }
}

fn bad_line(number: u64) -> AuditError {
    AuditError::new(AuditErrorKind::BadLine, TRIED, format!("line {number} is not a JSON object"))
        .next("verify the log to see whether it was changed")
}
