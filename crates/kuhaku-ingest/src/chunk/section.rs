//! The sections of a text: what stands under one heading.

use std::ops::Range;

use crate::load::{Block, BlockKind};

/// What stands under one heading, up to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// Its bytes, headings included.
    pub(crate) range: Range<usize>,
    /// Where the headings at its beginning end.
    pub(crate) headings_end: usize,
    /// The headings that it stands under, outermost first.
    pub(crate) path: Vec<String>,
}

/// Cuts a text at its headings. A heading with nothing of its own below it begins the section of
/// the deeper heading that follows; without one, it is a section by itself, so that its words are
/// kept. Sections are made one by one: each holds its own copy of its headings.
pub(crate) fn sections<'t>(
    text: &'t str,
    blocks: &'t [Block],
) -> impl Iterator<Item = Section> + 't {
    let mut blocks = blocks.iter();
    let mut open: Vec<(u8, &str)> = Vec::new();
    let mut start = 0;
    let mut headings_end = 0;
    let mut done = false;
    std::iter::from_fn(move || {
        for block in blocks.by_ref() {
            let BlockKind::Heading { level, text: words } = &block.kind else { continue };
            let at = block.range.start.max(headings_end);
            let has_words =
                |range: Range<usize>| text.get(range).is_some_and(|s| !s.trim().is_empty());
            let deeper = open.last().is_none_or(|(last, _)| level > last);
            let mut ended = None;
            if has_words(headings_end..at) || (has_words(start..at) && !deeper) {
                ended = Some(section(start..at, headings_end, &open));
                start = at;
            }
            open.retain(|(outer, _)| outer < level);
            open.push((*level, words));
            headings_end = block.range.end.max(at);
            if ended.is_some() {
                return ended;
            }
        }
        (!std::mem::replace(&mut done, true))
            .then(|| section(start..text.len(), headings_end, &open))
    })
}

fn section(range: Range<usize>, headings_end: usize, open: &[(u8, &str)]) -> Section {
    let path = open.iter().map(|(_, words)| (*words).to_owned()).filter(|words| !words.is_empty());
    Section { range, headings_end, path: path.collect() }
}
