//! A segment: chunks by visibility class, postings by term and class. Immutable once sealed.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use kuhaku_core::{AccessTags, DocumentId, Scope};

use super::bits::Bits;
use super::document::Document;
use super::frequencies::Lengths;
use super::matrix::Matrix;
use super::postings::{List, Postings};
use super::terms::Terms;

/// A document of a segment.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) document: Arc<Document>,
    pub(crate) class: u32,
    /// Its chunks, by ascending ordinal.
    pub(crate) chunks: Range<u32>,
}

/// A chunk of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    pub(crate) document: u32,
    pub(crate) ordinal: u32,
    pub(crate) lengths: Lengths<u32>,
}

/// The chunks that share a set of tags.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) tags: AccessTags,
    /// Its first chunk; the others follow.
    pub(crate) start: u32,
    pub(crate) chunks: u64,
    /// How many of them have a vector.
    pub(crate) vectors: u64,
    pub(crate) lengths: Lengths<u64>,
}

/// The postings of one term in one class; they end where the next run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) class: u32,
    pub(super) start: u32,
}

/// The classes of a segment that a scope sees, and their sums.
#[derive(Debug, Default)]
pub(crate) struct Visible {
    classes: Bits,
    /// Absent when every chunk is seen.
    places: Option<Bits>,
    pub(crate) chunks: u64,
    /// How many of them have a vector.
    pub(crate) vectors: u64,
    pub(crate) lengths: Lengths<u64>,
}

impl Visible {
    /// Whether a class is seen.
    #[inline]
    pub(crate) fn has(&self, class: u32) -> bool {
        self.classes.has(class)
    }

    /// Whether a chunk is seen.
    #[inline]
    pub(crate) fn has_chunk(&self, chunk: u32) -> bool {
        self.places.as_ref().is_none_or(|places| places.has(chunk))
    }

    /// False when no chunk of a range is seen.
    pub(crate) fn may_have_chunk(&self, chunks: Range<u32>) -> bool {
        self.places.as_ref().is_none_or(|places| places.may_have(chunks))
    }
}

/// Scopes whose visible classes are remembered, at most.
const SCOPES: usize = 64;

/// See the module.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(super) documents: Vec<Entry>,
    /// In the order of classes, then documents, then ordinals.
    pub(super) chunks: Vec<Chunk>,
    /// Per chunk: how many tokens all its fields have.
    pub(super) totals: Vec<u32>,
    /// Sorted by their tags.
    pub(super) classes: Vec<Class>,
    by_tag: HashMap<String, Vec<u32>>,
    pub(super) terms: Terms,
    /// Per term: where its runs begin; one more at the end.
    pub(super) term_runs: Vec<u32>,
    pub(super) runs: Vec<Run>,
    pub(super) postings: Postings,
    /// Per chunk: where its terms begin; one more at the end.
    pub(super) chunk_terms: Vec<u32>,
    /// Per chunk: its terms, ascending.
    pub(super) forward: Vec<u32>,
    pub(super) matrix: Matrix,
    visible: Mutex<HashMap<Scope, Arc<Visible>>>,
}

impl Segment {
    /// An empty segment with these classes, sorted, and room for postings.
    pub(super) fn with_classes(classes: Vec<AccessTags>, postings: Postings) -> Self {
        let mut by_tag: HashMap<String, Vec<u32>> = HashMap::new();
        for (class, tags) in classes.iter().enumerate() {
            for tag in tags.iter() {
                by_tag.entry(tag.to_owned()).or_default().push(class as u32);
            }
        }
        let classes = classes
            .into_iter()
            .map(|tags| Class {
                tags,
                start: 0,
                chunks: 0,
                vectors: 0,
                lengths: Lengths::default(),
            })
            .collect();
        Self {
            documents: Vec::new(),
            chunks: Vec::new(),
            totals: Vec::new(),
            classes,
            by_tag,
            terms: Terms::default(),
            term_runs: Vec::new(),
            runs: Vec::new(),
            postings,
            chunk_terms: Vec::new(),
            forward: Vec::new(),
            matrix: Matrix::default(),
            visible: Mutex::default(),
        }
    }

    pub(super) fn class_of(&self, tags: &AccessTags) -> u32 {
        self.classes.partition_point(|class| class.tags < *tags) as u32
    }

