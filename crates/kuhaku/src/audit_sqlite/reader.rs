//! Reading a log, for those who want to look at it. Nothing is verified here.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kuhaku_core::{AuditErrorKind, StoredRecord};
use sqlx::SqliteConnection;

use super::Result;
use super::connection::to_read;
use super::failure::storage;
use super::rows::{self, Pages, Row, number};
use super::waiting::wait;

const TRIED: &str = "read the audit log";

/// Reads the records of a log one by one, oldest first; each has the number of its row as its line's.
///
/// A row that holds no JSON object is an error item of kind [`AuditErrorKind::BadLine`], and reading
/// goes on behind it. A log that is not there has no records.
#[derive(Debug)]
pub struct SqliteAuditReader {
    path: Arc<Path>,
    connection: Option<SqliteConnection>,
    pages: Pages,
    page: VecDeque<Row>,
}

impl SqliteAuditReader {
    /// Reads the log at `path`. Records that come later are not shown.
    ///
    /// # Errors
    /// [`AuditErrorKind::Read`] when the file cannot be read, or is no audit.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path: PathBuf = path.into();
        wait(async {
            let mut connection = to_read(&path, TRIED).await?;
            let last = match &mut connection {
                Some(connection) => rows::last(connection).await,
                None => Ok(0),
            };
            let last = last.map_err(|source| storage(AuditErrorKind::Read, TRIED, source))?;
            let pages = Pages::through(last);
            Ok(Self { path: path.into(), connection, pages, page: VecDeque::new() })
        })
    }
}

impl Iterator for SqliteAuditReader {
    type Item = Result<StoredRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty() {
            let connection = self.connection.as_mut()?;
            match wait(self.pages.next(connection)) {
                Ok(page) => self.page = page.into(),
                Err(source) => {
                    self.connection = None;
                    return Some(Err(storage(AuditErrorKind::Read, TRIED, source)));
                }
            }
        }
        let (row, line) = self.page.pop_front()?;
        Some(StoredRecord::read(&self.path, number(row), &line))
    }
}
