//! From a text to the ranges that are found and cited as one.

mod pack;
mod pieces;
mod script;
mod section;
mod segments;
mod size;

use std::ops::Range;

use kuhaku_core::GuardFamily;

pub use size::{ChunkSize, ChunkUnit};

pub(crate) use section::sections;

use crate::load::Block;

/// A part of a document that is found and cited as one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// Its bytes in the text. Neither end is white space.
    pub range: Range<usize>,
    /// The headings that it stands under, outermost first, its own section's heading included.
    pub headings: Vec<String>,
    /// The page on which it begins, from 1; absent when the document has no pages.
    pub page: Option<u32>,
    /// Why it must be held back from readers.
    pub quarantine: Option<GuardFamily>,
}

/// Cuts a text into chunks.
///
/// What holds for every text and size:
/// - No chunk is larger than the size, overlap included.
/// - Together the chunks hold everything but white space, in order; none lies inside another.
/// - A chunk begins and ends between words, unless a word (what stands between white space; a single
///   word where a script writes none) is larger than the size. It begins and ends between grapheme
///   clusters, unless a cluster is larger than the size.
/// - Under a heading, a chunk repeats the end of the one before: about the overlap, at least half of
///   it, less one word. Nothing is repeated across headings.
/// - The headings of a chunk are true for all of it.
///
/// ```
/// use kuhaku_ingest::{ChunkSize, Chunker, Format, load};
///
/// let document = load(b"# Tea\n\nGreen tea.\n\n## Black\n\nAssam.", Format::Markdown)?;
/// let chunks = Chunker::paragraph(ChunkSize::characters(40, 8)?).chunk(&document);
/// let texts: Vec<&str> = chunks.iter().map(|chunk| &document.text[chunk.range.clone()]).collect();
/// assert_eq!(texts, ["# Tea\n\nGreen tea.", "## Black\n\nAssam."]);
/// assert_eq!(chunks[1].headings, ["Tea", "Black"]);
/// # Ok::<(), kuhaku_ingest::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chunker {
    size: ChunkSize,
}

impl Chunker {
    /// Packs paragraphs under the same heading, and cuts only those that are too large.
    pub fn paragraph(size: ChunkSize) -> Self {
        Self { size }
    }

    /// The sizes it keeps to.
    pub fn size(&self) -> ChunkSize {
        self.size
    }

    /// Names the rules and the sizes, such as `paragraph-1:500/80:characters`. Part of an index's
    /// fingerprint (D15).
    pub fn fingerprint(&self) -> String {
        format!("paragraph-1:{}/{}:{}", self.size.size(), self.size.overlap(), self.size.unit())
    }

    /// Cuts a loaded document, into however many chunks it gives.
    pub fn chunk(&self, document: &crate::LoadedDocument) -> Vec<Chunk> {
        self.chunk_parts(&document.text, &document.blocks, &document.page_starts, usize::MAX)
    }

    /// Cuts a text whose headings and page starts are known. Goes no further than `limit` chunks.
    pub(crate) fn chunk_parts(
        &self,
        text: &str,
        blocks: &[Block],
        page_starts: &[usize],
        limit: usize,
    ) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        for section in sections(text, blocks) {
            let pieces =
                pieces::Pieces::new(text, section.range.clone(), section.headings_end, self.size);
            for range in pack::pack(pieces, self.size, limit - chunks.len()) {
                let page = page_starts.partition_point(|start| *start <= range.start);
                let page = u32::try_from(page).ok().filter(|page| *page > 0);
                let headings = section.path.clone();
                chunks.push(Chunk { range, headings, page, quarantine: None });
            }
            if chunks.len() >= limit {
                break;
            }
        }
        chunks
    }
}
