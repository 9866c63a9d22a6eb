//! A segment: chunks by visibility class, postings by term and class. Immutable once sealed.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use kuhaku_core::{AccessTags, DocumentId, Scope};

use super::document::Document;
use super::draft::Draft;
use super::frequencies::{Frequencies, Lengths};
use super::terms::Terms;
use super::tombstones::Tombstones;

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
    pub(crate) chunks: u64,
    pub(crate) lengths: Lengths<u64>,
}

/// A term in a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Posting {
    pub(crate) chunk: u32,
    pub(crate) tf: Frequencies,
}

/// The postings of one term in one class; they end where the next run begins.
#[derive(Clone, Copy, Debug)]
struct Run {
    class: u32,
    start: u32,
}

/// The classes of a segment that a scope sees, and their sums.
#[derive(Debug, Default)]
pub(crate) struct Visible {
    classes: Vec<bool>,
    pub(crate) chunks: u64,
    pub(crate) lengths: Lengths<u64>,
}

impl Visible {
    #[inline]
    pub(crate) fn has(&self, class: u32) -> bool {
        self.classes.get(class as usize).copied().unwrap_or_default()
    }
}

/// Scopes whose visible classes are remembered, at most.
const SCOPES: usize = 256;

/// See the module.
#[derive(Debug)]
pub(crate) struct Segment {
    documents: Vec<Entry>,
    chunks: Vec<Chunk>,
    classes: Vec<Class>,
    by_tag: HashMap<String, Vec<u32>>,
    terms: Terms,
    /// Per term: where its runs begin; one more at the end.
    term_runs: Vec<u32>,
    runs: Vec<Run>,
    postings: Vec<Posting>,
    /// While drafted: where the next posting of a term goes.
    cursors: Vec<u32>,
    /// Per chunk: where its terms begin; one more at the end.
    chunk_terms: Vec<u32>,
    forward: Vec<u32>,
    visible: Mutex<HashMap<Scope, Arc<Visible>>>,
}

impl Segment {
    /// An empty segment with these classes, sorted, and room for postings.
    pub(super) fn with_classes(classes: Vec<AccessTags>, postings: usize) -> Self {
        let mut by_tag: HashMap<String, Vec<u32>> = HashMap::new();
        for (class, tags) in classes.iter().enumerate() {
            for tag in tags.iter() {
                by_tag.entry(tag.to_owned()).or_default().push(class as u32);
            }
        }
        let classes = classes
            .into_iter()
            .map(|tags| Class { tags, chunks: 0, lengths: Lengths::default() })
            .collect();
        Self {
            documents: Vec::new(),
            chunks: Vec::new(),
            classes,
            by_tag,
            terms: Terms::default(),
            term_runs: Vec::new(),
            runs: Vec::new(),
            postings: vec![Posting::default(); postings],
            cursors: Vec::new(),
            chunk_terms: vec![0],
            forward: Vec::with_capacity(postings),
            visible: Mutex::default(),
        }
    }

    /// Adds the next term in ascending order, with room for so many postings.
    pub(super) fn push_term(&mut self, term: &str, postings: u32) {
        let start = self.term_runs.last().copied().unwrap_or_default();
        if self.term_runs.is_empty() {
            self.term_runs.push(0);
        }
        self.terms.push(term);
        self.cursors.push(start);
        self.term_runs.push(start + postings);
    }

    pub(super) fn class_of(&self, tags: &AccessTags) -> u32 {
        self.classes.partition_point(|class| class.tags < *tags) as u32
    }

    pub(super) fn push_document(&mut self, document: Arc<Document>, class: u32) {
        self.documents.push(Entry { document, class, chunks: 0..0 });
    }

    /// Adds the next chunk, in the order of classes, then documents, then ordinals.
    pub(super) fn push_chunk(
        &mut self,
        chunk: Chunk,
        terms: impl Iterator<Item = (u32, Frequencies)>,
    ) {
        let place = self.chunks.len() as u32;
        let Some(entry) = self.documents.get_mut(chunk.document as usize) else { return };
        if entry.chunks.is_empty() {
            entry.chunks = place..place;
        }
        entry.chunks.end = place + 1;
        if let Some(class) = self.classes.get_mut(entry.class as usize) {
            class.chunks += 1;
            class.lengths.add(chunk.lengths);
        }
        for (term, tf) in terms {
            if let Some(cursor) = self.cursors.get_mut(term as usize) {
                if let Some(posting) = self.postings.get_mut(*cursor as usize) {
                    *posting = Posting { chunk: place, tf };
                }
                *cursor += 1;
            }
            self.forward.push(term);
        }
        self.chunks.push(chunk);
        self.chunk_terms.push(self.forward.len() as u32);
    }

