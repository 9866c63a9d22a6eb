//! The file of a run: JSON lines, a header, a row per sample, a summary at the end.
//!
//! Rows are written in the order of the dataset, each in one call, so that a process that is killed
//! leaves whole rows and at most one that is cut.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::record::{RUN_VERSION, Row, Run, RunHeader};
use crate::error::{Error, ErrorKind, Result, unreadable, unwritable};
use crate::report::Summary;

#[derive(Serialize)]
struct FooterOut<'a> {
    summary: &'a Summary,
}

#[derive(Deserialize)]
struct Footer {
    summary: Summary,
}

/// A run file that is being written. It is locked against other writers until it is dropped.
#[derive(Debug)]
pub(super) struct RunFile {
    file: File,
    path: PathBuf,
}

impl RunFile {
    /// Starts a file.
    pub(super) fn create(path: &Path, header: &RunHeader) -> Result<Self> {
        let made = OpenOptions::new().write(true).create_new(true).open(path);
        let file = made.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => {
                Error::new(ErrorKind::RunExists, tried("write", path), "there is a run already")
                    .next("name another file, or resume this one")
            }
            _ => unwritable(path, source),
        })?;
        let mut file = Self { file, path: path.to_owned() };
        file.lock()?;
        file.line(header)?;
        Ok(file)
    }

    /// Goes on with a file, or starts one. Gives the rows that are there, and whether the summary
    /// stands below them.
    pub(super) fn resume(path: &Path, header: &RunHeader) -> Result<(Self, Vec<Row>, bool)> {
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let file = match opened {
            Ok(file) => file,
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                return Ok((Self::create(path, header)?, Vec::new(), false));
            }
            Err(source) => return Err(unwritable(path, source)),
        };
        let mut file = Self { file, path: path.to_owned() };
        file.lock()?;
        let content = Content::read(&file.file, path)?;
        let failed = |source| unwritable(path, source);
        file.file.set_len(content.length).map_err(failed)?;
        file.file.seek(SeekFrom::End(0)).map_err(failed)?;
        let Some(before) = content.header else {
            file.line(header)?;
            return Ok((file, Vec::new(), false));
        };
        let differences = before.differences(header);
        if !differences.is_empty() {
            let wrong = format!("it was run with another {}", differences.join(", "));
            return Err(Error::new(ErrorKind::Mismatch, tried("resume", path), wrong)
                .next("run as before, or write to another file"));
        }
        Ok((file, content.rows, content.summary.is_some()))
    }

    pub(super) fn row(&mut self, row: &Row) -> Result<()> {
        if let Some((name, _)) = row
            .scores
            .iter()
            .find(|(_, score)| score.value().is_some_and(|value| !value.is_finite()))
        {
            let wrong = format!("{name} is no finite number");
            return Err(Error::new(ErrorKind::InvalidInput, tried("write", &self.path), wrong)
                .next("give such a value as unmeasured"));
        }
        self.line(row)
    }

    pub(super) fn finish(&mut self, summary: &Summary) -> Result<()> {
        self.line(&FooterOut { summary })?;
        self.file.sync_all().map_err(|source| unwritable(&self.path, source))
    }

    fn lock(&mut self) -> Result<()> {
        match self.file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let wrong = "another process writes it";
                Err(Error::new(ErrorKind::RunLocked, tried("write", &self.path), wrong)
                    .next("wait for it to end, or name another file"))
            }
            // Where files cannot be locked, the rule is the caller's to keep.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        }
    }

    fn line(&mut self, line: &impl Serialize) -> Result<()> {
        let written = serde_json::to_vec(line).map_err(io::Error::from).and_then(|mut bytes| {
            bytes.push(b'\n');
            self.file.write_all(&bytes)
        });
        written.map_err(|source| unwritable(&self.path, source))
    }
}

impl Run {
    /// Reads the file of a run. One that was cut gives the rows it has.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRun`] when a line is not what was written, or of a newer version;
    /// [`ErrorKind::Unreadable`] when the file is.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|source| unreadable(path, source))?;
        let content = Content::read(&file, path)?;
        match content.header {
            Some(header) => Ok(Self { header, rows: content.rows }),
            None => Err(invalid(path, "it has no header")),
        }
    }
}

#[derive(Default)]
struct Content {
    header: Option<RunHeader>,
    rows: Vec<Row>,
    summary: Option<Summary>,
    /// In bytes, without a last line that is cut.
    length: u64,
}

impl Content {
    fn read(file: &File, path: &Path) -> Result<Self> {
        let mut reader = BufReader::new(file);
        let mut content = Self::default();
        let mut line = Vec::new();
        for number in 1_usize.. {
            line.clear();
            let read = reader.read_until(b'\n', &mut line);
            let length = read.map_err(|source| unreadable(path, source))? as u64;
            if line.last() != Some(&b'\n') {
                break;
            }
            content.take(&line, path, number)?;
            content.length += length;
        }
        Ok(content)
    }

    fn take(&mut self, line: &[u8], path: &Path, number: usize) -> Result<()> {
        let not_ours = || invalid(path, format!("line {number} is not what a run has there"));
        let Some(header) = &self.header else {
            let header: RunHeader = serde_json::from_slice(line).map_err(|_| not_ours())?;
            if header.version > RUN_VERSION {
                return Err(invalid(path, "it was written by a newer version"));
            }
            self.header = Some(header);
            return Ok(());
        };
        if self.summary.is_some() || self.rows.len() > header.cases {
            return Err(not_ours());
        }
        match serde_json::from_slice::<Row>(line) {
            Ok(row) => self.rows.push(row),
            Err(_) => {
                let footer: Footer = serde_json::from_slice(line).map_err(|_| not_ours())?;
                self.summary = Some(footer.summary);
            }
        }
        Ok(())
    }
}

fn tried(what: &str, path: &Path) -> String {
    format!("{what} the run {}", path.display())
}

fn invalid(path: &Path, wrong: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidRun, tried("read", path), wrong.into())
        .next("name a file that an evaluation wrote, unchanged")
}
