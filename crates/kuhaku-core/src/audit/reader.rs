//! Reading a log, for those who want to look at it. Nothing is verified here.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::Result;
use super::error::{AuditError, AuditErrorKind, unreadable};
use super::files::Files;
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
    /// Files still to come, the next one last.
    waiting: Vec<PathBuf>,
    open: Option<(Arc<Path>, Lines<BufReader<File>>)>,
}

impl AuditReader {
    /// Reads the log whose newest file is at `path`.
    ///
    /// # Errors
    /// [`AuditErrorKind::Read`] when its folder cannot be listed.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let files = Files::new(path.into());
        let rotated = files.all_rotated().map_err(|source| unreadable(TRIED, source))?;
        let mut waiting = vec![files.log().to_owned()];
        waiting.extend(rotated.into_iter().rev().map(|(_, path)| path));
        Ok(Self { waiting, open: None })
    }

    /// Opens the next file that is there; false when there is none.
    fn advance(&mut self) -> io::Result<bool> {
        while let Some(path) = self.waiting.pop() {
            match File::open(&path) {
                Ok(file) => {
                    self.open = Some((path.into(), Lines::new(BufReader::new(file))));
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn read(&mut self) -> io::Result<Option<Result<StoredRecord>>> {
        loop {
            if self.open.is_none() && !self.advance()? {
                return Ok(None);
            }
            let Some((file, lines)) = &mut self.open else { return Ok(None) };
            let Some(line) = lines.next_line()? else {
                self.open = None;
                continue;
            };
            let object = serde_json::from_slice(&line.bytes).ok().filter(Value::is_object);
            return Ok(Some(match object {
                Some(object) if !line.cut => {
                    Ok(StoredRecord { file: Arc::clone(file), line: line.number, object })
                }
                _ => Err(bad_line(line.number)),
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
    AuditError::new(
        AuditErrorKind::BadLine(number),
        TRIED,
        format!("line {number} is not a JSON object"),
    )
    .next("verify the log to see whether it was changed")
}
