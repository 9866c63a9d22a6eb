//! The parts of plain text: paragraphs between blank lines, pages between form feeds.

use super::block::{Block, BlockKind};

/// Paragraphs: runs of lines that are not blank.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at + (line.len() - line.trim_start().len());
        let end = at + line.trim_end().len();
        at += line.len();
        if start >= end {
            open = false;
        } else if open && let Some(last) = blocks.last_mut() {
            last.range.end = end;
        } else {
            blocks.push(Block { kind: BlockKind::Paragraph, range: start..end });
            open = true;
        }
    }
    blocks
}

/// Where pages begin. Empty when no form feed says that there are pages.
pub(crate) fn page_starts(text: &str) -> Vec<usize> {
    let breaks: Vec<usize> = text.match_indices('\u{c}').map(|(at, _)| at + 1).collect();
    if breaks.is_empty() { breaks } else { std::iter::once(0).chain(breaks).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_end_at_lines_without_words() {
        let text = "one\ntwo\n \t\n  three  \n\n\nfour";
        let parts: Vec<&str> = blocks(text).iter().map(|b| &text[b.range.clone()]).collect();
        assert_eq!(parts, ["one\ntwo", "three", "four"]);
    }

    #[test]
    fn form_feeds_begin_pages() {
        assert_eq!(page_starts("no pages"), [0_usize; 0]);
        assert_eq!(page_starts("one\u{c}two\u{c}three"), [0, 4, 8]);
    }
}
