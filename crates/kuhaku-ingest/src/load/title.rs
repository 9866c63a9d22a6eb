//! What a document is called.

use std::path::Path;

use kuhaku_core::one_line;

use super::block::{Block, BlockKind};

/// How many characters of a first line make a title.
const FROM_TEXT: usize = 80;

/// The longest title or heading, in characters. It is repeated on every chunk, so a heading of a
/// megabyte must not be taken whole.
pub(crate) const LONGEST: usize = 200;

/// The label of a line that states when a document holds; no title.
pub(crate) const METADATA_LABEL: &str = "**Metadata";

/// The title of a document: the stated one; else its first heading of level 1, or a heading that
/// opens it; else its first line, up to 80 characters; else its file name without the suffix.
///
/// Always one line.
pub(crate) fn title(stated: Option<&str>, blocks: &[Block], text: &str, name: &str) -> String {
    let stated = stated.map(|title| one_line(title, LONGEST));
    let candidates = [stated, heading(blocks, text), first_line(text)];
    let found = candidates.into_iter().flatten().find(|title| !title.is_empty());
    found.unwrap_or_else(|| stem(name))
}

/// The file name without folders and suffix, in one line.
pub(crate) fn stem(name: &str) -> String {
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name);
    one_line(stem, LONGEST)
}

fn heading(blocks: &[Block], text: &str) -> Option<String> {
    let outermost = blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Heading { level: 1, text } => Some(text.clone()),
        _ => None,
    });
    let mut worded = blocks.iter().filter(|block| {
        let part = text.get(block.range.clone()).unwrap_or_default();
        block.kind != BlockKind::Other && !part.starts_with(METADATA_LABEL)
    });
    outermost.or_else(|| match &worded.next()?.kind {
        BlockKind::Heading { text, .. } => Some(text.clone()),
        _ => None,
    })
}

fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| {
        !line.trim_matches('#').trim().is_empty() && !line.starts_with(METADATA_LABEL)
    })?;
    let unmarked = if line.starts_with('#') { line.trim_matches('#').trim() } else { line };
    // White space is going to shrink; a few times as much is read, and not a line of a megabyte.
    let head: String = unmarked.chars().take(4 * FROM_TEXT).collect();
    Some(one_line(&head, usize::MAX).chars().take(FROM_TEXT).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{markdown, plain};

    /// ING-01
    #[test]
    fn titles_come_from_the_best_place_there_is() {
        let long = format!("plain {}", "x".repeat(100));
        let cases = [
            ("# Title\n\nBody", "Title"),
            ("## Title ##\n\nBody", "Title"),
            ("A badge\n\n# Title\n", "Title"),
            ("plain text\n\n## Later\n", "plain text"),
            ("**Metadata:** obsolete: true\n\n## Title\n", "Title"),
            ("**Metadata:** obsolete: true\n\nplain", "plain"),
            (long.as_str(), &long[..80]),
            ("", "notes"),
            ("#\n", "notes"),
        ];
        for (text, expected) in cases {
            let blocks = markdown::blocks(text).unwrap();
            assert_eq!(title(None, &blocks, text, "in/notes.md"), expected, "{text:?}");
        }
        assert_eq!(title(Some(" Stated\n"), &[], "text", "a.md"), "Stated");
        assert_eq!(title(Some(" "), &[], "text", "a.md"), "text");
    }

    /// ING-01
    #[test]
    fn the_hashes_of_a_plain_text_are_stripped_at_both_ends() {
        let text = "# Title #\n\nBody";
        assert_eq!(title(None, &plain::blocks(text), text, "a.txt"), "Title");
    }
}
