//! The files of trec_eval: judgements (qrels) and runs.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::bad_line::BadLines;
use super::lines::each_line;
use crate::error::Result;
use crate::measures::GradedRanking;

/// Judgements: for each query, grades by document.
pub type Qrels = BTreeMap<String, BTreeMap<String, i64>>;

/// Reads a qrels file, plain or `.gz`: query, a column that is ignored, document and grade,
/// separated by white space; or as BEIR writes them: query, document and grade separated by tabs
/// under a header.
///
/// # Errors
/// [`InvalidDataset`](crate::ErrorKind::InvalidDataset) lists every bad line: too few columns, a
/// grade that is no whole number, a pair that an earlier line has.
/// [`Unreadable`](crate::ErrorKind::Unreadable) when the file is.
pub fn read_qrels(path: impl AsRef<Path>) -> Result<Qrels> {
    let path = path.as_ref();
    let mut qrels = Qrels::new();
    let mut bad = BadLines::default();
    let mut first = true;
    each_line(path, |number, line| {
        let header = std::mem::take(&mut first);
        let line = match line {
            Ok(line) => line,
            Err(wrong) => return bad.push(path, number, wrong),
        };
        let columns: Vec<&str> = line.split_whitespace().collect();
        let (query, document, grade) = match columns.as_slice() {
            [query, document, grade] | [query, _, document, grade, ..] => (query, document, grade),
            _ => return bad.push(path, number, "has too few columns"),
        };
        match grade.parse() {
            Ok(grade) => {
                let judged = qrels.entry((*query).to_owned()).or_default();
                if judged.insert((*document).to_owned(), grade).is_some() {
                    bad.push(path, number, "judges a pair that an earlier line judged");
                }
            }
            Err(_) if header && *query == "query-id" => {}
            Err(_) => bad.push(path, number, "has a grade that is no whole number"),
        }
    })?;
    bad.check(format!("read the judgements {}", path.display()))?;
    Ok(qrels)
}

/// A run: what a system retrieved for each query, with scores. Ids of documents are held once, so
/// ten million hits fit in a few hundred megabytes.
///
/// The order of hits is trec_eval's: higher scores first, equal scores by document id, the id that
/// is greater byte by byte first; a NaN comes last. The rank column of a file is not read.
///
/// ```
/// use kuhaku_eval::TrecRun;
/// let mut run = TrecRun::default();
/// run.push("q1", "a", 1.0);
/// run.push("q1", "b", 1.0);
/// run.push("q1", "c", 2.0);
/// assert_eq!(run.ranking("q1").collect::<Vec<_>>(), ["c", "b", "a"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct TrecRun {
    documents: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
    queries: BTreeMap<String, Vec<Hit>>,
}

#[derive(Clone, Copy, Debug)]
struct Hit {
    document: u32,
    score: f64,
}

impl TrecRun {
    /// Reads a run file, plain or `.gz`: query, `Q0`, document, rank, score, name; more columns are
    /// ignored.
    ///
    /// # Errors
    /// [`InvalidDataset`](crate::ErrorKind::InvalidDataset) lists every bad line: too few columns, a
    /// score that is no number. [`Unreadable`](crate::ErrorKind::Unreadable) when the file is.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut run = Self::default();
        let mut bad = BadLines::default();
        each_line(path, |number, line| {
            let line = match line {
                Ok(line) => line,
                Err(wrong) => return bad.push(path, number, wrong),
            };
            let mut columns = line.split_whitespace();
            let found = (columns.next(), columns.nth(1), columns.nth(1));
            let (Some(query), Some(document), Some(score)) = found else {
                return bad.push(path, number, "has too few columns");
            };
            match score.parse::<f64>() {
                Ok(score) if !score.is_nan() => run.push(query, document, score),
                _ => bad.push(path, number, "has a score that is no number"),
            }
        })?;
        bad.check(format!("read the run {}", path.display()))?;
        Ok(run)
    }

    /// Adds a hit. Runs of more than 2^32 distinct documents are not kept.
    pub fn push(&mut self, query: &str, document: &str, score: f64) {
        let Some(document) = self.number(document) else { return };
        let hit = Hit { document, score };
        match self.queries.get_mut(query) {
            Some(hits) => hits.push(hit),
            None => {
                self.queries.insert(query.to_owned(), vec![hit]);
            }
        }
    }

    /// The queries, ordered by id.
    pub fn queries(&self) -> impl Iterator<Item = &str> {
        self.queries.keys().map(String::as_str)
    }

    /// The documents of a query, best first; none for a query that the run lacks.
    pub fn ranking(&self, query: &str) -> impl Iterator<Item = &str> {
        self.ranked(query).into_iter().map(|hit| self.id(hit.document))
    }

    /// The ranking of a query with its grades: [`GradedRanking::with_level`] of
    /// [`ranking`](Self::ranking), without comparing ids letter by letter.
    pub fn graded(
        &self,
        query: &str,
        judged: &BTreeMap<String, i64>,
        relevant_from: u64,
    ) -> GradedRanking {
        let mut hits: Vec<u32> = self.ranked(query).iter().map(|hit| hit.document).collect();
        let mut sorted = hits.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair.first() == pair.last()) {
            let mut seen = HashSet::new();
            hits.retain(|document| seen.insert(*document));
        }
        let number = |(id, grade): (&String, &i64)| Some((*self.numbers.get(id.as_str())?, *grade));
        let mut known: Vec<(u32, i64)> = judged.iter().filter_map(number).collect();
        known.sort_unstable();
        let grade = |document: u32| {
            let at = known.binary_search_by_key(&document, |(known, _)| *known).ok()?;
            known.get(at).map(|(_, grade)| *grade)
        };
        GradedRanking::of_grades(hits.into_iter().map(grade), judged, relevant_from)
    }

    fn ranked(&self, query: &str) -> Vec<Hit> {
        let mut hits = self.queries.get(query).cloned().unwrap_or_default();
        let order = |a: &Hit, b: &Hit| {
            by_score(b.score, a.score).then_with(|| self.id(b.document).cmp(self.id(a.document)))
        };
        // Most runs are written in order.
        if !hits.is_sorted_by(|a, b| order(a, b).is_le()) {
            hits.sort_unstable_by(order);
        }
        hits
    }

    fn number(&mut self, document: &str) -> Option<u32> {
        if let Some(number) = self.numbers.get(document) {
            return Some(*number);
        }
        let number = u32::try_from(self.documents.len()).ok()?;
        self.documents.push(document.into());
        self.numbers.insert(document.into(), number);
        Some(number)
    }

    fn id(&self, document: u32) -> &str {
        self.documents.get(document as usize).map_or("", |id| id)
    }
}

/// Numbers by value, NaN below all.
fn by_score(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}
