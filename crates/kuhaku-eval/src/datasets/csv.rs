//! Sets from a spreadsheet: CSV with a header line.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::bad_line::BadLines;
use super::csv_record::{Record, records};
use super::dataset::Dataset;
use super::golden::stem;
use crate::case::{Case, Expected, Sample};
use crate::error::{Result, unreadable};

impl Dataset {
    /// Reads CSV (RFC 4180: commas, fields in double quotes may hold commas and line ends). The
    /// first record names the columns, in any order and case; others are ignored.
    ///
    /// | column | | becomes |
    /// |---|---|---|
    /// | `question` | required | the query |
    /// | `expected`, `golden_answer` or `answer` | | [`Expected::answer`] |
    /// | `expected_sources` | ids separated by `;` | grade 1 each in [`Expected::grades`] |
    /// | `question_id` or `id` | | the id; without the column, `1`, `2`, … in order |
    /// | `category` | | [`Case::category`] |
    ///
    /// An empty field counts as absent.
    ///
    /// # Errors
    /// [`InvalidDataset`](crate::ErrorKind::InvalidDataset) lists every bad line (by the number of
    /// the line on which the record starts): another number of fields than the header, no question,
    /// an id that is missing or repeated, a quote that is not closed.
    /// [`Unreadable`](crate::ErrorKind::Unreadable) when the file is.
    pub fn csv(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|source| unreadable(path, source))?;
        let tried = format!("read the table {}", path.display());
        let mut bad = BadLines::default();
        let Ok(text) = std::str::from_utf8(&bytes) else {
            let upto = std::str::from_utf8(&bytes).err().map_or(0, |error| error.valid_up_to());
            let before = bytes.get(..upto).unwrap_or_default();
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            bad.push(path, line, "is not UTF-8");
            bad.check(tried)?;
            return Ok(Self::default());
        };
        let mut records = records(text.strip_prefix('\u{feff}').unwrap_or(text)).into_iter();
        let columns = records.next().map(|header| Columns::of(&header.fields)).unwrap_or_default();
        if columns.question.is_none() {
            bad.push(path, 1, "names no column question");
        }
        let mut cases = Vec::new();
        let mut seen = HashSet::new();
        for record in records.filter(|_| columns.question.is_some()) {
            match columns.case(&record, cases.len() + 1) {
                Ok(case) => {
                    if !seen.insert(case.sample.id.clone()) {
                        bad.push(path, record.line, "has the id of an earlier line");
                    }
                    cases.push(case);
                }
                Err(wrong) => bad.push(path, record.line, wrong),
            }
        }
        bad.check(tried)?;
        Ok(Self::of_unique(stem(path), cases))
    }
}

#[derive(Default)]
struct Columns {
    count: usize,
    question: Option<usize>,
    answer: Option<usize>,
    sources: Option<usize>,
    id: Option<usize>,
    category: Option<usize>,
}

impl Columns {
    fn of(header: &[String]) -> Self {
        let at = |names: &[&str]| {
            let is_named = |field: &String| names.contains(&field.trim().to_lowercase().as_str());
            header.iter().position(is_named)
        };
        Self {
            count: header.len(),
            question: at(&["question"]),
            answer: at(&["golden_answer", "expected", "answer"]),
            sources: at(&["expected_sources"]),
            id: at(&["question_id", "id"]),
            category: at(&["category"]),
        }
    }

    fn case(&self, record: &Record, position: usize) -> Result<Case, String> {
        if record.unclosed {
            return Err("opens a quote that is never closed".into());
        }
        if record.fields.len() != self.count {
            let (found, wanted) = (record.fields.len(), self.count);
            return Err(format!("has {found} fields where the header has {wanted}"));
        }
        let field = |at: Option<usize>| {
            let field = at.and_then(|at| record.fields.get(at)).map(|field| field.trim());
            field.filter(|field| !field.is_empty())
        };
        let question = field(self.question).ok_or("has no question")?;
        let id = match (self.id, field(self.id)) {
            (_, Some(id)) => id.to_owned(),
            (None, None) => position.to_string(),
            (Some(_), None) => return Err("has no id".into()),
        };
        let ids = |sources: &str| {
            let ids = sources.split(';').map(str::trim).filter(|id| !id.is_empty());
            ids.map(|id| (id.to_owned(), 1)).collect()
        };
        let expected = Expected {
            answer: field(self.answer).map(str::to_owned),
            grades: field(self.sources).map(ids),
            ..Expected::default()
        };
        let category = field(self.category).map(str::to_owned);
        Ok(Case { sample: Sample::new(id, question), expected, category })
    }
}
