//! Attacks and benign look-alikes, and their two parts.
//!
//! The trained stage of the guard, its thresholds and its rules are made on the training part; the suite
//! shows the other one. The parts share no attack and no carrier (D41): equal and nearly equal texts
//! go to the same part, and what is composed of an attack and a carrier belongs to a part only when both
//! do.

mod groups;

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::inflated;
use crate::error::{Result, cannot};

pub(crate) use groups::{folded, order};

/// The seed of the split.
pub(crate) const SEED: u64 = 10;

/// The files that hold rows.
const FILES: [&str; 8] = [
    "notinject.jsonl",
    "deepset_prompt_injections_lower.jsonl",
    "bipia_attacks.jsonl",
    "bipia_contexts.jsonl.gz",
    "bipia_email_composed.jsonl",
    "agentdojo_tasks.jsonl",
    "garak_multilingual.jsonl",
    "garak_prompts.jsonl",
];

/// One half of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Train,
    Test,
}

/// A text to judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: String,
    /// The file, without its ending.
    pub(crate) source: &'static str,
    pub(crate) attack: bool,
    pub(crate) text: String,
    /// Bytes of the attack, where it stands inside something else.
    pub(crate) span: Option<Range<usize>>,
    /// What the file says the row is about: a category, a language, a kind of document.
    pub(crate) about: String,
    /// Rows of one group are nearly the same text.
    pub(crate) group: String,
}

/// The rows in two parts.
#[derive(Debug, Default)]
pub(crate) struct Split {
    pub(crate) train: Vec<Row>,
    pub(crate) test: Vec<Row>,
    /// Composed rows whose attack is in one part and whose carrier in the other.
    pub(crate) dropped: usize,
}

#[derive(Deserialize)]
struct TemplateLine {
    id: String,
    template: String,
}

impl Split {
    /// Reads the files of a folder that are there.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let mut rows = Vec::new();
        for file in FILES {
            let path = folder.join(file);
            if path.is_file() {
                let source = file.split('.').next().unwrap_or(file);
                for line in lines::<Value>(&path)? {
                    let wrong = || cannot(format!("read {file}"), "a line lacks id, label or text");
                    rows.push(row(source, &line).ok_or_else(wrong)?);
                }
            }
        }
        let mut split = Self::new(rows, SEED);
        let templates = folder.join("agentdojo_attack_templates.jsonl");
        if templates.is_file() {
            split.fill(&lines::<TemplateLine>(&templates)?, SEED);
        }
        Ok(split)
    }

    fn new(mut rows: Vec<Row>, seed: u64) -> Self {
        let whole: Vec<String> =
            rows.iter().filter(|row| row.span.is_none()).map(|row| folded(&row.text)).collect();
        let names = groups::groups(&whole);
        let group_of: HashMap<&String, &String> = whole.iter().zip(&names).collect();
        let group = |text: &str| {
            let text = folded(text);
            group_of.get(&text).map_or_else(|| text.clone(), |group| (*group).clone())
        };
        let mut split = Self::default();
        for row in &mut rows {
            let (attack, carrier) = row.parts();
            row.group = group(&attack);
            let part = part_of(seed, &row.group);
            if carrier.is_some_and(|carrier| part_of(seed, &group(&carrier)) != part) {
                split.dropped += 1;
                continue;
            }
            split.of_mut(part).push(row.clone());
        }
        split
    }

    /// The goals of AgentDojo in its templates, which are split too.
    fn fill(&mut self, templates: &[TemplateLine], seed: u64) {
        for part in [Part::Train, Part::Test] {
            let ours = templates.iter().filter(|template| part_of(seed, &template.id) == part);
            let filled: Vec<Row> = ours
                .flat_map(|template| {
                    let goals = self.of(part).iter().filter(|row| row.about == "injection_goal");
                    goals.map(|goal| filled(template, goal)).collect::<Vec<_>>()
                })
                .collect();
            self.of_mut(part).extend(filled);
        }
    }

    pub(crate) fn of(&self, part: Part) -> &[Row] {
        match part {
            Part::Train => &self.train,
            Part::Test => &self.test,
        }
    }

    fn of_mut(&mut self, part: Part) -> &mut Vec<Row> {
        match part {
            Part::Train => &mut self.train,
            Part::Test => &mut self.test,
        }
    }
}

/// The part that a group belongs to.
pub(crate) fn part_of(seed: u64, group: &str) -> Part {
    if order(seed, group).is_multiple_of(2) { Part::Train } else { Part::Test }
}

fn filled(template: &TemplateLine, goal: &Row) -> Row {
    let text =
        template.template.replace("{user}", "Emma Johnson").replace("{model}", "AI assistant");
    Row {
        id: format!("{}-{}", template.id, goal.id),
        source: "agentdojo_filled",
        text: text.replace("{goal}", &goal.text),
        about: template.id.clone(),
        ..goal.clone()
    }
}

impl Row {
    /// What decides on the part: the attack alone, and what is left without it.
    fn parts(&self) -> (String, Option<String>) {
        let Some(span) = &self.span else {
            return (self.text.clone(), None);
        };
        let piece = |range: Range<usize>| self.text.get(range).unwrap_or_default();
        let carrier = [piece(0..span.start), piece(span.end..self.text.len())].concat();
        (piece(span.clone()).to_owned(), Some(carrier))
    }
}

