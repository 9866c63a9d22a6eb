//! Golden sets: a question per line, as JSON.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use serde_json::{Map, Value};

use super::bad_line::{BadLine, BadLines};
use super::dataset::Dataset;
use super::lines::each_line;
use crate::case::{Case, Expected, Sample};
use crate::error::Result;

/// A dataset, and what its reader noticed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Loaded {
    /// The cases.
    pub dataset: Dataset,
    /// Lines that lack an optional field and got its default: nothing is measured by it there.
    pub warnings: Vec<BadLine>,
}

/// The optional fields that sets are expected to have.
const USUAL: [&str; 4] = ["expected_sources", "golden_chunks", "golden_answer", "category"];

impl Dataset {
    /// Reads a golden set: JSON lines, plain or `.gz`; blank lines are skipped and unknown fields
    /// ignored.
    ///
    /// | field | | becomes |
    /// |---|---|---|
    /// | `question_id`, `question` | text, required | the [`Sample`] |
    /// | `expected_sources` | texts | grade 1 each in [`Expected::grades`]; `[]` says that nothing is relevant |
    /// | `golden_chunks` | texts | [`Expected::chunks`] |
    /// | `golden_answer` | text | [`Expected::answer`]; `""` counts as absent |
    /// | `category` | text or null | [`Case::category`] |
    /// | `history` | texts | [`Sample::history`] |
    /// | `grades` | whole numbers by id | [`Expected::grades`], before `expected_sources` |
    /// | `expected_object` | any | [`Expected::object`] |
    /// | `answerable` | truth value | [`Expected::answerable`] |
    ///
    /// # Errors
    /// [`InvalidDataset`](crate::ErrorKind::InvalidDataset) lists every bad line: no JSON object, a
    /// required field missing, a field of another type (null included, but for `category`), an id
    /// that an earlier line has. [`Unreadable`](crate::ErrorKind::Unreadable) when the file is.
    pub fn golden(path: impl AsRef<Path>) -> Result<Loaded> {
        let path = path.as_ref();
        let mut cases = Vec::new();
        let mut seen = HashSet::new();
        let (mut bad, mut warnings) = (BadLines::default(), BadLines::default());
        each_line(path, |number, line| match line.map_err(str::to_owned).and_then(golden_case) {
            Ok((case, missing)) => {
                if !seen.insert(case.sample.id.clone()) {
                    bad.push(path, number, "has the question_id of an earlier line");
                }
                if !missing.is_empty() {
                    warnings.push(path, number, format!("lacks {}", missing.join(", ")));
                }
                cases.push(case);
            }
            Err(wrong) => bad.push(path, number, wrong),
        })?;
        bad.check(format!("read the golden set {}", path.display()))?;
        let dataset = Self::of_unique(stem(path), cases);
        Ok(Loaded { dataset, warnings: warnings.into_list() })
    }
}

/// The file's name up to its first dot.
pub(super) fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

fn golden_case(line: &str) -> Result<(Case, Vec<&'static str>), String> {
    let value: Value = serde_json::from_str(line).map_err(|_| "is not JSON")?;
    let Value::Object(mut fields) = value else { return Err("is not a JSON object".into()) };
    let missing = USUAL.into_iter().filter(|name| !fields.contains_key(*name)).collect();
    let id = text(&mut fields, "question_id")?.ok_or("lacks question_id")?;
    let question = text(&mut fields, "question")?.ok_or("lacks question")?;
    let sources = texts(&mut fields, "expected_sources")?;
    let of_sources = sources.map(|ids| ids.into_iter().map(|id| (id, 1)).collect());
    let history = texts(&mut fields, "history")?.unwrap_or_default();
    let expected = Expected {
        grades: grades(&mut fields)?.or(of_sources),
        chunks: texts(&mut fields, "golden_chunks")?,
        answer: text(&mut fields, "golden_answer")?.filter(|answer| !answer.is_empty()),
        answerable: match fields.remove("answerable") {
            None => None,
            Some(Value::Bool(answerable)) => Some(answerable),
            Some(_) => return Err("has an answerable that is neither true nor false".into()),
        },
        object: fields.remove("expected_object"),
    };
    if matches!(fields.get("category"), Some(Value::Null)) {
        fields.remove("category");
    }
    let category = text(&mut fields, "category")?;
    let sample = Sample::new(id, question).history(history);
    Ok((Case { sample, expected, category }, missing))
}

fn text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.remove(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("has a {name} that is no text")),
    }
}

fn texts(fields: &mut Map<String, Value>, name: &str) -> Result<Option<Vec<String>>, String> {
    let wrong = || format!("has a {name} that is no list of texts");
    let items = match fields.remove(name) {
        None => return Ok(None),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(wrong()),
    };
    let texts = items.into_iter().map(|item| match item {
        Value::String(text) => Ok(text),
        _ => Err(wrong()),
    });
    texts.collect::<Result<_, _>>().map(Some)
}

fn grades(fields: &mut Map<String, Value>) -> Result<Option<BTreeMap<String, i64>>, String> {
    let wrong = "has grades that are no whole numbers by id";
    let items = match fields.remove("grades") {
        None => return Ok(None),
        Some(Value::Object(items)) => items,
        Some(_) => return Err(wrong.into()),
    };
    let grades = items.into_iter().map(|(id, grade)| Some((id, grade.as_i64()?)));
    grades.collect::<Option<_>>().ok_or_else(|| wrong.into()).map(Some)
}
