//! Segments in the making.

use std::sync::Arc;

use kuhaku_core::AccessTags;

use super::document::Document;
use super::frequencies::{Frequencies, Lengths};
use super::postings::Postings;
use super::segment::{Chunk, Segment};
use super::terms::{Numbering, order_key};
use crate::vector::Vector;

/// The terms of one chunk, by the numbers of the draft that they were counted for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChunkTerms {
    pub(crate) lengths: Lengths<u32>,
    pub(crate) entries: Vec<(u32, Frequencies)>,
}

#[derive(Debug)]
struct DraftedDocument {
    document: Arc<Document>,
    tags: AccessTags,
    /// Places among the drafted chunks.
    chunks: std::ops::Range<usize>,
}

#[derive(Debug)]
struct DraftedChunk {
    ordinal: u32,
    lengths: Lengths<u32>,
    /// Places among the drafted entries.
    entries: std::ops::Range<usize>,
    vector: Option<Vector>,
}

/// Documents and chunks on their way into a segment. The numbers of terms stay for the next one.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    numbering: Numbering,
    documents: Vec<DraftedDocument>,
    chunks: Vec<DraftedChunk>,
    entries: Vec<(u32, Frequencies)>,
    /// The numbers of terms that entries have.
    used: Vec<u32>,
    /// By number: how many entries have it.
    counts: Vec<u32>,
}

impl Draft {
    /// The number of a term in this draft.
    pub(crate) fn number(&mut self, term: &str) -> u32 {
        self.numbering.number(term)
    }

    /// The term of a number of this draft.
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "for stored terms"))]
    pub(crate) fn term(&self, number: u32) -> &str {
        self.numbering.name(number)
    }

    /// How many terms have numbers.
    pub(super) fn terms(&self) -> usize {
        self.numbering.len()
    }

    /// Adds a document; the chunks added next are its own, in ascending order.
    pub(crate) fn document(&mut self, document: Arc<Document>, tags: AccessTags) {
        let chunks = self.chunks.len()..self.chunks.len();
        self.documents.push(DraftedDocument { document, tags, chunks });
    }

    /// Adds a chunk to the last document.
    pub(crate) fn chunk(&mut self, ordinal: u32, terms: ChunkTerms, vector: Option<Vector>) {
        let Some(document) = self.documents.last_mut() else { return };
        let ChunkTerms { lengths, entries } = terms;
        let start = self.entries.len();
        self.counts.resize(self.numbering.len(), 0);
        for (term, _) in &entries {
            let Some(count) = self.counts.get_mut(*term as usize) else { continue };
            if *count == 0 {
                self.used.push(*term);
            }
            *count += 1;
        }
        self.entries.extend(entries);
        let entries = start..self.entries.len();
        self.chunks.push(DraftedChunk { ordinal, lengths, entries, vector });
        document.chunks.end = self.chunks.len();
    }

    /// Sorts everything into a segment: documents by id, chunks by class, terms by spelling. None
    /// when no document was added.
    pub(crate) fn finish(&mut self) -> Option<Segment> {
        if self.documents.is_empty() {
            return None;
        }
        let Self { numbering, documents, chunks, entries, used, counts } = self;
        documents.sort_by(|a, b| a.document.id.cmp(&b.document.id));
        let mut classes: Vec<AccessTags> = documents.iter().map(|d| d.tags.clone()).collect();
        classes.sort();
        classes.dedup();
        let mut segment = Segment::with_classes(classes, Postings::with_room(entries.len()));

        let mut terms: Vec<(u64, &str, u32)> = used
            .drain(..)
            .map(|term| (order_key(numbering.name(term)), numbering.name(term), term))
            .collect();
        terms.sort_unstable();
        let ranks = counts;
        for (rank, (_, name, term)) in terms.iter().enumerate() {
            let Some(slot) = ranks.get_mut(*term as usize) else { continue };
            segment.terms.push(name);
            segment.postings.end_list(std::mem::replace(slot, rank as u32));
        }

        let mut by_class: Vec<(u32, u32)> = Vec::with_capacity(documents.len());
        for (place, document) in documents.iter().enumerate() {
            let class = segment.class_of(&document.tags);
            segment.push_document(Arc::clone(&document.document), class);
            by_class.push((class, place as u32));
        }
        by_class.sort_unstable();
        let mut cursors = segment.postings.starts.clone();
        for (_, place) in by_class {
            let Some(drafted) = documents.get(place as usize) else { continue };
            for chunk in chunks.get(drafted.chunks.clone()).unwrap_or_default() {
                let DraftedChunk { ordinal, lengths, .. } = *chunk;
                let at = segment.push_chunk(Chunk { document: place, ordinal, lengths });
                if let Some(vector) = &chunk.vector {
                    segment.matrix.push(at, vector.clone());
                }
                for (term, tf) in entries.get(chunk.entries.clone()).unwrap_or_default() {
                    let rank = ranks.get(*term as usize).copied().unwrap_or(u32::MAX);
                    let Some(cursor) = cursors.get_mut(rank as usize) else { continue };
                    segment.postings.set(*cursor, at, *tf);
                    *cursor += 1;
                }
            }
        }
        segment.seal();
        for (.., term) in terms {
            if let Some(slot) = ranks.get_mut(term as usize) {
                *slot = 0;
            }
        }
        documents.clear();
        chunks.clear();
        entries.clear();
        Some(segment)
    }
}
