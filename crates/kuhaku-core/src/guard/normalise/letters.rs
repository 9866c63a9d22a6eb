//! The letters of a text as they look.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::view::Letter;
use crate::guard::confusables::{is_invisible, is_latin, latin_twin, spelled_out};

/// The letters of a text, and how many of its characters were not what they looked like.
#[derive(Debug)]
pub(super) struct Letters {
    pub(super) letters: Vec<Letter>,
    pub(super) drift: Drift,
}

/// What was hidden in a text, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::guard) struct Drift {
    /// Compatibility forms and look-alikes that were replaced, characters that draw nothing.
    pub(in crate::guard) changed: usize,
    /// Characters that draw nothing between two Latin letters, soft hyphens aside: they have no use
    /// there.
    pub(in crate::guard) inside_words: usize,
    /// Words whose letters are of two scripts, one of them looking like the other.
    pub(in crate::guard) mixed_words: usize,
}

impl Letters {
    /// Compatibility forms taken apart, invisible characters and accents dropped, small letters
    /// throughout. What is dropped inside a word belongs to the letter before it.
    pub(super) fn of(text: &str) -> Self {
        let mut letters: Vec<Letter> = Vec::with_capacity(text.len());
        let mut drift = Drift::default();
        let mut hidden = false;
        for (start, original) in text.char_indices() {
            let source = start..start + original.len_utf8();
            if original.is_ascii() {
                let c = if original == '`' { '\'' } else { original.to_ascii_lowercase() };
                drift.inside_words += usize::from(hidden && c.is_ascii_alphabetic());
                hidden = false;
                letters.push(Letter { c, source });
                continue;
            }
            if is_invisible(original) {
                drift.changed += 1;
                if let Some(last) = letters.last_mut() {
                    last.source.end = source.end;
                    hidden = original != '\u{ad}' && is_latin(last.c);
                }
                continue;
            }
            hidden = false;
            let mut compatible = std::iter::once(original).nfkc();
            drift.changed += usize::from(compatible.next() != Some(original));
            for c in std::iter::once(original).nfkd().flat_map(char::to_lowercase) {
                let last = letters.last_mut();
                if is_combining_mark(c) && last.as_ref().is_some_and(|it| drops_marks(it.c)) {
                    if let Some(last) = last {
                        last.source.end = source.end;
                    }
                    continue;
                }
                if let Some(spelled) = spelled_out(c) {
                    let letter = |c| Letter { c, source: source.clone() };
                    letters.extend(spelled.chars().map(letter));
                    continue;
                }
                letters.push(Letter { c: plain(c), source: source.clone() });
            }
        }
        let mut read = Self { letters, drift };
        read.fold_mixed_words();
        read
    }

    /// Look-alikes become Latin inside words that have Latin letters too; a word wholly of another
    /// script stays.
    fn fold_mixed_words(&mut self) {
        if self.letters.iter().all(|letter| letter.c.is_ascii()) {
            return;
        }
        for word in self.letters.chunk_by_mut(|a, b| a.c.is_alphabetic() && b.c.is_alphabetic()) {
            if word.len() < 2 || !word.iter().any(|letter| is_latin(letter.c)) {
                continue;
            }
            let before = self.drift.changed;
            for letter in word {
                if let Some(twin) = latin_twin(letter.c) {
                    letter.c = twin;
                    self.drift.changed += 1;
                }
            }
            self.drift.mixed_words += usize::from(self.drift.changed > before);
        }
    }
}

/// The small letters of a pattern or a key word, as [`Letters`] would show them.
pub(in crate::guard) fn as_read(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut read = String::with_capacity(text.len());
    for c in text.nfkd().flat_map(char::to_lowercase) {
        if !(is_combining_mark(c) && read.chars().next_back().is_some_and(drops_marks)) {
            read.push(plain(c));
        }
    }
    read
}

/// Letters that mean the same with marks as without, to a reader in a hurry: Latin, Greek, Cyrillic,
/// Hebrew, Arabic. In other scripts marks are vowels.
fn drops_marks(c: char) -> bool {
    is_latin(c) || matches!(c, '\u{370}'..='\u{6ff}')
}

fn plain(c: char) -> char {
    match c {
        'ı' => 'i',
        '’' | '‘' | 'ʼ' | '´' => '\'',
        '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
        _ => c,
    }
}
