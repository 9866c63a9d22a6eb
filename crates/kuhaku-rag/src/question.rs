//! What a question asks about, and how much of it a text holds.
//!
//! The signal on which kuhaku abstains (D23, docs/abstention.md): the share of the question's
//! informative terms that a text holds, each weighted by its inverse document frequency among the
//! chunks that the caller sees. It is absolute: it depends on no other candidate and on no rank.

use std::collections::{HashMap, HashSet};

use kuhaku_index::{
    Analyzer, ChunkReader, StoredChunk, TermStatistics, Token, inverse_document_frequency,
};

use crate::error::{Adopt as _, Result};

/// Words are weighed as if this many further chunks were visible that hold none of them. Among a
/// handful of chunks, document frequencies alone would make a word that occurs nowhere outweigh all
/// others.
const UNSEEN_CHUNKS: u64 = 20;

/// The terms of a text, to test a question's terms against.
pub(crate) type Terms = HashSet<String>;

/// The terms of a text under an analyzer.
pub(crate) fn terms(analyzer: &Analyzer, text: &str) -> Terms {
    analyzer.tokens(text).into_iter().map(|token| token.term).collect()
}

/// One informative word of a question; an identifier such as `PAY-6006` counts as one word that may
/// also be held by its parts.
#[derive(Clone, Debug, PartialEq)]
struct Word {
    term: String,
    weight: f64,
    parts: Vec<(String, f64)>,
}

impl Word {
    /// The share of the word that a text with these terms holds, from 0 to 1.
    fn held_by(&self, terms: &Terms) -> f64 {
        if terms.contains(&self.term) {
            return 1.0;
        }
        let total: f64 = self.parts.iter().map(|(_, weight)| weight).sum();
        let held: f64 = self
            .parts
            .iter()
            .filter(|(part, _)| terms.contains(part))
            .map(|(_, weight)| weight)
            .sum();
        if total > 0.0 { held / total } else { 0.0 }
    }
}

/// The informative words of a question with their weights among the visible chunks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Question {
    words: Vec<Word>,
    total: f64,
}

impl Question {
    /// Weighs the words of a question by what the reader sees.
    pub(crate) async fn read(text: &str, reader: &dyn ChunkReader) -> Result<Self> {
        let statistics = reader.term_statistics(text).await.adopt()?;
        Ok(Self::new(reader.analyzer().tokens(text), &statistics))
    }

    fn new(mut tokens: Vec<Token>, statistics: &TermStatistics) -> Self {
        let idf: HashMap<&str, (f64, bool)> = statistics
            .terms
            .iter()
            .map(|term| {
                let chunks = statistics.visible_chunks + UNSEEN_CHUNKS;
                let idf = inverse_document_frequency(chunks, term.chunks);
                (term.term.as_str(), (idf, term.chunks > 0))
            })
            .collect();
        let weight = |term: &str| idf.get(term).copied().unwrap_or((0.0, false));
        // A compound before its parts, so that the parts find it.
        tokens.sort_by_key(|t| (t.range.start, std::cmp::Reverse(t.range.end), t.part));
        let mut words: Vec<Word> = Vec::new();
        let mut end = 0;
        for token in tokens {
            let (idf, _) = weight(&token.term);
            match words.last_mut() {
                Some(word) if token.part && token.range.end <= end => {
                    word.parts.push((token.term, idf));
                }
                _ => {
                    end = token.range.end;
                    words.push(Word { term: token.term, weight: idf, parts: Vec::new() });
                }
            }
        }
        let mut seen = HashSet::new();
        words.retain(|word| seen.insert(word.term.clone()));
        for word in &mut words {
            // A spelling that occurs nowhere would weigh the most; its rarest part says more.
            if !weight(&word.term).1 && !word.parts.is_empty() {
                word.weight = word.parts.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
            }
        }
        let total = words.iter().map(|word| word.weight).sum();
        Self { words, total }
    }

    /// The share of the question that a chunk holds, with the title and headings above it.
    pub(crate) fn coverage_of(&self, chunk: &StoredChunk, analyzer: &Analyzer) -> f64 {
        let text = [&chunk.title, "\n", &chunk.headings.join("\n"), "\n", &chunk.text].concat();
        self.coverage(&terms(analyzer, &text))
    }

    /// The share of the question that a text with these terms holds, from 0 to 1; 0 when the
    /// question has no informative word.
    pub(crate) fn coverage(&self, terms: &Terms) -> f64 {
        let held: f64 = self.words.iter().map(|word| word.weight * word.held_by(terms)).sum();
        if self.total > 0.0 { (held / self.total).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The weight of all words together.
    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    /// Per word, its weight times the share of it that the terms hold.
    pub(crate) fn held(&self, terms: &Terms) -> Vec<f64> {
        self.words.iter().map(|word| word.weight * word.held_by(terms)).collect()
    }
}

#[cfg(test)]
mod tests {
    use kuhaku_index::{Language, TermStatistic, Tokenizer};

    use super::*;

    fn question(text: &str, visible: u64, counts: &[(&str, u64)]) -> (Question, Analyzer) {
        let analyzer = Analyzer::new(Tokenizer::Simple, Language::None);
        let tokens = analyzer.tokens(text);
        let count = |term: &str| counts.iter().find(|(t, _)| *t == term).map_or(0, |(_, n)| *n);
        let statistics: Vec<_> =
            tokens.iter().map(|t| TermStatistic::new(&*t.term, count(&t.term))).collect();
        let statistics = TermStatistics::new(visible, statistics);
        (Question::new(tokens, &statistics), analyzer)
    }

    #[test]
    fn coverage_is_the_weighted_share_of_words_held() {
        let (question, analyzer) = question("salary of falcons", 10, &[("salary", 1), ("of", 10)]);
        let all = question.coverage(&terms(&analyzer, "The salary of falcons"));
        let some = question.coverage(&terms(&analyzer, "The salary of geese"));
        let common = question.coverage(&terms(&analyzer, "the end of it"));
        assert_eq!(all, 1.0);
        assert!(common < 0.2 && common < some && some < 0.6, "{common} {some}");
    }

    #[test]
    fn a_question_without_informative_words_is_covered_by_nothing() {
        let (question, analyzer) = question("?!", 10, &[]);
        assert_eq!(question.coverage(&terms(&analyzer, "anything")), 0.0);
    }

    #[test]
    fn parts_of_an_identifier_hold_it_when_the_whole_occurs_nowhere() {
        let token = |term: &str, range, part| {
            // Tokens are made by the analyzer only; the default one yields compounds.
            let analyzer = Analyzer::new(Tokenizer::Default, Language::En);
            let tokens = analyzer.tokens("PAY-6006");
            tokens.into_iter().find(|t| t.term == term && t.range == range && t.part == part)
        };
        let tokens = vec![
            token("pay-6006", 0..8, false).unwrap(),
            token("pay", 0..3, true).unwrap(),
            token("6006", 4..8, true).unwrap(),
        ];
        let statistics = TermStatistics::new(
            9,
            vec![
                TermStatistic::new("pay-6006", 0),
                TermStatistic::new("pay", 3),
                TermStatistic::new("6006", 1),
            ],
        );
        let question = Question::new(tokens, &statistics);
        let held = |words: &[&str]| {
            question.coverage(&words.iter().map(|word| (*word).to_string()).collect())
        };
        assert_eq!(held(&["pay", "6006"]), 1.0);
        assert_eq!(held(&["pay-6006"]), 1.0);
        assert!(held(&["pay"]) < 0.5);
    }
}
