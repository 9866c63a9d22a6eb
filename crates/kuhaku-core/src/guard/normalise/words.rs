//! The words of a text, however they are joined or spread.

use super::view::Letter;

/// From this many single letters on, a spread run is one word.
const SPREAD: usize = 4;

/// The same right behind such a word, and where marks stand between the letters.
const SPREAD_NEXT: usize = 2;

/// The widest gap between the letters of a spread word, in characters.
const GAP: usize = 3;

/// The words of the text and one mark between each two.
pub(super) fn words(letters: &[Letter]) -> Vec<Letter> {
    let mut read: Vec<Letter> = Vec::with_capacity(letters.len());
    let mut spread = Spread::default();
    let mut chunks = letters.chunk_by(|a, b| a.c.is_alphanumeric() == b.c.is_alphanumeric());
    let mut next = chunks.next();
    while let Some(chunk) = next {
        next = chunks.next();
        if chunk.first().is_some_and(|letter| letter.c.is_alphanumeric()) {
            spread.word(chunk, &mut read);
        } else if let Some(mark) = mark(chunk, !read.is_empty() && next.is_some()) {
            let blank = chunk.iter().all(|letter| letter.c.is_whitespace());
            spread.mark(chunk.len(), blank, &mut read);
            let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else { continue };
            read.push(Letter { c: mark, source: first.source.start..last.source.end });
        }
    }
    spread.close(&mut read);
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
        () if has(&['.', '!', '?', '…', '。', '！', '？', '؟', '।']) => Some('.'),
        () if has(&[',', ';', ':', '、', '،', '؛']) => Some(','),
        () => Some(' '),
    }
}

/// Joins "i g n o r e" as the words are read.
#[derive(Debug, Default)]
struct Spread {
    /// Where in the read text the run of single letters began, and how many there are.
    start: usize,
    count: usize,
    /// The gap between them, in characters, and whether it is blank.
    gap: usize,
    blank: bool,
    /// Whether the run stands right behind a spread word.
    follows: bool,
}

impl Spread {
    fn word(&mut self, word: &[Letter], read: &mut Vec<Letter>) {
        if word.len() == 1 {
            if self.count == 0 {
                self.start = read.len();
            }
            self.count += 1;
        } else {
            self.close(read);
            self.follows = false;
        }
        read.extend_from_slice(word);
    }

    /// The first gap is the gap of all; a wider one is between words, and a blank one where the others
    /// are marks: "i-g-n-o-r-e i-t".
    fn mark(&mut self, length: usize, blank: bool, read: &mut Vec<Letter>) {
        match self.count {
            0 => {}
            _ if length > GAP => self.close(read),
            1 => (self.gap, self.blank) = (length, blank),
            _ if blank && !self.blank => self.close(read),
            _ if length > self.gap => self.close(read),
            2 if length < self.gap || self.blank && !blank => {
                // The first letter stood alone: "a  i g n o r e", "a n-i-c-e".
                (self.start, self.count) = (read.len() - 1, 1);
                (self.gap, self.blank) = (length, blank);
            }
            _ => {}
        }
    }

    fn close(&mut self, read: &mut Vec<Letter>) {
        let enough = if self.follows || !self.blank { SPREAD_NEXT } else { SPREAD };
        if self.count >= enough {
            let run = read.split_off(self.start);
            let ends_open = run.last().filter(|letter| !letter.c.is_alphanumeric()).cloned();
            read.extend(run.into_iter().filter(|letter| letter.c.is_alphanumeric()));
            read.extend(ends_open);
            self.follows = true;
        }
        self.count = 0;
    }
}
