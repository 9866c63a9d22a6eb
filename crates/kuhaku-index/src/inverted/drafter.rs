//! Counting the terms of chunks, with what is known of words from the texts before.

use std::sync::{Arc, Mutex, PoisonError};

use super::draft::{ChunkTerms, Draft};
use super::frequencies::Frequencies;
use super::segment::Segment;
use crate::analysis::{Analyzer, TermCache};
use crate::document::{ChunkRecord, DocumentRecord};

#[derive(Clone, Copy)]
enum Field {
    Heading,
    Body,
    Extra,
}

/// A draft, and what it takes to count terms for it.
#[derive(Debug)]
pub(crate) struct Drafter {
    analyzer: Arc<Analyzer>,
    cache: TermCache,
    pub(crate) draft: Draft,
    /// By term number: its place among the entries of the chunk that last held it.
    places: Vec<u32>,
}

impl Drafter {
    /// Knows no word yet.
    pub(crate) fn new(analyzer: Arc<Analyzer>) -> Self {
        Self { analyzer, cache: TermCache::default(), draft: Draft::default(), places: Vec::new() }
    }

    /// Counts a chunk of a document, by the numbers of the draft.
    pub(crate) fn count(&mut self, document: &DocumentRecord, chunk: &ChunkRecord) -> ChunkTerms {
        let mut terms = ChunkTerms::default();
        self.field(Field::Heading, &document.title, &mut terms);
        for heading in &chunk.headings {
            self.field(Field::Heading, heading, &mut terms);
        }
        self.field(Field::Body, document.chunk_text(chunk), &mut terms);
        self.field(Field::Extra, &chunk.extra, &mut terms);
        terms
    }

    fn field(&mut self, field: Field, text: &str, terms: &mut ChunkTerms) {
        let Self { analyzer, cache, draft, places } = self;
        let ChunkTerms { lengths, entries } = terms;
        cache.each(analyzer, text, &mut |term| draft.number(term), &mut |term, part| {
            if !part {
                match field {
                    Field::Heading => lengths.heading += 1,
                    Field::Body => lengths.body += 1,
                    Field::Extra => lengths.extra += 1,
                }
            }
            if places.len() <= term as usize {
                places.resize(term as usize + 1, 0);
            }
            let Some(place) = places.get_mut(term as usize) else { return };
            // Places of other chunks have other terms here, or none.
            if entries.get(*place as usize).is_none_or(|(there, _)| *there != term) {
                *place = entries.len() as u32;
                entries.push((term, Frequencies::default()));
            }
            let Some((_, tf)) = entries.get_mut(*place as usize) else { return };
            match field {
                Field::Heading => tf.heading = tf.heading.saturating_add(1),
                Field::Body => tf.body = tf.body.saturating_add(1),
                Field::Extra => tf.extra = tf.extra.saturating_add(1),
            }
        });
    }
}

/// Drafters that wait for documents, one per thread that had some. Of one analyzer.
#[derive(Debug)]
pub(crate) struct Drafters {
    pub(super) analyzer: Arc<Analyzer>,
    idle: Mutex<Vec<Drafter>>,
}

impl Drafters {
    /// None yet.
    pub(crate) fn new(analyzer: Analyzer) -> Self {
        Self { analyzer: Arc::new(analyzer), idle: Mutex::default() }
    }

    /// Lends a drafter to `work`, and gives what it has drafted.
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut Drafter) -> R) -> (R, Option<Segment>) {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut drafter = idle.unwrap_or_else(|| Drafter::new(Arc::clone(&self.analyzer)));
        let result = work(&mut drafter);
        let segment = drafter.draft.finish();
        // Numbers of words that no cache remembers are of no use.
        if drafter.draft.terms() < TermCache::CAPACITY {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(drafter);
        }
        (result, segment)
    }
}
