//! The pieces that chunks are packed from: words as a rule, parts of words where a word is too long.

use unicode_segmentation::{GraphemeIndices, UnicodeSegmentation as _};

use super::script::{begins_item, ends_sentence, is_unspaced, joined};
use super::segments::{Segment, Segments};
use super::size::{ChunkSize, ChunkUnit};

/// How good it is to break before a piece, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Border {
    /// Inside a word that is larger than a chunk.
    Cluster,
    /// Inside a run without white space that is larger than a chunk.
    Inner,
    /// Between words.
    Word,
    /// Between sentences, items of a list or rows of a table.
    Sentence,
    /// Between paragraphs.
    Paragraph,
}

/// A stretch of text that is never cut. No larger than a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Its bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Units from the beginning of the section to its two ends.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// What lies before it.
    pub(crate) border: Border,
}

/// The pieces of a section, made one by one so that memory does not grow with the section.
pub(crate) struct Pieces<'t> {
    text: &'t str,
    size: ChunkSize,
    at: usize,
    end: usize,
    /// Units up to `at`.
    units: usize,
    /// Up to here there are headings, which shall stay with what follows them.
    headings_end: usize,
    run: Option<Run<'t>>,
    long: Option<Long<'t>>,
}

/// A run without white space that is taken apart.
struct Run<'t> {
    segments: std::iter::Peekable<Segments<'t>>,
    /// What lies before its next piece, when that is its first.
    first: Option<Border>,
    /// It is larger than a chunk.
    oversize: bool,
    /// The last character taken from it.
    last: char,
    /// What was taken last ends a sentence.
    sentence: bool,
}

/// A segment larger than a chunk, taken apart by grapheme clusters.
struct Long<'t> {
    start: usize,
    clusters: GraphemeIndices<'t>,
    /// A cluster larger than a chunk, taken apart by characters.
    characters: Option<(usize, std::str::CharIndices<'t>)>,
    /// What lies before its next piece, when that is its first.
    first: Option<Border>,
}

