//! What of a segment is deleted, with exact corrections for its statistics.

use std::collections::HashMap;

use super::bits::Bits;
use super::frequencies::Lengths;
use super::segment::Segment;

/// What is dead of a class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeadClass {
    pub(crate) chunks: u64,
    pub(crate) vectors: u64,
    pub(crate) lengths: Lengths<u64>,
}

/// The dead documents of one segment, as of one generation. Copied when more die.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tombstones {
    documents: Bits,
    chunks: Bits,
    dead_documents: usize,
    dead_weight: usize,
    classes: HashMap<u32, DeadClass>,
    /// By term and class: how many dead chunks hold the term.
    frequencies: HashMap<(u32, u32), u32>,
}

impl Tombstones {
    /// Marks a document and its chunks as dead.
    pub(crate) fn bury(&mut self, segment: &Segment, document: u32) {
        let Some(entry) = segment.documents().get(document as usize) else { return };
        if !self.documents.set(document) {
            return;
        }
        self.dead_documents += 1;
        self.dead_weight += 1;
        let class = self.classes.entry(entry.class).or_default();
        for at in entry.chunks.clone() {
            let Some(chunk) = segment.chunks().get(at as usize) else { continue };
            self.chunks.set(at);
            class.chunks += 1;
            class.vectors += u64::from(segment.matrix().row_of(at).is_some());
            class.lengths.add(chunk.lengths);
            let terms = segment.terms_of(at);
            self.dead_weight += 1 + terms.len();
            for term in terms {
                *self.frequencies.entry((*term, entry.class)).or_default() += 1;
            }
        }
    }

    pub(crate) fn has_document(&self, document: u32) -> bool {
        self.documents.has(document)
    }

    #[inline]
    pub(crate) fn has_chunk(&self, chunk: u32) -> bool {
        self.chunks.has(chunk)
    }

    /// How many documents are dead.
    pub(crate) fn documents(&self) -> usize {
        self.dead_documents
    }

    /// How much of the segment's weight is dead.
    pub(crate) fn weight(&self) -> usize {
        self.dead_weight
    }

    /// The classes that have dead documents, in no particular order.
    pub(crate) fn classes(&self) -> impl Iterator<Item = (u32, &DeadClass)> {
        self.classes.iter().map(|(class, dead)| (*class, dead))
    }

    /// How many dead chunks of a class hold a term.
    pub(crate) fn frequency(&self, term: u32, class: u32) -> u64 {
        self.frequencies.get(&(term, class)).copied().map_or(0, u64::from)
    }
}
