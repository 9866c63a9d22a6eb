//! The nearest chunks by their vectors: an exact scan that looks at few rows closely, and graphs for those
//! who want them (D8).
//!
//! The scan reads all codes first. Each row has bounds of its cosine; as many rows as are asked for do not
//! fall below the least of the greatest lower bounds, so a row whose upper bound is below it is out. Only
//! the rest, little more than what is asked for, is compared number by number.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use kuhaku_core::{AccessTags, ChunkId};

use super::best::{Best, Candidate, name};
use super::matrix::Probe;
use super::search::Rules;
use super::view::View;
use crate::error::Result;
use crate::fault::Fault;
use crate::fingerprint::VectorSpace;
use crate::query::{DenseHit, DenseQuery};

/// Rows that are looked at between two looks at whether to go on, and whether any of them is seen.
const BLOCK: usize = 256;

/// See [`View::dense`]. Nothing is found after it was cancelled.
pub(super) fn dense(
    view: &View,
    query: &DenseQuery,
    cancelled: &AtomicBool,
) -> Result<Vec<DenseHit>> {
    VectorSpace::check(view.generation.space.as_ref(), query.vector.dimension(), || {
        "search with this vector".into()
    })?;
    if query.limit == 0 || view.vectors == 0 {
        return Ok(Vec::new());
    }
    Ok(view.scratch.with(|scratch| {
        let late = view.seeded.has(Fault::FilterAfterCut);
        let rules = Rules::new(view, &query.filter, late);
        let mut best = Best::above(view, query.limit, &mut scratch.kept, f64::NEG_INFINITY);
        #[cfg(any(test, feature = "seeded-faults"))]
        let is_done = super::astray::search(view, query, &rules, &mut best);
        #[cfg(not(any(test, feature = "seeded-faults")))]
        let is_done = false;
        if !is_done {
            let by_graph = by_graph(view, query, late, &mut best);
            let probe = Probe::new(&query.vector);
            let mut short = Shortlist::new(&mut scratch.near, query.limit, best.worst());
            if shortlist(view, &probe, &rules, &by_graph, &mut short, cancelled) {
                compare(view, &probe, short.cut(), &mut best);
            }
        }
        let ranked = best.ranked().iter().filter(|candidate| rules.keep(candidate));
        ranked.filter_map(|candidate| hit(view, candidate)).collect()
    }))
}

/// Finds the nearest of the classes that are seen and have a graph; gives the tags of these.
fn by_graph<'a>(
    view: &'a View,
    query: &DenseQuery,
    late: bool,
    best: &mut Best<'_>,
) -> Vec<&'a AccessTags> {
    let mut searched = Vec::new();
    if late {
        return searched;
    }
    let generation = &view.generation;
    let seen = generation.graphs.iter().filter(|graph| view.scope.sees(graph.tags()));
    for graph in seen.filter(|graph| graph.passes(&query.filter)) {
        let Some(found) = graph.nearest(&query.vector, query.limit) else { continue };
        for (score, member) in found {
            if let Some((part, chunk)) = generation.place(&member.document, member.ordinal) {
                best.push(Candidate { score, part, chunk });
            }
        }
        searched.push(graph.tags());
    }
    searched
}

/// A row whose cosine may be among the best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    least: f64,
    most: f64,
    part: u32,
    row: u32,
}

/// The rows whose cosines may be among the best, so far.
struct Shortlist<'a> {
    rows: &'a mut Vec<Near>,
    limit: usize,
    /// As many rows as are asked for do not fall below it.
    worst: f64,
    /// When it is time to see which rows are out.
    full: usize,
}

impl<'a> Shortlist<'a> {
    /// None yet; rows that do not reach `worst` are out.
    fn new(rows: &'a mut Vec<Near>, limit: usize, worst: f64) -> Self {
        rows.clear();
        Self { rows, limit, worst, full: Self::room(limit) }
    }

    /// Twice as many as stay: the cost of one is a constant.
    fn room(staying: usize) -> usize {
        staying.saturating_add(staying.max(32))
    }

    fn push(&mut self, near: Near) {
        self.rows.push(near);
        if self.rows.len() >= self.full {
            self.full = Self::room(self.cut().len());
        }
    }

