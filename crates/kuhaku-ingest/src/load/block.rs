//! The parts of a text, as its format marks them.

use std::ops::Range;

/// A top-level part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its bytes in the text, without white space at either end.
    pub range: Range<usize>,
}

/// What a [`Block`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockKind {
    /// A heading.
    Heading {
        /// From 1 for the outermost to 6.
        level: u8,
        /// Its words in one line of at most 200 characters, without markup.
        text: String,
    },
    /// Running text.
    Paragraph,
    /// A list with all of its items.
    List,
    /// Code or other preformatted text.
    Code,
    /// A table.
    Table,
    /// Quoted text.
    Quote,
    /// Anything else, such as embedded HTML.
    Other,
}
