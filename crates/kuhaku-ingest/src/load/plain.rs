//! The parts of plain text: paragraphs between blank lines, the headings above some of them, pages
//! between form feeds.

use std::ops::Range;

use super::block::{Block, BlockKind};
use super::plain_heading::{PlainHeading, plain_heading};

/// Paragraphs, which are runs of lines that are not blank, and headings.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Paragraph> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at + (line.len() - line.trim_start().len());
        let end = at + line.trim_end().len();
        if start >= end {
            open.take().into_iter().for_each(|paragraph| paragraph.push(text, &mut blocks));
        } else if let Some(paragraph) = &mut open {
            paragraph.range.end = end;
        } else {
            open = Some(Paragraph { line: at, range: start..end });
        }
        at += line.len();
    }
    open.into_iter().for_each(|paragraph| paragraph.push(text, &mut blocks));
    blocks
}

/// A run of lines that are not blank.
struct Paragraph {
    /// Where its first line begins.
    line: usize,
    /// Its bytes, without white space at either end.
    range: Range<usize>,
}

impl Paragraph {
    fn push(self, text: &str, blocks: &mut Vec<Block>) {
        let Range { mut start, end } = self.range;
        let indent = text.get(self.line..start).unwrap_or_default();
        let words = text.get(start..end).unwrap_or_default();
        if let Some(PlainHeading { level, text: title, len }) = plain_heading(indent, words) {
            let kind = BlockKind::Heading { level, text: title };
            blocks.push(Block { kind, range: start..start + len });
            let rest = text.get(start + len..end).unwrap_or_default();
            start = end - rest.trim_start().len();
        }
        if start < end {
            blocks.push(Block { kind: BlockKind::Paragraph, range: start..end });
        }
    }
}

/// Where pages begin. Empty when no form feed says that there are pages.
pub(crate) fn page_starts(text: &str) -> Vec<usize> {
    let breaks: Vec<usize> = text.match_indices('\u{c}').map(|(at, _)| at + 1).collect();
    if breaks.is_empty() { breaks } else { std::iter::once(0).chain(breaks).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<(Option<u8>, &str)> {
        let part = |block: &Block| match &block.kind {
            BlockKind::Heading { level, .. } => (Some(*level), &text[block.range.clone()]),
            _ => (None, &text[block.range.clone()]),
        };
        blocks(text).iter().map(part).collect()
    }

    #[test]
    fn paragraphs_end_at_lines_without_words() {
        let text = "one\ntwo\n \t\n  three  \n\n\nfour";
        assert_eq!(parts(text), [(None, "one\ntwo"), (None, "three"), (None, "four")]);
    }

    #[test]
    fn a_heading_is_parted_from_its_paragraph() {
        let text =
            "Cars\n====\n\n  Tyres  \n  Winter tyres are mounted in October.\n\nBrakes\n---\nsoft";
        let expected = [
            (Some(1), "Cars\n===="),
            (Some(2), "Tyres"),
            (None, "Winter tyres are mounted in October."),
            (Some(2), "Brakes\n---"),
            (None, "soft"),
        ];
        assert_eq!(parts(text), expected);
    }

    #[test]
    fn form_feeds_begin_pages() {
        assert_eq!(page_starts("no pages"), [0_usize; 0]);
        assert_eq!(page_starts("one\u{c}two\u{c}three"), [0, 4, 8]);
    }
}