    /// Drops the rows that are out.
    fn cut(&mut self) -> &[Near] {
        if self.rows.len() > self.limit && self.limit > 0 {
            let order = |a: &Near, b: &Near| b.least.total_cmp(&a.least);
            let (_, last, _) = self.rows.select_nth_unstable_by(self.limit - 1, order);
            self.worst = self.worst.max(last.least);
        }
        let worst = self.worst;
        self.rows.retain(|near| near.most >= worst);
        self.rows
    }
}

/// Looks at the codes of all rows that are seen, but for those of some classes. False when it was
/// cancelled.
fn shortlist(
    view: &View,
    probe: &Probe<'_>,
    rules: &Rules<'_>,
    without: &[&AccessTags],
    short: &mut Shortlist<'_>,
    cancelled: &AtomicBool,
) -> bool {
    for (at, (part, sight)) in (0_u32..).zip(view.parts()) {
        let matrix = part.segment.matrix();
        let done: Vec<Range<u32>> =
            without.iter().map(|tags| part.segment.range_of(tags)).collect();
        for (block, chunks) in matrix.chunks().chunks(BLOCK).enumerate() {
            let (Some(first), Some(last)) = (chunks.first(), chunks.last()) else { continue };
            if !rules.late() && !sight.visible.may_have_chunk(*first..last.saturating_add(1)) {
                continue;
            }
            if done.iter().any(|done| done.contains(first) && done.contains(last)) {
                continue;
            }
            if cancelled.load(Ordering::Relaxed) {
                return false;
            }
            for (row, chunk) in (block * BLOCK..).zip(chunks) {
                let is_seen = rules.late() || sight.visible.has_chunk(*chunk);
                if !is_seen || done.iter().any(|done| done.contains(chunk)) {
                    continue;
                }
                let (least, most) = probe.bounds(matrix, row);
                if most < short.worst || !rules.admit(part, sight, *chunk) {
                    continue;
                }
                short.push(Near { least, most, part: at, row: row as u32 });
            }
        }
    }
    true
}

/// Compares the rows that are left number by number.
fn compare(view: &View, probe: &Probe<'_>, rows: &[Near], best: &mut Best<'_>) {
    for near in rows {
        let Some((part, _)) = view.at(near.part) else { continue };
        let (matrix, row) = (part.segment.matrix(), near.row as usize);
        if let (Some(vector), Some(chunk)) = (matrix.row(row), matrix.chunks().get(row)) {
            let score = probe.cosine(vector);
            best.push(Candidate { score, part: near.part, chunk: *chunk });
        }
    }
}

pub(super) fn hit(view: &View, candidate: &Candidate) -> Option<DenseHit> {
    let (document, ordinal) = name(view, candidate)?;
    Some(DenseHit::new(ChunkId::new(document.clone(), ordinal), candidate.score))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kuhaku_core::{DocumentId, Masked, Scope};

    use super::*;
    use crate::{
        Batch, ChunkRecord, DocumentRecord, Fingerprint, IdKey, Language, MemoryIndex, Tokenizer,
        Vector,
    };

    /// R12
    #[test]
    fn a_search_that_is_cancelled_looks_at_nothing_more() {
        let key = IdKey::from_bytes([1; 32]);
        let fingerprint = Fingerprint::new(Tokenizer::Simple, Language::None, "none", "none");
        let index = MemoryIndex::new(fingerprint.embedder("e", 2), key.clone());
        let text = Masked::replacing("-", Vec::new()).canonical();
        let id = DocumentId::new("a").unwrap();
        let mut record = DocumentRecord::new(id, key.content_hash(&[]), text);
        let mut chunk = ChunkRecord::new(0..1);
        let vector = Vector::new(vec![1.0, 0.0]).unwrap();
        chunk.vector = Some(vector.clone());
        record.chunks = vec![chunk];
        index.write(Batch::new().upsert(record)).unwrap();
        let (view, query) = (index.view(&Scope::anonymous()), DenseQuery::new(vector, 9));
        for (cancelled, found) in [(true, 0), (false, 1)] {
            let hits = dense(&view, &query, &AtomicBool::new(cancelled)).unwrap();
            assert_eq!(hits.len(), found);
        }
    }
}