/// A row from a line of a file. Fields of the same meaning have different names in different files.
fn row(source: &'static str, line: &Value) -> Option<Row> {
    let field = |name: &str| line.get(name).and_then(Value::as_str).map(String::from);
    let text = field("text")?;
    let span = line.get("span").and_then(|span| <(usize, usize)>::deserialize(span).ok());
    Some(Row {
        id: field("id")?,
        source,
        attack: line.get("label").and_then(Value::as_u64)? == 1,
        span: span.map(|(start, end)| bytes(&text, start, end)),
        text,
        about: ["lang", "task", "kind", "category"].into_iter().find_map(field).unwrap_or_default(),
        group: String::new(),
    })
}

/// The bytes of a range of characters.
fn bytes(text: &str, start: usize, end: usize) -> Range<usize> {
    let at = |place| text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
    at(start)..at(end)
}

pub(super) fn lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>> {
    let tried = || format!("read {}", path.display());
    let content = if path.extension().is_some_and(|extension| extension == "gz") {
        inflated(path)?
    } else {
        fs::read(path).map_err(|error| cannot(tried(), error))?
    };
    let text = String::from_utf8(content).map_err(|error| cannot(tried(), error))?;
    let read = |line: &str| serde_json::from_str(line).map_err(|error| cannot(tried(), error));
    text.lines().map(read).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const ATTACKS: [&str; 6] = ["sing", "dance", "count", "whistle", "clap", "jump"];
    const CARRIERS: [&str; 6] = ["lunch", "rent", "school", "weather", "train", "garden"];

    fn plain(source: &'static str, attack: bool, text: &str) -> Row {
        let line = serde_json::json!({ "id": text, "label": u8::from(attack), "text": text });
        row(source, &line).unwrap()
    }

    fn rows() -> Vec<Row> {
        let mut rows: Vec<Row> = ATTACKS.iter().map(|text| plain("attacks", true, text)).collect();
        rows.extend(CARRIERS.iter().map(|text| plain("carriers", false, text)));
        for attack in ATTACKS {
            for carrier in CARRIERS {
                let mut row = plain("composed", true, &format!("{carrier} {attack}!"));
                row.span = Some(carrier.len() + 1..carrier.len() + 1 + attack.len());
                rows.push(row);
            }
        }
        rows
    }

    #[test]
    fn the_parts_share_neither_an_attack_nor_a_carrier() {
        let split = Split::new(rows(), 1);
        let held = |part| -> BTreeSet<String> {
            let words = ATTACKS
                .iter()
                .chain(&CARRIERS)
                .filter(|word| split.of(part).iter().any(|row: &Row| row.text.contains(*word)));
            words.map(|word| (*word).to_owned()).collect()
        };
        assert!(held(Part::Train).is_disjoint(&held(Part::Test)));
        let shown = split.train.len() + split.test.len();
        assert_eq!(shown + split.dropped, rows().len());
        assert!(split.dropped > 0 && !split.train.is_empty() && !split.test.is_empty());
    }

    #[test]
    fn the_split_depends_on_the_seed_and_the_texts_alone() {
        let names = |split: &Split| -> BTreeSet<String> {
            split.test.iter().map(|row| row.text.clone()).collect()
        };
        let reversed: Vec<Row> = rows().into_iter().rev().collect();
        assert_eq!(names(&Split::new(rows(), 1)), names(&Split::new(reversed, 1)));
        assert_ne!(names(&Split::new(rows(), 1)), names(&Split::new(rows(), 2)));
    }

    #[test]
    fn the_same_text_in_two_files_is_in_one_part() {
        let same = (0..20).flat_map(|n| {
            let text = format!("Number {n} of the texts");
            [plain("a", true, &text), plain("b", false, &text.to_uppercase())]
        });
        let split = Split::new(same.collect(), 1);
        for part in [Part::Train, Part::Test] {
            let of = |source| split.of(part).iter().filter(move |row| row.source == source).count();
            assert_eq!(of("a"), of("b"));
            assert!(of("a") > 0);
        }
    }

    #[test]
    fn a_goal_is_put_into_the_templates_of_its_part() {
        let mut goals: Vec<Row> = ATTACKS.iter().map(|text| plain("goals", true, text)).collect();
        goals.iter_mut().for_each(|goal| goal.about = "injection_goal".into());
        let mut split = Split::new(goals, 1);
        let template =
            |id: &str| TemplateLine { id: id.into(), template: format!("{id}: {{goal}}") };
        let templates: Vec<TemplateLine> = ["u", "v", "w", "x", "y", "z"].map(template).into();
        split.fill(&templates, 1);
        for part in [Part::Train, Part::Test] {
            let filled: Vec<&Row> =
                split.of(part).iter().filter(|row| row.source == "agentdojo_filled").collect();
            assert!(!filled.is_empty());
            assert!(filled.iter().all(|row| part_of(1, &row.about) == part));
            assert!(filled.iter().all(|row| row.text.contains(": ") && !row.text.contains('{')));
        }
    }
}
