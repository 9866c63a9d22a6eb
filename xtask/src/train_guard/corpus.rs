//! What the trained stage learns from.

use std::ops::Range;
use std::path::Path;

use kuhaku_core::{GuardReading, InjectionGuard};

use super::learn::Example;
use super::own;
use super::random::Random;
use crate::bench::security::attacks::{Part, Row, SEED, Split, folded, order};
use crate::bench::security::documents::clean;
use crate::error::Result;

/// A text of the training part.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) source: &'static str,
    /// Of our own texts.
    pub(super) language: String,
    /// Copies and variants have the same.
    pub(super) group: String,
    pub(super) words: String,
    pub(super) rules: Vec<usize>,
    /// The attack inside it, in characters that count.
    pub(super) span: Option<Range<usize>>,
}

/// The texts of the training part by what they are.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    /// Attacks, whoever sends them.
    pub(super) attacks: Vec<Text>,
    /// Requests that are attacks only inside a document.
    pub(super) requests: Vec<Text>,
    /// Attacks in the documents they came in.
    pub(super) composed: Vec<Text>,
    /// What users ask.
    pub(super) questions: Vec<Text>,
    pub(super) documents: Vec<Text>,
    /// Questions in other languages than English.
    foreign: Vec<Text>,
}

impl Corpus {
    pub(super) fn read(root: &Path, data: &Path) -> Result<Self> {
        let guard = InjectionGuard::new();
        let mut corpus = Self::default();
        for row in Split::read(&data.join("injection"))?.of(Part::Train) {
            let text = text_of(&guard, row);
            let list = match (row.source, row.attack) {
                ("bipia_attacks", _) | ("agentdojo_tasks", true) => &mut corpus.requests,
                ("bipia_email_composed", true) => &mut corpus.composed,
                ("bipia_contexts" | "bipia_email_composed", _) => &mut corpus.documents,
                (_, true) => &mut corpus.attacks,
                (_, false) => &mut corpus.questions,
            };
            list.push(text);
        }
        for row in clean(data, Part::Train)? {
            let list = if row.question { &mut corpus.questions } else { &mut corpus.documents };
            list.push(new(&guard, row.source, row.group, &row.text));
        }
        corpus.add_own(root, |_| true)?;
        Ok(corpus)
    }

    /// Adds our own texts, those whose number `keep` keeps.
    pub(super) fn add_own(&mut self, root: &Path, keep: impl Fn(usize) -> bool) -> Result<()> {
        let guard = InjectionGuard::new();
        for (_, written) in own::read(root)?.into_iter().enumerate().filter(|(n, _)| keep(*n)) {
            let mut text = new(&guard, "own", written.group, &written.text);
            text.language.clone_from(&written.language);
            // There are few documents in other languages than English: without these, the language
            // itself would look like an attack.
            if written.kind == own::Kind::Question && written.language != "en" {
                self.foreign.push(text.clone());
            }
            let list = match written.kind {
                own::Kind::Attack => &mut self.attacks,
                own::Kind::Request => &mut self.requests,
                own::Kind::Question => &mut self.questions,
                own::Kind::Document => &mut self.documents,
            };
            list.push(text);
        }
        Ok(())
    }

    /// The texts that `keep` keeps.
    pub(super) fn only(&self, keep: impl Fn(&Text) -> bool) -> Self {
        let kept = |texts: &[Text]| texts.iter().filter(|text| keep(text)).cloned().collect();
        Self {
            attacks: kept(&self.attacks),
            requests: kept(&self.requests),
            composed: kept(&self.composed),
            questions: kept(&self.questions),
            documents: kept(&self.documents),
            foreign: kept(&self.foreign),
        }
    }

    /// All but the documents that `leave` names.
    pub(super) fn without_documents(&self, leave: impl Fn(&Text) -> bool) -> Self {
        let mut rest = self.only(|_| true);
        rest.documents.retain(|text| !leave(text));
        rest
    }

    /// Documents that are no articles: what people write to each other.
    pub(super) fn letters(&self) -> impl Iterator<Item = &Text> {
        let letters = ["bipia_contexts", "bipia_email_composed", "own", "docling", "sgd"];
        self.documents.iter().filter(move |text| letters.contains(&text.source))
    }

    /// What the head for questions learns.
    pub(super) fn for_questions(&self, seed: u64) -> Vec<Example> {
        let mut random = Random::new(seed);
        let mut examples = Vec::new();
        // What people ask, as opposed to claims and questions about one passage.
        let asked: Vec<&Text> =
            self.questions.iter().filter(|text| question_weight(text) >= 1.0).collect();
        for text in &self.attacks {
            examples.push(example(text, true, 1.0));
            // An attack after a harmless question, or before it.
            if let Some(question) = random.pick(&asked) {
                examples.push(example(&inside(question, text, &mut random), true, 0.5));
            }
        }
        let questions = self.questions.iter();
        examples.extend(questions.map(|text| example(text, false, question_weight(text))));
        let documents = self.documents.iter().filter(|_| random.percent(25));
        let documents: Vec<Example> = documents.map(|text| example(text, false, 0.5)).collect();
        examples.extend(documents);
        balanced(examples)
    }

