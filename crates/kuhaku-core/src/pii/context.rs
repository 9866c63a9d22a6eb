//! The words around a number that say what it is.

use std::cell::OnceCell;
use std::ops::Range;

use crate::masking::Placeholder;

/// Words that are looked at in front of a value, line breaks included.
const BEFORE: usize = 8;

/// Words that are looked at behind a value.
const AFTER: usize = 4;

/// The words of a text, found when the first value asks for them.
///
/// Distance is counted in words and line breaks. Digits, punctuation and placeholders do not count,
/// so that masking one value never brings a word nearer to another one.
pub(super) struct Words<'t> {
    text: &'t str,
    words: OnceCell<Vec<Range<usize>>>,
}

impl<'t> Words<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, words: OnceCell::new() }
    }

    /// The words in front of byte `at`, the nearest first, in lower case. A line break is an empty
    /// word.
    pub(super) fn before(&self, at: usize) -> impl Iterator<Item = String> {
        let words = self.all();
        let end = words.partition_point(|word| word.end <= at);
        words.get(..end).unwrap_or_default().iter().rev().take(BEFORE).map(|word| self.read(word))
    }

    /// The words behind byte `at`, the nearest first, in lower case, to the end of the line.
    pub(super) fn after(&self, at: usize) -> impl Iterator<Item = String> {
        let words = self.all();
        let start = words.partition_point(|word| word.start < at);
        let behind = words.get(start..).unwrap_or_default().iter();
        behind.take(AFTER).map(|word| self.read(word)).take_while(|word| !word.is_empty())
    }

    /// True when one of `announcing` stands near the value. Those of five letters and more may be the
    /// beginning of a longer word, as in languages that write compounds.
    pub(super) fn announce(&self, value: &Range<usize>, announcing: &[&str]) -> bool {
        let near = |word: String| announcing.iter().any(|known| is_form_of(&word, known));
        self.before(value.start).any(near) || self.after(value.end).any(near)
    }

    fn read(&self, word: &Range<usize>) -> String {
        self.text.get(word.clone()).unwrap_or_default().trim().to_lowercase()
    }

    fn all(&self) -> &[Range<usize>] {
        self.words.get_or_init(|| words(self.text))
    }
}

/// True when `word` is `known`, or begins with it and it is long.
pub(super) fn is_form_of(word: &str, known: &str) -> bool {
    word == known || (known.len() >= 5 && word.starts_with(known))
}

/// Runs of two letters and more, and single line breaks. What may stand inside a value is no word.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    let mut placeholder = 0;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if at < placeholder {
            continue;
        }
        if c.is_alphabetic() || ('\u{300}'..='\u{36f}').contains(&c) || is_vowel_sign(c) {
            start.get_or_insert(at);
            continue;
        }
        if let Some(start) = start.take()
            && text.get(start..at).is_some_and(|w| w.chars().nth(1).is_some() && !is_extension(w))
        {
            words.push(start..at);
        }
        match c {
            '\n' => words.push(at..at + 1),
            '[' => {
                let tail = text.get(at..).unwrap_or_default();
                let masked = Placeholder::ALL.iter().find(|p| tail.starts_with(p.as_str()));
                placeholder = masked.map_or(0, |masked| at + masked.as_str().len());
            }
            _ => {}
        }
    }
    words
}

/// The vowel signs of the Indic scripts, which are no letters by themselves.
fn is_vowel_sign(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}')
}

/// The word in front of an extension, which belongs to a telephone number.
fn is_extension(word: &str) -> bool {
    word.eq_ignore_ascii_case("ext")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_without_digits_and_placeholders() {
        let text = "Il codice\nfiscale [NATIONAL_ID] 12 34, x [y] è 99 qui ext. 7 ora";
        let words = Words::new(text);
        let at = text.find("99").unwrap();
        let before: Vec<String> = words.before(at).collect();
        assert_eq!(before, ["fiscale", "", "codice", "il"]);
        let after: Vec<String> = words.after(at + 2).collect();
        assert_eq!(after, ["qui", "ora"]);
    }

    #[test]
    fn a_word_announces_from_both_sides_and_not_from_afar() {
        let near = |text: &str| {
            let at = text.find('7').unwrap();
            Words::new(text).announce(&(at..at + 1), &["ssn", "telefon"])
        };
        for text in ["SSN: 7", "7 is my SSN", "Telefonnummer\n7", "(ssn) a or an other of them 7"] {
            assert!(near(text), "{text}");
        }
        for text in ["7", "ssns 7", "7\nSSN", "ssn one two three four five six seven eight 7"] {
            assert!(!near(text), "{text}");
        }
    }
}