    pub(super) fn push_document(&mut self, document: Arc<Document>, class: u32) {
        self.documents.push(Entry { document, class, chunks: 0..0 });
    }

    /// Adds the next chunk, in the order of classes, then documents, then ordinals; gives its place.
    pub(super) fn push_chunk(&mut self, chunk: Chunk) -> u32 {
        let place = self.chunks.len() as u32;
        let Some(entry) = self.documents.get_mut(chunk.document as usize) else { return place };
        if entry.chunks.is_empty() {
            entry.chunks = place..place;
        }
        entry.chunks.end = place + 1;
        if let Some(class) = self.classes.get_mut(entry.class as usize) {
            class.chunks += 1;
            class.lengths.add(chunk.lengths);
        }
        self.totals.push(chunk.lengths.total());
        self.chunks.push(chunk);
        place
    }

    /// Makes what follows from terms, chunks and postings: runs of one class, blocks, and the terms of
    /// each chunk.
    pub(super) fn seal(&mut self) {
        self.matrix.shrink();
        self.place_classes();
        self.cut_runs();
        let chunks = &self.chunks;
        self.postings.seal(|chunk| {
            chunks.get(chunk as usize).map_or_else(Lengths::default, |chunk| chunk.lengths)
        });
        self.turn_around();
    }

    fn cut_runs(&mut self) {
        let mut runs = Vec::new();
        let mut end = 0;
        for term in 0..self.terms.len() as u32 {
            self.term_runs.push(runs.len() as u32);
            let chunks = self.postings.list(term).chunks;
            // The first chunk that is not of the run's class.
            let mut next = 0;
            for (place, chunk) in (end..).zip(chunks) {
                if *chunk >= next {
                    let class = self.class_of_chunk(*chunk);
                    next = self.range(class).end;
                    runs.push(Run { class, start: place });
                }
            }
            end += chunks.len() as u32;
        }
        self.term_runs.push(runs.len() as u32);
        runs.push(Run { class: u32::MAX, start: end });
        runs.shrink_to_fit();
        self.runs = runs;
    }

    /// Finds the terms of each chunk from the chunks of each term.
    fn turn_around(&mut self) {
        let mut cursors = vec![0_u32; self.chunks.len()];
        for chunk in &self.postings.chunks {
            if let Some(count) = cursors.get_mut(*chunk as usize) {
                *count += 1;
            }
        }
        self.chunk_terms = Vec::with_capacity(cursors.len() + 1);
        let mut start = 0;
        for cursor in &mut cursors {
            self.chunk_terms.push(start);
            start += std::mem::replace(cursor, start);
        }
        self.chunk_terms.push(start);
        self.forward = vec![0; start as usize];
        for term in 0..self.terms.len() as u32 {
            for chunk in self.postings.list(term).chunks {
                let Some(cursor) = cursors.get_mut(*chunk as usize) else { continue };
                if let Some(place) = self.forward.get_mut(*cursor as usize) {
                    *place = term;
                }
                *cursor += 1;
            }
        }
    }

    /// Counts the chunks of each class and adds up their lengths, for chunks that came at once.
    #[cfg(feature = "sqlite")]
    pub(super) fn summed(mut self) -> Self {
        for entry in &self.documents {
            let range = entry.chunks.start as usize..entry.chunks.end as usize;
            let Some(class) = self.classes.get_mut(entry.class as usize) else { continue };
            for chunk in self.chunks.get(range).unwrap_or_default() {
                class.chunks += 1;
                class.lengths.add(chunk.lengths);
            }
        }
        self.matrix.shrink();
        self.place_classes();
        self
    }

    fn place_classes(&mut self) {
        let mut start = 0;
        let mut rows = self.matrix.chunks();
        for class in &mut self.classes {
            class.start = start;
            start += class.chunks as u32;
            let own = rows.partition_point(|chunk| *chunk < start);
            class.vectors = own as u64;
            rows = rows.get(own..).unwrap_or_default();
        }
    }

    pub(super) fn class_of_chunk(&self, chunk: u32) -> u32 {
        let document = self.chunks.get(chunk as usize).map(|chunk| chunk.document);
        document.and_then(|at| self.documents.get(at as usize)).map_or(u32::MAX, |d| d.class)
    }