impl<'t> Pieces<'t> {
    /// The pieces of `text[range]`. Up to `headings_end` there are headings.
    pub(crate) fn new(
        text: &'t str,
        range: std::ops::Range<usize>,
        headings_end: usize,
        size: ChunkSize,
    ) -> Self {
        let (at, end) = (range.start, range.end);
        Self { text, size, at, end, units: 0, headings_end, run: None, long: None }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    fn piece(&mut self, start: usize, end: usize, units: usize, border: Border) -> Piece {
        let from = self.units;
        self.units += units;
        Piece { start, end, from, to: self.units, border }
    }

    /// Passes white space and begins the next run; its only piece when it need not be taken apart.
    fn next_run(&mut self) -> Option<Piece> {
        let before = self.at;
        let rest = self.rest();
        let gap = gap_len(rest);
        let (gap, rest) = rest.split_at(gap);
        if rest.is_empty() {
            return None;
        }
        if self.size.unit() == ChunkUnit::Characters {
            self.units += gap.chars().count();
        }
        let run = rest.get(..run_len(rest)).unwrap_or(rest);
        let start = before + gap.len();
        self.at = start + run.len();
        let border = self.border(before, gap, rest);
        let units = units_up_to(run, self.size);
        let oversize = units > self.size.size();
        if !oversize && !run.chars().any(is_unspaced) {
            return Some(self.piece(start, self.at, units, border));
        }
        self.run = Some(Run {
            segments: Segments::new(run, start).peekable(),
            first: Some(border),
            oversize,
            last: ' ',
            sentence: false,
        });
        None
    }

    fn border(&self, before: usize, gap: &str, rest: &str) -> Border {
        if self.headings_end > 0 && before <= self.headings_end {
            return Border::Word;
        }
        let newlines = gap.bytes().filter(|byte| *byte == b'\n').count();
        if newlines > 1 || gap.contains('\u{c}') {
            return Border::Paragraph;
        }
        let so_far = self.text.get(..before).unwrap_or_default();
        if ends_sentence(so_far) || (newlines == 1 && begins_item(rest)) {
            return Border::Sentence;
        }
        Border::Word
    }

    fn next_of_run(&mut self) -> Option<Piece> {
        let run = self.run.as_mut()?;
        let Segment { start, text } = run.segments.next()?;
        let first = text.chars().next()?;
        let border = run.first.take().unwrap_or(if !breaks_between(run.last, first) {
            Border::Inner
        } else if run.sentence {
            Border::Sentence
        } else {
            Border::Word
        });
        let mut end = start + text.len();
        run.last = text.chars().next_back().unwrap_or(first);
        if !run.oversize {
            // Only a place between words may break: take along what is glued to this segment.
            while let Some(next) = run.segments.peek()
                && !next.text.chars().next().is_some_and(|next| breaks_between(run.last, next))
            {
                end = next.end();
                run.last = next.text.chars().next_back().unwrap_or(run.last);
                run.segments.next();
            }
        }
        let taken = self.text.get(start..end).unwrap_or_default();
        run.sentence = ends_sentence(taken);
        let units = units_up_to(taken, self.size);
        if units <= self.size.size() {
            return Some(self.piece(start, end, units, border));
        }
        let clusters = taken.grapheme_indices(true);
        self.long = Some(Long { start, clusters, characters: None, first: Some(border) });
        None
    }

    fn next_of_long(&mut self) -> Option<Piece> {
        let long = self.long.as_mut()?;
        loop {
            if let Some((start, characters)) = &mut long.characters {
                if let Some((at, c)) = characters.next() {
                    if c.is_whitespace() {
                        self.units += 1;
                        continue;
                    }
                    let start = *start + at;
                    let border = long.first.take().unwrap_or(Border::Cluster);
                    return Some(self.piece(start, start + c.len_utf8(), 1, border));
                }
                long.characters = None;
            }
            let (at, cluster) = long.clusters.next()?;
            let start = long.start + at;
            let units = cluster.chars().count();
            if units <= self.size.size() {
                let border = long.first.take().unwrap_or(Border::Cluster);
                return Some(self.piece(start, start + cluster.len(), units, border));
            }
            long.characters = Some((start, cluster.char_indices()));
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        loop {
            if let Some(piece) = self.next_of_long() {
                return Some(piece);
            }
            self.long = None;
            if let Some(piece) = self.next_of_run() {
                return Some(piece);
            }
            if self.long.is_some() {
                continue;
            }
            self.run = None;
            if let Some(piece) = self.next_run() {
                return Some(piece);
            }
            self.run.as_ref()?;
        }
    }
}

/// Whether a place inside a run is one between words: scripts without spaces break before a letter.
fn breaks_between(before: char, after: char) -> bool {
    after.is_alphanumeric() && (is_unspaced(before) || is_unspaced(after))
}

/// The units of a text without white space; counted no further than needed to see that it is larger
/// than a chunk.
fn units_up_to(text: &str, size: ChunkSize) -> usize {
    let enough = size.size().saturating_add(1);
    match size.unit() {
        ChunkUnit::Characters => text.chars().take(enough).count(),
        ChunkUnit::Tokens => Segments::new(text, 0).take(enough).count(),
    }
}

/// Bytes of white space at the beginning of a text. A space that carries an accent is none.
fn gap_len(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let carries = characters.peek().is_some_and(|(_, next)| joined(c, *next));
        if !c.is_whitespace() || carries {
            return at;
        }
    }
    text.len()
}

/// Bytes up to the next white space in a text that begins with none.
fn run_len(text: &str) -> usize {
    let mut before = None;
    for (at, c) in text.char_indices() {
        if c.is_whitespace() && before.is_some_and(|before| !joined(before, c)) {
            return at;
        }
        before = Some(c);
    }
    text.len()
}
