//! Postings by term, in blocks that know what the best of them could score.
//!
//! Document frequencies and the average length differ by scope, so blocks hold no scores: the highest
//! frequencies and the least lengths, from which a query takes its bounds (Ding and Suel 2011, with
//! the bounds taken late).

use super::frequencies::{Frequencies, Lengths};

/// Postings per block.
pub(crate) const BLOCK: usize = 128;

/// What is known of up to [`BLOCK`] postings without reading them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// The last chunk.
    pub(crate) last: u32,
    /// Per field, the highest frequency of any of them.
    pub(crate) most: Frequencies,
    /// Per field, the least length of any of their chunks.
    pub(crate) least: Lengths<u32>,
}

/// The postings of one term, by ascending chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct List<'a> {
    pub(crate) chunks: &'a [u32],
    pub(crate) frequencies: &'a [Frequencies],
    pub(crate) blocks: &'a [Block],
}

/// The postings of a segment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Postings {
    /// Per term: where its postings begin; one more at the end.
    pub(super) starts: Vec<u32>,
    pub(super) chunks: Vec<u32>,
    pub(super) frequencies: Vec<Frequencies>,
    /// Per term: where its blocks begin; one more at the end.
    pub(super) block_starts: Vec<u32>,
    pub(super) blocks: Vec<Block>,
}

impl Postings {
    /// Room for so many.
    pub(super) fn with_room(postings: usize) -> Self {
        Self {
            starts: vec![0],
            chunks: vec![0; postings],
            frequencies: vec![Frequencies::default(); postings],
            block_starts: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// Empty, with room for so many to be pushed.
    pub(super) fn for_pushing(postings: usize) -> Self {
        Self {
            starts: vec![0],
            chunks: Vec::with_capacity(postings),
            frequencies: Vec::with_capacity(postings),
            ..Self::default()
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Ends the list of the next term, which has so many.
    pub(super) fn end_list(&mut self, postings: u32) {
        let start = self.starts.last().copied().unwrap_or_default();
        self.starts.push(start + postings);
    }

    /// Appends a posting.
    pub(super) fn push(&mut self, chunk: u32, tf: Frequencies) {
        self.chunks.push(chunk);
        self.frequencies.push(tf);
    }

    /// Puts a posting into its place.
    pub(super) fn set(&mut self, place: u32, chunk: u32, tf: Frequencies) {
        let place = place as usize;
        if let (Some(at), Some(of)) = (self.chunks.get_mut(place), self.frequencies.get_mut(place))
        {
            (*at, *of) = (chunk, tf);
        }
    }

    /// Cuts the postings into blocks. `lengths` gives those of a chunk.
    pub(super) fn seal(&mut self, lengths: impl Fn(u32) -> Lengths<u32>) {
        self.block_starts = Vec::with_capacity(self.starts.len());
        for (start, end) in self.starts.iter().zip(self.starts.iter().skip(1)) {
            self.block_starts.push(self.blocks.len() as u32);
            let range = *start as usize..*end as usize;
            let chunks = self.chunks.get(range.clone()).unwrap_or_default();
            let frequencies = self.frequencies.get(range).unwrap_or_default();
            for (chunks, frequencies) in chunks.chunks(BLOCK).zip(frequencies.chunks(BLOCK)) {
                let least = chunks.iter().map(|chunk| lengths(*chunk)).reduce(Lengths::least);
                let most = frequencies.iter().copied().reduce(Frequencies::most);
                self.blocks.push(Block {
                    last: chunks.last().copied().unwrap_or_default(),
                    most: most.unwrap_or_default(),
                    least: least.unwrap_or_default(),
                });
            }
        }
        self.block_starts.push(self.blocks.len() as u32);
        self.blocks.shrink_to_fit();
    }

    /// The postings of a term; none for one that is not there.
    #[inline]
    pub(crate) fn list(&self, term: u32) -> List<'_> {
        let term = term as usize;
        let range = |starts: &[u32]| match starts.get(term..).unwrap_or_default() {
            [start, end, ..] => *start as usize..*end as usize,
            _ => 0..0,
        };
        let postings = range(&self.starts);
        List {
            chunks: self.chunks.get(postings.clone()).unwrap_or_default(),
            frequencies: self.frequencies.get(postings).unwrap_or_default(),
            blocks: self.blocks.get(range(&self.block_starts)).unwrap_or_default(),
        }
    }
}
