//! The labelled rows and their halves.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::inflated;
use crate::error::{Result, cannot};

/// The seed of the split.
pub(super) const SEED: u64 = 4;

/// A text with the values that stand in it.
pub(super) struct Row {
    /// What must not be parted: a template, or a recogniser and its case.
    pub(super) group: String,
    pub(super) key: String,
    pub(super) text: String,
    /// Bytes and entity type.
    pub(super) values: Vec<(Range<usize>, String)>,
    /// What the row tests.
    pub(super) about: BTreeSet<String>,
}

/// The half that rules are tuned on, and the half that is kept from it.
#[derive(Default)]
pub(super) struct Halves {
    pub(super) tuning: Vec<Row>,
    pub(super) kept: Vec<Row>,
}

impl Halves {
    /// Sentences are split by template, cases within each recogniser.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut halves = Self::default();
        halves.add(sentences(&folder.join("synthetic_sentences.jsonl.gz"))?, true);
        halves.add(cases(&folder.join("presidio_recognizer_cases.jsonl.gz"))?, false);
        Ok(halves)
    }

    /// Keeps the second half by a hash, of all groups (templates) or of the rows of each group (cases of
    /// a recogniser).
    fn add(&mut self, rows: Vec<Row>, whole_groups: bool) {
        let mut groups: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        for row in rows {
            groups.entry(row.group.clone()).or_default().push(row);
        }
        if whole_groups {
            let mut groups: Vec<(String, Vec<Row>)> = groups.into_iter().collect();
            groups.sort_by_key(|(group, _)| order(group));
            let kept = groups.split_off(groups.len() / 2);
            self.tuning.extend(groups.into_iter().flat_map(|(_, rows)| rows));
            self.kept.extend(kept.into_iter().flat_map(|(_, rows)| rows));
            return;
        }
        for mut rows in groups.into_values() {
            rows.sort_by_cached_key(|row| (order(&row.key), row.key.clone()));
            self.kept.extend(rows.split_off(rows.len() / 2));
            self.tuning.extend(rows);
        }
    }
}

/// FNV-1a of the seed and the key, finished as MurmurHash3 is, so that similar keys lie apart.
fn order(key: &str) -> u64 {
    let hash = format!("{SEED}:{key}").bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[derive(Deserialize)]
struct Sentence {
    template_id: Value,
    text: String,
    spans: Vec<SentenceSpan>,
}

#[derive(Deserialize)]
struct SentenceSpan {
    start: usize,
    end: usize,
    entity: String,
}

fn sentences(path: &Path) -> Result<Vec<Row>> {
    let read = |sentence: Sentence| {
        let group = sentence.template_id.as_str().map(String::from);
        let group = group.unwrap_or_else(|| sentence.template_id.to_string());
        let spans = sentence.spans.into_iter();
        let values: Vec<_> =
            spans.map(|span| (bytes(&sentence.text, span.start, span.end), span.entity)).collect();
        let about = values.iter().map(|(_, entity)| entity.clone()).collect();
        Row { key: group.clone(), group, text: sentence.text, values, about }
    };
    Ok(lines(path)?.into_iter().map(read).collect())
}

#[derive(Deserialize)]
struct Case {
    id: String,
    entities: Vec<String>,
    text: String,
    spans: Vec<(usize, usize)>,
}

/// A case of several types does not say which value is of which: they count under the joined names. One
/// that names none is about what its recogniser is named after.
fn cases(path: &Path) -> Result<Vec<Row>> {
    let read = |case: Case| {
        let group = case.id.split(':').next().unwrap_or_default().to_string();
        let entity = match case.entities.as_slice() {
            [] if group == "phone_recognizer" => "PHONE_NUMBER".into(),
            [] => "unnamed".into(),
            entities => entities.join("+"),
        };
        let spans = case.spans.into_iter();
        let values = spans.map(|(start, end)| (bytes(&case.text, start, end), entity.clone()));
        let values = values.collect();
        Row { group, key: case.id, values, text: case.text, about: BTreeSet::from([entity]) }
    };
    Ok(lines(path)?.into_iter().map(read).collect())
}

/// The bytes of a range of characters.
fn bytes(text: &str, start: usize, end: usize) -> Range<usize> {
    let at = |place| text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
    at(start)..at(end)
}

fn lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>> {
    let text = String::from_utf8_lossy(&inflated(path)?).into_owned();
    let read = |line: &str| {
        serde_json::from_str(line)
            .map_err(|error| cannot(format!("read {}", path.display()), error))
    };
    text.lines().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_half_is_half_of_each_recogniser_and_whole_templates() {
        let row = |group: &str, key: String| Row {
            group: group.into(),
            key,
            text: String::new(),
            values: Vec::new(),
            about: BTreeSet::new(),
        };
        let rows = || (0..20).map(|n| row(&format!("t{}", n / 5), format!("k{n}"))).collect();
        let groups = |rows: &[Row]| -> BTreeSet<String> {
            rows.iter().map(|row| row.group.clone()).collect()
        };
        let mut templates = Halves::default();
        templates.add(rows(), true);
        assert_eq!((templates.tuning.len(), templates.kept.len()), (10, 10));
        assert!(groups(&templates.tuning).is_disjoint(&groups(&templates.kept)));
        let mut cases = Halves::default();
        cases.add(rows(), false);
        assert_eq!((cases.tuning.len(), cases.kept.len()), (8, 12));
        assert_eq!((groups(&cases.tuning).len(), groups(&cases.kept).len()), (4, 4));
    }
}
