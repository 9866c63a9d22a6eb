//! What is wrong with the lines of a dataset: all of them, each by its number.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};

/// A line that cannot be used. It tells where and what, never what the line holds (R7).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadLine {
    /// The file.
    pub file: PathBuf,
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong; completes "line 3 …".
    pub wrong: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.file_name().unwrap_or(self.file.as_os_str());
        write!(f, "{} line {} {}", file.display(), self.line, self.wrong)
    }
}

/// Collects the bad lines of a dataset's files.
#[derive(Debug, Default)]
pub(crate) struct BadLines(Vec<BadLine>);

impl BadLines {
    pub(crate) fn push(&mut self, file: &Path, line: usize, wrong: impl Into<String>) {
        self.0.push(BadLine { file: file.to_owned(), line, wrong: wrong.into() });
    }

    pub(crate) fn into_list(self) -> Vec<BadLine> {
        self.0
    }

    /// An error that lists every bad line, if there is one.
    pub(crate) fn check(self, tried: impl Into<String>) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let listed: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        let wrong = match listed.len() {
            1 => listed.concat(),
            count => format!("{count} lines are wrong: {}", listed.join("; ")),
        };
        Err(Error::new(ErrorKind::InvalidDataset, tried.into(), wrong)
            .next("mend these lines, or take them out"))
    }
}
