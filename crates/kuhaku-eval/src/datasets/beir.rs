//! Folders in BEIR's layout.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::bad_line::BadLines;
use super::dataset::Dataset;
use super::lines::{Lines, each_line};
use super::trec::{Qrels, read_qrels};
use crate::case::{Case, Expected, Sample};
use crate::error::{Error, ErrorKind, Result, unreadable};

/// A folder with `corpus.jsonl`, `queries.jsonl` and `qrels/<split>.tsv`, each plain or `.gz`.
///
/// Documents and queries are JSON objects with `_id`, `text` and, for documents, perhaps `title`.
#[derive(Clone, Debug)]
pub struct BeirFolder {
    path: PathBuf,
}

/// A document of a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BeirDocument {
    /// Its id, as the judgements name it.
    pub id: String,
    /// Its title; empty when there is none.
    pub title: String,
    /// Its text.
    pub text: String,
}

impl BeirDocument {
    /// Title, line end and text; the text alone when there is no title.
    pub fn full_text(&self) -> String {
        if self.title.is_empty() {
            self.text.clone()
        } else {
            format!("{}\n{}", self.title, self.text)
        }
    }
}

impl BeirFolder {
    /// A folder; its files are read when they are asked for.
    ///
    /// # Errors
    /// [`ErrorKind::Unreadable`] when there is no `queries.jsonl` in it.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let folder = Self { path: path.into() };
        folder.file("queries.jsonl")?;
        Ok(folder)
    }

    /// The names of the splits, sorted.
    ///
    /// # Errors
    /// [`ErrorKind::Unreadable`] when the folder `qrels` cannot be listed.
    pub fn splits(&self) -> Result<Vec<String>> {
        let path = self.path.join("qrels");
        let failed = |source| unreadable(&path, source);
        let mut splits = Vec::new();
        for entry in fs::read_dir(&path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let name = name.to_string_lossy();
            let split = name.strip_suffix(".gz").unwrap_or(&name).strip_suffix(".tsv");
            splits.extend(split.map(str::to_owned));
        }
        splits.sort_unstable();
        splits.dedup();
        Ok(splits)
    }

    /// The documents one after another; none is kept.
    ///
    /// # Errors
    /// [`ErrorKind::Unreadable`] when the file cannot be opened; later ones come as items.
    pub fn corpus(&self) -> Result<BeirCorpus> {
        let path = self.file("corpus.jsonl")?;
        Ok(BeirCorpus { lines: Lines::open(&path)?, path, failed: false })
    }

    /// The judgements of a split.
    ///
    /// # Errors
    /// As [`read_qrels`]; [`ErrorKind::Unreadable`] when there is no such split.
    pub fn qrels(&self, split: &str) -> Result<Qrels> {
        if !self.splits()?.iter().any(|known| known == split) {
            let known = self.splits()?.join(", ");
            let tried = format!("read a split of {}", self.path.display());
            return Err(Error::new(ErrorKind::Unreadable, tried, "there is no split of that name")
                .next(format!("take one of: {known}")));
        }
        read_qrels(self.file(&format!("qrels/{split}.tsv"))?)
    }

    /// The queries that have judgements in a split, in the order of the file.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidDataset`] lists every bad line of the queries; else as
    /// [`qrels`](Self::qrels).
    pub fn dataset(&self, split: &str) -> Result<Dataset> {
        let mut qrels = self.qrels(split)?;
        let path = self.file("queries.jsonl")?;
        let mut cases = Vec::new();
        let mut seen = HashSet::new();
        let mut bad = BadLines::default();
        each_line(&path, |number, line| match line.map_err(str::to_owned).and_then(entry) {
            Ok((id, mut fields)) => {
                let Ok(text) = text(&mut fields, "text") else {
                    return bad.push(&path, number, "has a text that is no text");
                };
                if !seen.insert(id.clone()) {
                    return bad.push(&path, number, "has the _id of an earlier line");
                }
                let Some(grades) = qrels.remove(&id) else { return };
                let expected = Expected { grades: Some(grades), ..Expected::default() };
                cases.push(Case::new(Sample::new(id, text), expected));
            }
            Err(wrong) => bad.push(&path, number, wrong),
        })?;
        bad.check(format!("read the queries {}", path.display()))?;
        if !qrels.is_empty() {
            let wrong = format!("{} judged queries are not among the queries", qrels.len());
            let tried = format!("read the split {split} of {}", self.path.display());
            return Err(Error::new(ErrorKind::InvalidDataset, tried, wrong)
                .next("take queries and judgements of the same release"));
        }
        let folder = self.path.file_name().unwrap_or_default().to_string_lossy();
        Ok(Dataset::of_unique(format!("{folder}/{split}"), cases))
    }

    /// The file, or the same with `.gz`.
    fn file(&self, name: &str) -> Result<PathBuf> {
        let plain = self.path.join(name);
        let packed = self.path.join(format!("{name}.gz"));
        [&plain, &packed].into_iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
            let tried = format!("read {}", plain.display());
            Error::new(ErrorKind::Unreadable, tried, "there is no such file, plain or .gz")
                .next("name a folder in BEIR's layout: corpus.jsonl, queries.jsonl, qrels/*.tsv")
        })
    }
}

/// The documents of a corpus, read as they are asked for. A bad line is an error item, after which
/// reading goes on with the next line.
#[derive(Debug)]
pub struct BeirCorpus {
    lines: Lines,
    path: PathBuf,
    failed: bool,
}

impl Iterator for BeirCorpus {
    type Item = Result<BeirDocument>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.failed {
            let line = match self.lines.next_line() {
                Ok(line) => line?,
                Err(error) => {
                    self.failed = true;
                    return Some(Err(error));
                }
            };
            let found = match line.text {
                Some(text) if text.trim().is_empty() => continue,
                Some(text) => document(text),
                None => Err("is not UTF-8".to_owned()),
            };
            return Some(found.or_else(|wrong| bad_document(&self.path, line.number, wrong)));
        }
        None
    }
}

fn bad_document(path: &Path, line: usize, wrong: String) -> Result<BeirDocument> {
    let wrong = format!("line {line} {wrong}");
    let tried = format!("read the corpus {}", path.display());
    Err(Error::new(ErrorKind::InvalidDataset, tried, wrong).next("mend this line, or take it out"))
}

fn document(line: &str) -> Result<BeirDocument, String> {
    let (id, mut fields) = entry(line)?;
    let title = text(&mut fields, "title").unwrap_or_default();
    let text = text(&mut fields, "text").map_err(|()| "has a text that is no text")?;
    Ok(BeirDocument { id, title, text })
}

fn entry(line: &str) -> Result<(String, Map<String, Value>), String> {
    let value: Value = serde_json::from_str(line).map_err(|_| "is not JSON")?;
    let Value::Object(mut fields) = value else { return Err("is not a JSON object".into()) };
    match text(&mut fields, "_id") {
        Ok(id) if !id.is_empty() => Ok((id, fields)),
        Ok(_) => Err("lacks _id".into()),
        Err(()) => Err("has an _id that is no text".into()),
    }
}

/// A text, empty when the field is absent or null.
fn text(fields: &mut Map<String, Value>, name: &str) -> Result<String, ()> {
    match fields.remove(name) {
        Some(Value::String(text)) => Ok(text),
        None | Some(Value::Null) => Ok(String::new()),
        Some(_) => Err(()),
    }
}
