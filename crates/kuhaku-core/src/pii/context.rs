//! The words around a number that say what it is.

use std::cell::OnceCell;
use std::ops::Range;

use crate::masking::Placeholder;

/// Words that are looked at in front of a value, line breaks included.
const BEFORE: usize = 8;

/// Words that are looked at behind a value.
const AFTER: usize = 4;

/// Bytes of a block of text whose words are found together.
const BLOCK: usize = 512;

/// The words of a text. Only those of blocks that a value asks for are ever read.
///
/// Distance is counted in words and line breaks. Digits, punctuation and placeholders do not count,
/// so that masking one value never brings a word nearer to another one.
pub(super) struct Words<'t> {
    text: &'t str,
    blocks: OnceCell<Vec<Block>>,
}

/// A part of the text that ends at a blank, and its words.
struct Block {
    range: Range<usize>,
    words: OnceCell<Vec<Range<usize>>>,
    /// The nearest blocks with words on both sides, so that a desert is crossed once.
    earlier: OnceCell<Option<usize>>,
    later: OnceCell<Option<usize>>,
}

impl<'t> Words<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, blocks: OnceCell::new() }
    }

    /// The words in front of byte `at`, the nearest first, in lower case. A line break is an empty
    /// word.
    pub(super) fn before(&self, at: usize) -> impl Iterator<Item = String> {
        let here = self.block(at);
        let near = self.words(here);
        let near = near.get(..near.partition_point(|word| word.end <= at)).unwrap_or_default();
        let blocks = std::iter::successors(self.earlier(here), |place| self.earlier(*place));
        let far = blocks.flat_map(|place| self.words(place).iter().rev());
        near.iter().rev().chain(far).take(BEFORE).map(|word| self.read(word))
    }

    /// The words behind byte `at`, the nearest first, in lower case, to the end of the line.
    pub(super) fn after(&self, at: usize) -> impl Iterator<Item = String> {
        let here = self.block(at);
        let near = self.words(here);
        let near = near.get(near.partition_point(|word| word.start < at)..).unwrap_or_default();
        let blocks = std::iter::successors(self.later(here), |place| self.later(*place));
        let far = blocks.flat_map(|place| self.words(place));
        near.iter()
            .chain(far)
            .take(AFTER)
            .map(|word| self.read(word))
            .take_while(|word| !word.is_empty())
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

    fn blocks(&self) -> &[Block] {
        self.blocks.get_or_init(|| blocks(self.text))
    }

    /// The block that holds byte `at`.
    fn block(&self, at: usize) -> usize {
        self.blocks().partition_point(|block| block.range.end <= at)
    }

    fn words(&self, place: usize) -> &[Range<usize>] {
        let Some(block) = self.blocks().get(place) else {
            return &[];
        };
        block.words.get_or_init(|| words(self.text, block.range.clone()))
    }

    fn earlier(&self, place: usize) -> Option<usize> {
        let nearest = || {
            let mut place = place;
            loop {
                place = place.checked_sub(1)?;
                if !self.words(place).is_empty() {
                    return Some(place);
                }
                if let Some(known) = self.blocks().get(place)?.earlier.get() {
                    return *known;
                }
            }
        };
        match self.blocks().get(place) {
            Some(block) => *block.earlier.get_or_init(nearest),
            None => nearest(),
        }
    }

    fn later(&self, place: usize) -> Option<usize> {
        let count = self.blocks().len();
        let nearest = || (place + 1..count).find(|place| !self.words(*place).is_empty());
        *self.blocks().get(place)?.later.get_or_init(nearest)
    }
}

/// Parts of a text of about the same size that end at blanks.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let tail = text.as_bytes().get(start + BLOCK..).unwrap_or_default();
        let blank = tail.iter().position(|byte| matches!(byte, b' ' | b'\n'));
        let end = blank.map_or(text.len(), |blank| start + BLOCK + blank + 1);
        let range = start..end;
        let (words, earlier, later) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        blocks.push(Block { range, words, earlier, later });
        start = end;
    }
    blocks
}

/// True when `word` is `known`, or begins with it and it is long.
pub(super) fn is_form_of(word: &str, known: &str) -> bool {
    word == known || (known.len() >= 5 && word.starts_with(known))
}

/// Runs of two letters and more, and single line breaks. What may stand inside a value is no word.
fn words(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = range.start;
    while at < range.end
        && let Some(byte) = text.as_bytes().get(at)
    {
        let tail = text.get(at..).unwrap_or_default();
        match byte {
            b'\n' => {
                words.push(at..at + 1);
                at += 1;
            }
            b'[' => {
                let masked = Placeholder::ALL.iter().find(|p| tail.starts_with(p.as_str()));
                at += masked.map_or(1, |masked| masked.as_str().len());
            }
            _ if byte.is_ascii_alphabetic() || !byte.is_ascii() => {
                let length = letters(tail);
                let end = at + length;
                let word = text.get(at..end).unwrap_or_default();
                if length >= 2 && word.chars().nth(1).is_some() && !is_extension(word.as_bytes()) {
                    words.push(at..end);
                }
                at = end.max(at + tail.chars().next().map_or(1, char::len_utf8));
            }
            _ => at += 1,
        }
    }
    words
}

/// Bytes of the letters that `text` begins with.
fn letters(text: &str) -> usize {
    let ascii = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    if text.as_bytes().get(ascii).is_none_or(u8::is_ascii) {
        return ascii;
    }
    let is_letter =
        |c: char| c.is_alphabetic() || ('\u{300}'..='\u{36f}').contains(&c) || is_vowel_sign(c);
    text.find(|c| !is_letter(c)).unwrap_or(text.len())
}

/// The vowel signs of the Indic scripts, which are no letters by themselves.
fn is_vowel_sign(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}')
}

/// The word in front of an extension, which belongs to a telephone number.
pub(super) fn is_extension(word: &[u8]) -> bool {
    [&b"ext"[..], b"extension", b"dahili"].iter().any(|known| word.eq_ignore_ascii_case(known))
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
