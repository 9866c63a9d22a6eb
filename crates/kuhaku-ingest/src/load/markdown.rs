//! The parts of a Markdown text, by a CommonMark parser.

use std::ops::Range;

use kuhaku_core::one_line;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::block::{Block, BlockKind};
use super::title::LONGEST;

/// How deep quotes and lists may nest. The parser walks all open containers on each line, so depth
/// times lines bounds its time.
const MAX_DEPTH: usize = 100;

/// The top-level blocks in the order of the text, or `None` when it is nested too deeply.
pub(crate) fn blocks(text: &str) -> Option<Vec<Block>> {
    if text.lines().any(|line| nesting(line) > MAX_DEPTH) {
        return None;
    }
    let mut blocks = Vec::new();
    let mut depth = 0_usize;
    let mut heading: Option<(u8, String)> = None;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    match tag {
                        Tag::Heading { level, .. } => heading = Some((level as u8, String::new())),
                        tag => push(&mut blocks, kind_of(&tag), text, range),
                    }
                }
                depth += 1;
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                if matches!(tag, TagEnd::Heading(_))
                    && depth == 0
                    && let Some((level, words)) = heading.take()
                {
                    let kind = BlockKind::Heading { level, text: one_line(&words, LONGEST) };
                    push(&mut blocks, kind, text, range);
                }
            }
            event => match &mut heading {
                Some((_, words)) => push_words(words, &event),
                None if depth == 0 => push(&mut blocks, BlockKind::Other, text, range),
                None => {}
            },
        }
    }
    Some(blocks)
}

/// The words of a heading that stands alone, without markup, in one line.
pub(crate) fn words(heading: &str) -> String {
    let mut words = String::new();
    Parser::new(heading).for_each(|event| push_words(&mut words, &event));
    one_line(&words, LONGEST)
}

fn push_words(words: &mut String, event: &Event<'_>) {
    match event {
        Event::Text(part) | Event::Code(part) => words.push_str(part),
        Event::SoftBreak | Event::HardBreak => words.push(' '),
        _ => {}
    }
}

fn push(blocks: &mut Vec<Block>, kind: BlockKind, text: &str, range: Range<usize>) {
    let part = text.get(range.clone()).unwrap_or_default();
    let start = range.start + (part.len() - part.trim_start().len());
    let end = start + part.trim().len();
    if start < end {
        blocks.push(Block { kind, range: start..end });
    }
}

fn kind_of(tag: &Tag<'_>) -> BlockKind {
    match tag {
        Tag::Paragraph => BlockKind::Paragraph,
        Tag::List(_) => BlockKind::List,
        Tag::CodeBlock(_) => BlockKind::Code,
        Tag::Table(_) => BlockKind::Table,
        Tag::BlockQuote(_) => BlockKind::Quote,
        _ => BlockKind::Other,
    }
}

/// How many containers a line could be inside of, at most: a quote takes a `>`, a list item takes
/// two columns or a marker and a space.
fn nesting(line: &str) -> usize {
    let (mut columns, mut depth) = (0, 0);
    let mut marker = false;
    for byte in line.bytes() {
        match byte {
            b' ' | b'\t' => {
                columns += if byte == b' ' { 1 } else { 4 };
                depth += usize::from(marker);
                marker = false;
            }
            b'>' => depth += 1,
            b'-' | b'+' | b'*' | b'.' | b')' => marker = true,
            b'0'..=b'9' => {}
            _ => break,
        }
    }
    // White space alone opens nothing: a line of code may be indented as far as it likes.
    if depth == 0 { 0 } else { depth + columns / 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<(BlockKind, &str)> {
        let blocks = blocks(text).unwrap();
        blocks.into_iter().map(|block| (block.kind, &text[block.range])).collect()
    }

    #[test]
    fn blocks_carry_their_kind_and_their_bytes() {
        let text = "# A *b* `c` #\n\npara\nmore\n\n- x\n- y\n\n```sh\n# no heading\n```\n\n> q\n\n\
                    | a | b |\n|---|---|\n| 1 | 2 |\n\nSetext\n===\n\n<div>x</div>\n";
        let heading = |level, text: &str| BlockKind::Heading { level, text: text.into() };
        let expected = [
            (heading(1, "A b c"), "# A *b* `c` #"),
            (BlockKind::Paragraph, "para\nmore"),
            (BlockKind::List, "- x\n- y"),
            (BlockKind::Code, "```sh\n# no heading\n```"),
            (BlockKind::Quote, "> q"),
            (BlockKind::Table, "| a | b |\n|---|---|\n| 1 | 2 |"),
            (heading(1, "Setext"), "Setext\n==="),
            (BlockKind::Other, "<div>x</div>"),
        ];
        assert_eq!(parts(text), expected);
    }

    #[test]
    fn headings_inside_quotes_and_lists_are_not_headings_of_the_text() {
        let kinds: Vec<_> = parts("> # q\n\n- # item\n").into_iter().map(|part| part.0).collect();
        assert_eq!(kinds, [BlockKind::Quote, BlockKind::List]);
    }

    #[test]
    fn what_is_nested_beyond_reason_is_not_parsed() {
        for deep in [">".repeat(100_000), "- ".repeat(50_000), " ".repeat(300) + "- x"] {
            assert_eq!(blocks(&deep), None);
        }
        for fine in ["-".repeat(500), " ".repeat(500) + "code", "a > b ".repeat(500)] {
            assert!(blocks(&fine).is_some(), "{}", &fine[..10]);
        }
    }
}