    /// What the head for documents learns.
    pub(super) fn for_documents(&self, seed: u64) -> Vec<Example> {
        let mut random = Random::new(seed);
        let mut examples = Vec::new();
        let letters: Vec<&Text> = self.letters().collect();
        for text in self.attacks.iter().chain(&self.requests) {
            examples.push(example(text, true, 0.5));
            for _ in 0..COMPOSED {
                let same: Vec<&Text> = letters
                    .iter()
                    .copied()
                    .filter(|letter| !text.language.is_empty() && letter.language == text.language)
                    .collect();
                let from = if random.percent(50) && !same.is_empty() { &same } else { &letters };
                let letter = random.pick(from).copied().filter(|_| random.percent(60));
                if let Some(carrier) = letter.or_else(|| random.pick(&self.documents)) {
                    examples.push(example(&inside(carrier, text, &mut random), true, 1.0));
                }
            }
        }
        examples.extend(self.composed.iter().map(|text| example(text, true, 1.0)));
        examples.extend(self.documents.iter().map(|text| example(text, false, 1.0)));
        // There are few of them, and they do address a reader.
        let weight =
            |text: &Text| if ["", "en"].contains(&text.language.as_str()) { 2.0 } else { 6.0 };
        examples.extend(letters.iter().map(|text| example(text, false, weight(text))));
        examples.extend(self.foreign.iter().map(|text| example(text, false, 1.0)));
        balanced(examples)
    }
}

/// How many documents each attack is put into.
const COMPOSED: usize = 3;

/// NotInject is what the guard must not mistake, and there is little of it.
fn question_weight(text: &Text) -> f32 {
    match text.source {
        "notinject" | "agentdojo_tasks" => 3.0,
        "bfcl" => 1.0,
        // As much as the attacks in that language, or the language would look like one.
        "own" if text.language != "en" => 3.0,
        "deepset_prompt_injections_lower" | "own" => 1.5,
        _ => 0.7,
    }
}

/// An attack in a carrier, before, after or between its sentences.
pub(super) fn inside(carrier: &Text, attack: &Text, random: &mut Random) -> Text {
    let cut = match random.below(3) {
        0 => 0,
        1 => carrier.words.len(),
        _ => {
            let ends: Vec<usize> =
                carrier.words.match_indices(['.', ',']).map(|(at, _)| at + 1).collect();
            random.pick(&ends).copied().unwrap_or_default()
        }
    };
    let (head, tail) = carrier.words.split_at_checked(cut).unwrap_or((&carrier.words, ""));
    // A line break reads as a space.
    let gap = if random.percent(50) || head.ends_with('.') { " " } else { "." };
    let before = if head.is_empty() { String::new() } else { format!("{head}{gap}") };
    let words = format!("{before}{}.{tail}", attack.words);
    let start = GuardReading::read(&before).length();
    let end = start + GuardReading::read(&attack.words).length();
    Text {
        words,
        span: Some(start..end),
        rules: [attack.rules.clone(), carrier.rules.clone()].concat(),
        ..attack.clone()
    }
}

fn example(text: &Text, attack: bool, weight: f32) -> Example {
    Example {
        words: text.words.clone(),
        span: text.span.clone().filter(|_| attack),
        attack,
        weight,
        rules: text.rules.clone(),
    }
}

/// Both answers weigh the same in all.
fn balanced(mut examples: Vec<Example>) -> Vec<Example> {
    let of = |attack| -> f32 {
        examples.iter().filter(|each| each.attack == attack).map(|each| each.weight).sum()
    };
    let (attacks, benign) = (of(true), of(false));
    let mean = (attacks + benign) / 2.0;
    for each in &mut examples {
        each.weight *= mean / if each.attack { attacks } else { benign };
    }
    examples
}

fn text_of(guard: &InjectionGuard, row: &Row) -> Text {
    let mut text = new(guard, row.source, row.group.clone(), &row.text);
    if let Some(span) = &row.span {
        let length = |until: usize| {
            let words = GuardReading::words(row.text.get(..until).unwrap_or_default());
            GuardReading::read(&words).length()
        };
        text.span = Some(length(span.start)..length(span.end));
    }
    text
}

fn new(guard: &InjectionGuard, source: &'static str, group: String, text: &str) -> Text {
    let mut rules: Vec<usize> = guard
        .screen(text)
        .findings()
        .iter()
        .map(|finding| GuardReading::family(finding.family))
        .collect();
    rules.sort_unstable();
    rules.dedup();
    let (language, words) = (String::new(), GuardReading::words(text));
    Text { source, language, group, words, rules, span: None }
}

/// The fold that a group is held out in.
pub(super) fn fold(text: &Text, folds: usize) -> usize {
    let order = order(SEED + 1, &folded(&text.group));
    usize::try_from(order).unwrap_or_default() % folds
}
