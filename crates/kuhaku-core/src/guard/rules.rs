//! The rules of the five families.

use std::ops::Range;

use regex::{Regex, RegexSet};

use super::context::{is_a_persons_name, is_about_software, is_no_command};
use super::normalise::{Normalised, View};
use super::screening::{Finding, GuardFamily};

mod table;

use table::{FRAGMENTS, RULES};

/// When a match of a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    /// Always.
    Always,
    /// When the verb that begins it is a command.
    AsCommand,
    /// As a command that is not a part of a question about software.
    AsBareCommand,
    /// When the name that ends it is not written as a person's.
    UnlessPerson,
}

/// Which form of the text a rule reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    Words,
    Plain,
}

#[derive(Debug)]
struct Rule {
    family: GuardFamily,
    counts: Counts,
    pattern: Regex,
}

/// Rules over one form of the text. The set says in one pass which of them occur at all.
#[derive(Debug)]
struct Shelf {
    set: RegexSet,
    rules: Vec<Rule>,
}

/// All rules, compiled.
#[derive(Debug)]
pub(super) struct RuleBook {
    words: Shelf,
    plain: Shelf,
}

impl RuleBook {
    pub(super) fn new() -> Self {
        Self { words: Shelf::new(Reads::Words), plain: Shelf::new(Reads::Plain) }
    }

    pub(super) fn findings(&self, text: &str, normalised: &Normalised) -> Vec<Finding> {
        let mut findings = self.words.findings(text, &normalised.words);
        findings.extend(self.plain.findings(text, &normalised.plain));
        findings
    }
}

impl Shelf {
    #[expect(clippy::expect_used, reason = "the patterns are constants, compiled by every test")]
    fn new(reads: Reads) -> Self {
        let of_this = || RULES.iter().filter(|(_, of, ..)| *of == reads);
        let patterns: Vec<String> =
            of_this().map(|(_, _, _, pattern)| written_out(pattern, reads)).collect();
        let set = RegexSet::new(&patterns).expect("valid patterns");
        let rules = of_this()
            .zip(&patterns)
            .map(|((family, _, counts, _), pattern)| Rule {
                family: *family,
                counts: *counts,
                pattern: Regex::new(pattern).expect("a valid pattern"),
            })
            .collect();
        Self { set, rules }
    }

    fn findings(&self, text: &str, view: &View) -> Vec<Finding> {
        let mut findings = Vec::new();
        for rule in self.set.matches(view.text()).iter().filter_map(|at| self.rules.get(at)) {
            for found in rule.pattern.find_iter(view.text()) {
                let range = view.to_source(found.range());
                if rule.counts.here(view.text(), &found.range(), text.get(range.clone())) {
                    findings.push(Finding { family: rule.family, range });
                }
            }
        }
        findings
    }
}

impl Counts {
    fn here(self, words: &str, found: &Range<usize>, original: Option<&str>) -> bool {
        match self {
            Self::Always => true,
            Self::AsCommand => !is_no_command(words, found),
            Self::AsBareCommand => !is_no_command(words, found) && !is_about_software(words, found),
            Self::UnlessPerson => !original.is_some_and(is_a_persons_name),
        }
    }
}

/// A pattern with its fragments put in. In rules on words a space stands for any gap, or for none:
/// words may have been run together.
fn written_out(pattern: &str, reads: Reads) -> String {
    let mut written = pattern.to_owned();
    // Fragments are listed so that each uses only those after it.
    for (name, fragment) in FRAGMENTS {
        written = written.replace(name, &format!("(?:{fragment})"));
    }
    // The border of ASCII words: "请ignore" begins one too, and automata stay fast.
    let written = written.replace(r"\b", r"(?-u:\b)").replace(r"\B", r"(?-u:\B)");
    match reads {
        Reads::Words => format!(r"(?-u:\b)(?:{})", written.replace(' ', "[ ,]?")),
        Reads::Plain => written,
    }
}
