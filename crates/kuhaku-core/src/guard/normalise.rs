//! A text as it is read, with the way back to its bytes.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::confusables::{is_invisible, is_latin, latin_twin};

/// From this many single letters on, a spaced-out run is one word.
const SPACED_OUT: usize = 4;

/// The two forms in which the rules read a text.
#[derive(Debug)]
pub(super) struct Normalised {
    /// Every character in its plain small form; punctuation, spaces and lines as they were.
    pub(super) plain: View,
    /// Words only, between them a space, a comma (any pause) or a full stop (any end).
    pub(super) words: View,
}

impl Normalised {
    pub(super) fn new(text: &str) -> Self {
        let mut letters = letters(text);
        fold_mixed_words(&mut letters);
        Self { words: View::new(&words(&letters)), plain: View::new(&letters) }
    }
}

/// One character of a view and the bytes it stands for.
#[derive(Clone, Debug)]
struct Letter {
    c: char,
    source: Range<usize>,
}

/// A rewritten text and where each of its characters came from.
#[derive(Debug, Default)]
pub(super) struct View {
    text: String,
    /// For each character where it ends in `text`, and its source.
    places: Vec<(usize, Range<usize>)>,
}

impl View {
    fn new(letters: &[Letter]) -> Self {
        let mut view = Self::default();
        for letter in letters {
            view.text.push(letter.c);
            view.places.push((view.text.len(), letter.source.clone()));
        }
        view
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the given text that a range of the view stands for.
    pub(super) fn to_source(&self, range: Range<usize>) -> Range<usize> {
        let source = |at: usize| {
            let place = self.places.partition_point(|(end, _)| *end <= at);
            self.places.get(place).map_or(0..0, |(_, source)| source.clone())
        };
        source(range.start).start..source(range.end.saturating_sub(1)).end
    }
}

/// Compatibility forms taken apart, invisible characters and the accents of Latin letters dropped,
/// small letters throughout. What is dropped inside a word belongs to the letter before it.
fn letters(text: &str) -> Vec<Letter> {
    let mut letters: Vec<Letter> = Vec::with_capacity(text.len());
    for (start, original) in text.char_indices() {
        let source = start..start + original.len_utf8();
        for c in std::iter::once(original).nfkd().flat_map(char::to_lowercase) {
            let last = letters.last_mut();
            let accent = is_combining_mark(c) && last.as_ref().is_some_and(|last| is_latin(last.c));
            if is_invisible(c) || accent {
                if let Some(last) = last {
                    last.source.end = source.end;
                }
                continue;
            }
            let c = match c {
                'ı' => 'i',
                '’' | '‘' | 'ʼ' | '´' | '`' => '\'',
                '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
                _ => c,
            };
            letters.push(Letter { c, source: source.clone() });
        }
    }
    letters
}

/// Look-alikes become Latin inside words that have Latin letters too; a word wholly of another
/// script stays.
fn fold_mixed_words(letters: &mut [Letter]) {
    for word in letters.chunk_by_mut(|a, b| a.c.is_alphabetic() && b.c.is_alphabetic()) {
        if word.iter().any(|letter| is_latin(letter.c)) {
            for letter in word {
                letter.c = latin_twin(letter.c).unwrap_or(letter.c);
            }
        }
    }
}

/// The words of the text and one mark between each two.
fn words(letters: &[Letter]) -> Vec<Letter> {
    let mut read: Vec<Letter> = Vec::with_capacity(letters.len());
    let mut spaced_out = SpacedOut::default();
    let mut chunks = letters.chunk_by(|a, b| a.c.is_alphanumeric() == b.c.is_alphanumeric());
    let mut next = chunks.next();
    while let Some(chunk) = next {
        next = chunks.next();
        if chunk.first().is_some_and(|letter| letter.c.is_alphanumeric()) {
            spaced_out.word(chunk, &mut read);
        } else if let Some(mark) = mark(chunk, !read.is_empty() && next.is_some()) {
            spaced_out.mark(chunk.len(), &mut read);
            let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else { continue };
            read.push(Letter { c: mark, source: first.source.start..last.source.end });
        }
    }
    spaced_out.close(&mut read);
    read
}

/// What a run of other characters means: an end, a pause, or no more than a gap. An apostrophe
/// inside a word is nothing at all.
fn mark(run: &[Letter], between_words: bool) -> Option<char> {
    let has = |set: &[char]| run.iter().any(|letter| set.contains(&letter.c));
    let joined = run.len() == 1 && between_words;
    match () {
        () if joined && has(&['\'']) => None,
        () if joined && has(&['.', '-', '_']) => Some(' '),
        () if has(&['.', '!', '?', '…', '。', '！', '？']) => Some('.'),
        () if has(&[',', ';', ':']) => Some(','),
        () => Some(' '),
    }
}

/// Joins "i g n o r e" as the words are read.
#[derive(Debug, Default)]
struct SpacedOut {
    /// Where in the read text the run of single letters began, and how many there are.
    start: usize,
    count: usize,
}

impl SpacedOut {
    fn word(&mut self, word: &[Letter], read: &mut Vec<Letter>) {
        if word.len() == 1 {
            if self.count == 0 {
                self.start = read.len();
            }
            self.count += 1;
            read.extend_from_slice(word);
        } else {
            self.close(read);
            read.extend_from_slice(word);
        }
    }