    /// Cuts the postings of each term into runs of one class.
    pub(super) fn seal(&mut self) {
        self.cursors = Vec::new();
        let borders = std::mem::take(&mut self.term_runs);
        for (start, end) in borders.iter().zip(borders.iter().skip(1)) {
            self.term_runs.push(self.runs.len() as u32);
            let mut last = None;
            let range = *start as usize..*end as usize;
            for (place, posting) in (*start..).zip(self.postings.get(range).unwrap_or_default()) {
                let class = self.class_of_chunk(posting.chunk);
                if last != Some(class) {
                    self.runs.push(Run { class, start: place });
                    last = Some(class);
                }
            }
        }
        self.term_runs.push(self.runs.len() as u32);
        self.runs.push(Run { class: u32::MAX, start: self.postings.len() as u32 });
        self.runs.shrink_to_fit();
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

    pub(crate) fn classes(&self) -> &[Class] {
        &self.classes
    }

    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
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

    /// The runs of a term: class and postings.
    pub(crate) fn runs(&self, term: u32) -> impl Iterator<Item = (u32, &[Posting])> {
        let borders = self.term_runs.get(term as usize).zip(self.term_runs.get(term as usize + 1));
        let runs = borders
            // One run more than the term has: the last one's end.
            .and_then(|(start, end)| self.runs.get(*start as usize..=*end as usize))
            .unwrap_or_default();
        runs.iter().zip(runs.iter().skip(1)).map(|(run, next)| {
            let range = run.start as usize..next.start as usize;
            (run.class, self.postings.get(range).unwrap_or_default())
        })
    }

    /// The classes that a scope sees. Found by the scope's roles, and remembered.
    pub(crate) fn visible(&self, scope: &Scope) -> Arc<Visible> {
        let mut known = self.visible.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(visible) = known.get(scope) {
            return Arc::clone(visible);
        }
        let mut visible =
            Visible { classes: vec![false; self.classes.len()], ..Visible::default() };
        let untagged = self.classes.first().filter(|class| class.tags.is_empty()).map(|_| 0);
        let by_role = scope.roles().iter().filter_map(|role| self.by_tag.get(role)).flatten();
        for class in untagged.into_iter().chain(by_role.copied()) {
            if let Some(seen) = visible.classes.get_mut(class as usize)
                && !std::mem::replace(seen, true)
                && let Some(class) = self.classes.get(class as usize)
            {
                visible.chunks += class.chunks;
                visible.lengths.add_all(class.lengths);
            }
        }
        let visible = Arc::new(visible);
        if known.len() >= SCOPES {
            known.clear();
        }
        known.insert(scope.clone(), Arc::clone(&visible));
        visible
    }

    /// Copies the living documents into a draft.
    pub(crate) fn copy_into(&self, draft: &mut Draft, dead: Option<&Tombstones>) {
        let mut frequencies = vec![Frequencies::default(); self.forward.len()];
        let mut cursors = self.chunk_terms.clone();
        let mut terms = vec![0; self.forward.len()];
        for term in 0..self.terms.len() as u32 {
            for posting in self.runs(term).flat_map(|(_, postings)| postings) {
                let Some(cursor) = cursors.get_mut(posting.chunk as usize) else { continue };
                let at = *cursor as usize;
                *cursor += 1;
                if let (Some(tf), Some(place)) = (frequencies.get_mut(at), terms.get_mut(at)) {
                    (*tf, *place) = (posting.tf, term);
                }
            }
        }
        let mut numbers = vec![None; self.terms.len()];
        for (place, entry) in self.documents.iter().enumerate() {
            if dead.is_some_and(|dead| dead.has_document(place as u32)) {
                continue;
            }
            let Some(tags) = self.tags(entry) else { continue };
            draft.document(Arc::clone(&entry.document), tags.clone());
            for at in entry.chunks.clone() {
                let Some(chunk) = self.chunks.get(at as usize) else { continue };
                let range = match (
                    self.chunk_terms.get(at as usize),
                    self.chunk_terms.get(at as usize + 1),
                ) {
                    (Some(start), Some(end)) => *start as usize..*end as usize,
                    _ => continue,
                };
                let mut entries = Vec::with_capacity(range.len());
                let here = terms.get(range.clone()).unwrap_or_default();
                for (term, tf) in here.iter().zip(frequencies.get(range).unwrap_or_default()) {
                    let Some(number) = numbers.get_mut(*term as usize) else { continue };
                    let name = self.terms.get(*term).unwrap_or_default();
                    let number = *number.get_or_insert_with(|| draft.numbering.number(name));
                    entries.push((number, *tf));
                }
                draft.chunk(chunk.ordinal, chunk.lengths, entries);
            }
        }
    }
}