    pub(crate) fn documents(&self) -> &[Entry] {
        &self.documents
    }

    pub(crate) fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Per chunk: how many tokens all its fields have.
    #[inline]
    pub(crate) fn totals(&self) -> &[u32] {
        &self.totals
    }

    /// The lengths of a chunk.
    pub(crate) fn lengths(&self, chunk: u32) -> Lengths<u32> {
        self.chunks.get(chunk as usize).map_or_else(Lengths::default, |chunk| chunk.lengths)
    }

    pub(crate) fn classes(&self) -> &[Class] {
        &self.classes
    }

    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The vectors of its chunks.
    pub(crate) fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// How much a merge would have to copy.
    pub(crate) fn weight(&self) -> usize {
        self.postings.len() + self.chunks.len() + self.documents.len()
    }

    /// The place of a document.
    pub(crate) fn find(&self, id: &DocumentId) -> Option<u32> {
        let place = self.documents.binary_search_by(|entry| entry.document.id.cmp(id)).ok()?;
        Some(place as u32)
    }

    pub(crate) fn tags(&self, entry: &Entry) -> Option<&AccessTags> {
        self.classes.get(entry.class as usize).map(|class| &class.tags)
    }

    /// The terms of a chunk.
    pub(crate) fn terms_of(&self, chunk: u32) -> &[u32] {
        let borders =
            self.chunk_terms.get(chunk as usize).zip(self.chunk_terms.get(chunk as usize + 1));
        borders
            .and_then(|(start, end)| self.forward.get(*start as usize..*end as usize))
            .unwrap_or_default()
    }

    /// The postings of a term.
    #[inline]
    pub(crate) fn list(&self, term: u32) -> List<'_> {
        self.postings.list(term)
    }

    /// The runs of a term: the class, and how many of its chunks hold the term.
    pub(crate) fn runs(&self, term: u32) -> impl Iterator<Item = (u32, u32)> {
        let runs = match self.term_runs.get(term as usize..).unwrap_or_default() {
            // One run more than the term has: the last one's end.
            [start, end, ..] => self.runs.get(*start as usize..=*end as usize),
            _ => None,
        };
        let runs = runs.unwrap_or_default();
        let pairs = runs.iter().zip(runs.iter().skip(1));
        pairs.map(|(run, next)| (run.class, next.start.saturating_sub(run.start)))
    }

    /// The classes that a scope sees. Found by the scope's roles, and remembered.
    pub(crate) fn visible(&self, scope: &Scope) -> Arc<Visible> {
        let mut known = self.visible.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(visible) = known.get(scope) {
            return Arc::clone(visible);
        }
        let mut visible =
            Visible { classes: Bits::with_room(self.classes.len()), ..Visible::default() };
        let mut places = Bits::with_room(self.chunks.len());
        let untagged = self.classes.first().filter(|class| class.tags.is_empty()).map(|_| 0);
        let by_role = scope.roles().iter().filter_map(|role| self.by_tag.get(role)).flatten();
        for number in untagged.into_iter().chain(by_role.copied()) {
            if let Some(class) = self.classes.get(number as usize)
                && visible.classes.set(number)
            {
                visible.chunks += class.chunks;
                visible.vectors += class.vectors;
                visible.lengths.add_all(class.lengths);
                places.set_all(self.range(number));
            }
        }
        visible.places = (visible.chunks < self.chunks.len() as u64).then_some(places);
        let visible = Arc::new(visible);
        if known.len() >= SCOPES {
            known.clear();
        }
        known.insert(scope.clone(), Arc::clone(&visible));
        visible
    }

    /// The chunks of the class with these tags.
    pub(super) fn range_of(&self, tags: &AccessTags) -> Range<u32> {
        let class = self.class_of(tags);
        match self.classes.get(class as usize) {
            Some(found) if found.tags == *tags => self.range(class),
            _ => 0..0,
        }
    }

    /// The chunks of a class.
    fn range(&self, class: u32) -> Range<u32> {
        let start = self.classes.get(class as usize).map_or(0, |class| class.start);
        let next = self.classes.get(class as usize + 1).map(|class| class.start);
        start..next.unwrap_or(self.chunks.len() as u32)
    }
}
