//! Segments in the making.

use std::sync::Arc;

use kuhaku_core::AccessTags;

use super::document::Document;
use super::frequencies::{Frequencies, Lengths};
use super::postings::Postings;
use super::segment::{Chunk, Segment};
use super::terms::Numbering;
use crate::analysis::{Analyzer, TermCache};
use crate::document::{ChunkRecord, DocumentRecord};

/// The terms of one chunk, by the numbers of the draft that they were counted for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChunkTerms {
    pub(crate) lengths: Lengths<u32>,
    pub(crate) entries: Vec<(u32, Frequencies)>,
}

#[derive(Clone, Copy)]
enum Field {
    Heading,
    Body,
    Extra,
}

/// Counts the terms of chunks.
#[derive(Debug)]
pub(crate) struct Analysis<'a> {
    cache: TermCache<'a>,
    /// By term number: the chunk that last held it (from 1), and its place among the entries.
    places: Vec<(u32, u32)>,
    chunk: u32,
}

impl<'a> Analysis<'a> {
    pub(crate) fn new(analyzer: &'a Analyzer) -> Self {
        Self { cache: TermCache::new(analyzer), places: Vec::new(), chunk: 0 }
    }

    /// Counts a chunk of a document. All chunks counted by one analysis go to one draft.
    pub(crate) fn count(
        &mut self,
        draft: &mut Draft,
        document: &DocumentRecord,
        chunk: &ChunkRecord,
    ) -> ChunkTerms {
        self.chunk += 1;
        let mut terms = ChunkTerms::default();
        self.field(draft, Field::Heading, &document.title, &mut terms);
        for heading in &chunk.headings {
            self.field(draft, Field::Heading, heading, &mut terms);
        }
        self.field(draft, Field::Body, document.chunk_text(chunk), &mut terms);
        self.field(draft, Field::Extra, &chunk.extra, &mut terms);
        terms
    }

    fn field(&mut self, draft: &mut Draft, field: Field, text: &str, terms: &mut ChunkTerms) {
        let Self { cache, places, chunk } = self;
        let ChunkTerms { lengths, entries } = terms;
        let numbering = &mut draft.numbering;
        cache.each(text, &mut |term| numbering.number(term), &mut |term, part| {
            if !part {
                match field {
                    Field::Heading => lengths.heading += 1,
                    Field::Body => lengths.body += 1,
                    Field::Extra => lengths.extra += 1,
                }
            }
            if places.len() <= term as usize {
                places.resize(term as usize + 1, (0, 0));
            }
            let Some(place) = places.get_mut(term as usize) else { return };
            if place.0 != *chunk {
                *place = (*chunk, entries.len() as u32);
                entries.push((term, Frequencies::default()));
            }
            let Some((_, tf)) = entries.get_mut(place.1 as usize) else { return };
            match field {
                Field::Heading => tf.heading = tf.heading.saturating_add(1),
                Field::Body => tf.body = tf.body.saturating_add(1),
                Field::Extra => tf.extra = tf.extra.saturating_add(1),
            }
        });
    }
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
}

/// Documents and chunks on their way into a segment.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(super) numbering: Numbering,
    documents: Vec<DraftedDocument>,
    chunks: Vec<DraftedChunk>,
    entries: Vec<(u32, Frequencies)>,
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

    /// Adds a document; the chunks added next are its own, in ascending order.
    pub(crate) fn document(&mut self, document: Arc<Document>, tags: AccessTags) {
        let chunks = self.chunks.len()..self.chunks.len();
        self.documents.push(DraftedDocument { document, tags, chunks });
    }

    /// Adds a chunk to the last document.
    pub(crate) fn chunk(
        &mut self,
        ordinal: u32,
        lengths: Lengths<u32>,
        entries: impl IntoIterator<Item = (u32, Frequencies)>,
    ) {
        let Some(document) = self.documents.last_mut() else { return };
        let start = self.entries.len();
        self.entries.extend(entries);
        self.chunks.push(DraftedChunk { ordinal, lengths, entries: start..self.entries.len() });
        document.chunks.end = self.chunks.len();
    }

    /// Adds all of another draft behind what is here.
    pub(super) fn append(&mut self, other: Self) {
        let Self { numbering, documents, chunks, entries } = other;
        let numbers: Vec<u32> =
            (0..numbering.len() as u32).map(|n| self.number(numbering.name(n))).collect();
        let (chunk, entry) = (self.chunks.len(), self.entries.len());
        let shifted = |range: std::ops::Range<usize>, by| range.start + by..range.end + by;
        self.documents.extend(documents.into_iter().map(|document| DraftedDocument {
            chunks: shifted(document.chunks, chunk),
            ..document
        }));
        self.chunks.extend(
            chunks
                .into_iter()
                .map(|chunk| DraftedChunk { entries: shifted(chunk.entries, entry), ..chunk }),
        );
        self.entries.extend(
            entries.into_iter().filter_map(|(term, tf)| Some((*numbers.get(term as usize)?, tf))),
        );
    }

    /// True when no document was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Sorts everything into a segment: documents by id, chunks by class, terms by spelling.
    pub(crate) fn finish(self) -> Segment {
        let Self { numbering, mut documents, chunks, entries } = self;
        documents.sort_by(|a, b| a.document.id.cmp(&b.document.id));
        let mut classes: Vec<AccessTags> = documents.iter().map(|d| d.tags.clone()).collect();
        classes.sort();
        classes.dedup();

        let mut counts = vec![0_u32; numbering.len()];
        for (term, _) in &entries {
            if let Some(count) = counts.get_mut(*term as usize) {
                *count += 1;
            }
        }
        let mut order: Vec<u32> = (0..numbering.len() as u32)
            .filter(|term| counts.get(*term as usize).is_some_and(|count| *count > 0))
            .collect();
        order.sort_unstable_by(|a, b| numbering.name(*a).cmp(numbering.name(*b)));
        let mut ranks = vec![0_u32; numbering.len()];
        let mut segment = Segment::with_classes(classes, Postings::with_room(entries.len()));
        for (rank, term) in order.iter().enumerate() {
            if let Some(place) = ranks.get_mut(*term as usize) {
                *place = rank as u32;
            }
            segment.push_term(
                numbering.name(*term),
                counts.get(*term as usize).copied().unwrap_or_default(),
            );
        }

        let mut by_class: Vec<(u32, u32)> = Vec::with_capacity(documents.len());
        for (place, document) in documents.iter().enumerate() {
            let class = segment.class_of(&document.tags);
            segment.push_document(Arc::clone(&document.document), class);
            by_class.push((class, place as u32));
        }
        by_class.sort_unstable();
        for (_, place) in by_class {
            let Some(drafted) = documents.get(place as usize) else { continue };
            for chunk in chunks.get(drafted.chunks.clone()).unwrap_or_default() {
                let entries = entries.get(chunk.entries.clone()).unwrap_or_default();
                let lengths = chunk.lengths;
                segment.push_chunk(
                    Chunk { document: place, ordinal: chunk.ordinal, lengths },
                    entries.iter().filter_map(|(term, tf)| {
                        ranks.get(*term as usize).map(|rank| (*rank, *tf))
                    }),
                );
            }
        }
        segment.seal();
        segment
    }
}