    /// Two characters between two letters end a spaced-out word.
    fn mark(&mut self, length: usize, read: &mut Vec<Letter>) {
        if length > 1 {
            self.close(read);
        }
    }

    fn close(&mut self, read: &mut Vec<Letter>) {
        if self.count >= SPACED_OUT {
            let run = read.split_off(self.start);
            let ends_open = run.last().filter(|letter| !letter.c.is_alphanumeric()).cloned();
            read.extend(run.into_iter().filter(|letter| letter.c.is_alphanumeric()));
            read.extend(ends_open);
        }
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        Normalised::new(text).plain.text().to_owned()
    }

    fn words(text: &str) -> String {
        Normalised::new(text).words.text().to_owned()
    }

    /// GRD-10. Delimiters stay (the rules must see special tokens), and there is no drift to count.
    #[test]
    fn disguises_are_taken_off() {
        assert_eq!(plain("p\u{430}yp\u{430}l"), "paypal");
        assert_eq!(plain("ｉｇｎｏｒｅ"), "ignore");
        assert_eq!(plain("a\u{200b}b\u{200b}c"), "abc");
        assert_eq!(plain("a..b"), "a..b");
        assert_eq!(plain(""), "");
        assert_eq!(plain("ign\u{202e}o\u{ad}re"), "ignore");
        assert_eq!(plain("Ìg̈nöre İPTAL ısı"), "ignore iptal isi");
    }

    /// GRD-10
    #[test]
    fn words_of_another_script_are_left_alone() {
        assert_eq!(plain("мир Москва ορος"), "мир москва ορος");
    }

    #[test]
    fn words_are_read_whatever_joins_or_splits_them() {
        assert_eq!(words("i g n o r e previous"), "ignore previous");
        assert_eq!(words("I-G-N-O-R-E  a.l.l.  of it"), "ignore a l l.of it");
        assert_eq!(words("ignore-previous_instructions.now"), "ignore previous instructions now");
        assert_eq!(words("don't stop, \"now\"!\n\nBye."), "dont stop,now.bye.");
    }

    #[test]
    fn every_part_of_a_view_leads_back_to_its_bytes() {
        let text = "né ｉ g n\u{200b} o r e: it";
        let normalised = Normalised::new(text);
        assert_eq!(normalised.words.text(), "ne ignore,it");
        assert_eq!(&text[normalised.words.to_source(3..9)], "ｉ g n\u{200b} o r e");
        assert_eq!(&text[normalised.plain.to_source(1..2)], "é");
        assert_eq!(normalised.words.to_source(0..12), 0..text.len());
    }
}
