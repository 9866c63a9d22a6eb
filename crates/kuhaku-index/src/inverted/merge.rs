//! Merging segments. All in them is sorted, so nothing is looked up or spelled anew.

use std::sync::Arc;

use kuhaku_core::AccessTags;

use super::frequencies::Frequencies;
use super::generation::Part;
use super::postings::Postings;
use super::segment::{Chunk, Entry, Segment};
use super::terms::{Terms, order_key};

/// Where a dead chunk goes.
const NOWHERE: u32 = u32::MAX;

/// One segment of what lives in some; nothing of what is dead is left in it (D20).
pub(super) fn merged(parts: &[Part]) -> Segment {
    let (classes, numbers) = classes(parts);
    let postings = parts.iter().map(|part| part.segment.postings.len()).sum();
    let mut segment = Segment::with_classes(classes, Postings::for_pushing(postings));
    let moves = place_chunks(parts, &numbers, &mut segment);
    merge_postings(parts, &moves, &mut segment);
    segment.seal();
    segment
}

/// The tags of living documents, sorted, and per part the new number of each class.
fn classes(parts: &[Part]) -> (Vec<AccessTags>, Vec<Vec<u32>>) {
    let mut all = Vec::new();
    for part in parts {
        let mut lives = vec![false; part.segment.classes.len()];
        for entry in part.living() {
            if let Some(lives) = lives.get_mut(entry.class as usize) {
                *lives = true;
            }
        }
        let living = part.segment.classes.iter().zip(lives).filter(|(_, lives)| *lives);
        all.extend(living.map(|(class, _)| class.tags.clone()));
    }
    all.sort();
    all.dedup();
    let number = |tags: &AccessTags| all.partition_point(|class| class < tags) as u32;
    let numbers = parts
        .iter()
        .map(|part| part.segment.classes.iter().map(|class| number(&class.tags)).collect())
        .collect();
    (all, numbers)
}

/// Puts the living documents and their chunks into the segment; gives, per part, where each chunk is
/// now. Chunks of one part keep their order.
fn place_chunks(parts: &[Part], classes: &[Vec<u32>], segment: &mut Segment) -> Vec<Vec<u32>> {
    let mut documents: Vec<(usize, u32, &Entry)> = Vec::new();
    for (at, (part, numbers)) in parts.iter().zip(classes).enumerate() {
        let class = |entry: &Entry| numbers.get(entry.class as usize).copied().unwrap_or_default();
        documents.extend(part.living().map(|entry| (at, class(entry), entry)));
    }
    // Stable, because that one is fast for what is sorted already in parts.
    documents.sort_by(|a, b| a.2.document.id.cmp(&b.2.document.id));
    let mut by_class = Vec::with_capacity(documents.len());
    for (place, (_, class, entry)) in documents.iter().enumerate() {
        segment.push_document(Arc::clone(&entry.document), *class);
        by_class.push((*class, place as u32));
    }
    by_class.sort_unstable();
    let nowhere = |part: &Part| vec![NOWHERE; part.segment.chunks.len()];
    let mut moves: Vec<Vec<u32>> = parts.iter().map(nowhere).collect();
    for (_, place) in by_class {
        let Some((at, _, entry)) = documents.get(place as usize) else { continue };
        let (Some(part), Some(moves)) = (parts.get(*at), moves.get_mut(*at)) else { continue };
        for from in entry.chunks.clone() {
            let Some(chunk) = part.segment.chunks.get(from as usize) else { continue };
            let to = segment.push_chunk(Chunk { document: place, ..*chunk });
            let matrix = part.segment.matrix();
            if let Some(row) = matrix.row_of(from) {
                segment.matrix.copy(matrix, row, to);
            }
            if let Some(slot) = moves.get_mut(from as usize) {
                *slot = to;
            }
        }
    }
    moves
}

/// A part, and how far its terms are read.
struct Reading<'a> {
    segment: &'a Segment,
    moves: &'a [u32],
    term: u32,
    /// Of the current term; none at the end.
    spelling: Option<(u64, &'a str)>,
}

impl<'a> Reading<'a> {
    fn new(part: &'a Part, moves: &'a [u32]) -> Self {
        let segment = &*part.segment;
        Self { segment, moves, term: 0, spelling: spelling(&segment.terms, 0) }
    }

    /// The current term's postings that live, where they go.
    fn living(&self) -> impl Iterator<Item = (u32, Frequencies)> {
        let list = self.segment.list(self.term);
        let all = list.chunks.iter().zip(list.frequencies);
        let moved = all
            .map(|(chunk, tf)| (self.moves.get(*chunk as usize).copied().unwrap_or(NOWHERE), *tf));
        moved.filter(|(chunk, _)| *chunk != NOWHERE)
    }

    fn advance(&mut self) {
        self.term += 1;
        self.spelling = spelling(&self.segment.terms, self.term);
    }
}

fn spelling(terms: &Terms, at: u32) -> Option<(u64, &str)> {
    terms.get(at).map(|term| (order_key(term), term))
}

fn merge_postings(parts: &[Part], moves: &[Vec<u32>], segment: &mut Segment) {
    let mut readings: Vec<Reading<'_>> =
        parts.iter().zip(moves).map(|(part, moves)| Reading::new(part, moves)).collect();
    let mut found: Vec<(u32, Frequencies)> = Vec::new();
    while let Some(next) = readings.iter().filter_map(|reading| reading.spelling).min() {
        let mut sources = 0;
        for reading in readings.iter_mut().filter(|reading| reading.spelling == Some(next)) {
            let before = found.len();
            found.extend(reading.living());
            sources += usize::from(found.len() > before);
            reading.advance();
        }
        if sources > 1 {
            found.sort_by_key(|(chunk, _)| *chunk);
        }
        if !found.is_empty() {
            segment.terms.push(next.1);
            segment.postings.end_list(found.len() as u32);
            found.drain(..).for_each(|(chunk, tf)| segment.postings.push(chunk, tf));
        }
    }
    segment.postings.chunks.shrink_to_fit();
    segment.postings.frequencies.shrink_to_fit();
}
