//! BM25 over a view: term at a time, in query-term order (D6), the top k by selection.

use std::cmp::Ordering;

use kuhaku_core::{ChunkId, DocumentId};

use super::generation::Part;
use super::scratch::{Scratch, UNTOUCHED};
use super::segment::Chunk;
use super::view::{Sight, View};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Fault;
use crate::query::{Bm25, Filter, SparseHit, SparseQuery, inverse_document_frequency};

/// A term of the query that some visible chunk holds.
struct Term {
    /// Its inverse document frequency times its count in the query.
    weight: f64,
    /// Its place in the dictionary of each part.
    places: Vec<Option<u32>>,
}

/// A chunk in the running. The least is the best.
struct Candidate<'a> {
    score: f64,
    document: &'a DocumentId,
    ordinal: u32,
    /// Orders before the id; equal for all but in a seeded fault.
    position: (usize, u32),
    passes: bool,
}

impl Ord for Candidate<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.score.total_cmp(&self.score))
            .then_with(|| self.position.cmp(&other.position))
            .then_with(|| self.document.cmp(other.document))
            .then_with(|| self.ordinal.cmp(&other.ordinal))
    }
}

impl PartialOrd for Candidate<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate<'_> {}

/// Scores of smaller weights would drown in the limits of floats.
const LEAST_WEIGHT: f64 = 1e-6;

fn check(bm25: &Bm25) -> Result<()> {
    let Bm25 { k1, b, weights } = bm25;
    let wrong = if !(0.0..=100.0).contains(k1) {
        "k1 is not from 0 to 100"
    } else if !(0.0..=1.0).contains(b) {
        "b is not from 0 to 1"
    } else if [weights.heading, weights.body, weights.extra]
        .iter()
        .any(|weight| *weight != 0.0 && !(LEAST_WEIGHT..=100.0).contains(weight))
    {
        "a field weight is neither 0 nor from 0.000001 to 100"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::InvalidInput, "score with these BM25 parameters", wrong)
        .next("use k1 1.5, b 0.75 and weights of 1, or other values in these ranges"))
}

/// See [`View::sparse`].
pub(super) fn sparse(view: &View, query: &SparseQuery) -> Result<Vec<SparseHit>> {
    check(&query.bm25)?;
    if query.limit == 0 || view.chunks == 0 {
        return Ok(Vec::new());
    }
    let (chunks, lengths) = view.totals();
    let terms: Vec<Term> = view
        .analyzer
        .query_terms(&query.text)
        .into_iter()
        .filter_map(|term| {
            let places = view.places(&term.term);
            let holding = view.document_frequency(&places);
            let weight = inverse_document_frequency(chunks, holding) * f64::from(term.count);
            (holding > 0).then_some(Term { weight, places })
        })
        .collect();
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let average = lengths.weighted(&query.bm25.weights) / chunks as f64;
    let scoring = Scoring::new(&query.bm25, if average > 0.0 { average } else { 1.0 });
    let late = view.seeded.has(Fault::FilterAfterCut);
    let by_position = view.seeded.has(Fault::TiesByPosition);
    let no_filter = Filter::none();
    let early = if late { &no_filter } else { &query.filter };

    let mut best = Best::new(query.limit);
    view.scratch.with(|scratch| {
        for (at, (part, sight)) in view.parts().enumerate() {
            scoring.accumulate(part, sight, at, &terms, late, scratch);
            let Scratch { scores, touched } = scratch;
            for place in touched.drain(..) {
                let Some(slot) = scores.get_mut(place as usize) else { continue };
                let score = std::mem::replace(slot, UNTOUCHED);
                if score <= 0.0
                    || score < best.worst
                    || part.dead.as_ref().is_some_and(|d| d.has_chunk(place))
                {
                    continue;
                }
                let Some(Chunk { document, ordinal, .. }) =
                    part.segment.chunks().get(place as usize)
                else {
                    continue;
                };
                let Some(entry) = part.segment.documents().get(*document as usize) else {
                    continue;
                };
                if !entry.document.passes(early) {
                    continue;
                }
                best.push(Candidate {
                    score,
                    document: &entry.document.id,
                    ordinal: *ordinal,
                    position: if by_position { (at, place) } else { (0, 0) },
                    passes: !late
                        || sight.visible.has(entry.class) && entry.document.passes(&query.filter),
                });
            }
        }
    });
    let ranked = best.ranked().into_iter().filter(|candidate| candidate.passes);
    let hits = ranked.map(|candidate| {
        let id = ChunkId::new(candidate.document.clone(), candidate.ordinal);
        SparseHit::new(id, candidate.score)
    });
    Ok(hits.collect())
}

/// The best candidates so far, and some that may not stay. Keeping a few more than asked makes the
/// cost of one a constant, where a heap pays for its order each time.
struct Best<'a> {
    limit: usize,
    kept: Vec<Candidate<'a>>,
    /// Whoever scores below this cannot be among the best; equal scores may.
    worst: f64,
}

impl<'a> Best<'a> {
    fn new(limit: usize) -> Self {
        Self { limit, kept: Vec::new(), worst: 0.0 }
    }

    fn push(&mut self, candidate: Candidate<'a>) {
        self.kept.push(candidate);
        if self.kept.len() >= self.limit.saturating_add(self.limit.max(32)) {
            self.cut();
        }
    }

    /// Drops all but the best.
    fn cut(&mut self) {
        if self.limit == 0 || self.kept.len() <= self.limit {
            self.kept.truncate(self.limit);
            return;
        }
        let (_, last, _) = self.kept.select_nth_unstable(self.limit - 1);
        self.worst = last.score;
        self.kept.truncate(self.limit);
    }

    fn ranked(mut self) -> Vec<Candidate<'a>> {
        self.cut();
        self.kept.sort_unstable();
        self.kept
    }
}

/// The parts of the formula that are the same for all chunks.
struct Scoring<'a> {
    bm25: &'a Bm25,
    /// `k1 * (1 - b)`
    base: f64,
    /// `k1 * b / average`
    per_token: f64,
    /// `k1 + 1`
    gain: f64,
}

impl<'a> Scoring<'a> {
    fn new(bm25: &'a Bm25, average: f64) -> Self {
        let Bm25 { k1, b, .. } = bm25;
        Self { bm25, base: k1 * (1.0 - b), per_token: k1 * b / average, gain: k1 + 1.0 }
    }

    /// Adds the scores of one part's visible chunks; of all its chunks in a seeded fault.
    fn accumulate(
        &self,
        part: &Part,
        sight: &Sight,
        at: usize,
        terms: &[Term],
        everything: bool,
        scratch: &mut Scratch,
    ) {
        let chunks = part.segment.chunks();
        let Scratch { scores, touched } = scratch;
        if scores.len() < chunks.len() {
            scores.resize(chunks.len(), UNTOUCHED);
        }
        let weights = &self.bm25.weights;
        for term in terms {
            let Some(place) = term.places.get(at).copied().flatten() else { continue };
            for (class, postings) in part.segment.runs(place) {
                if !everything && !sight.visible.has(class) {
                    continue;
                }
                for posting in postings {
                    let chunk = posting.chunk as usize;
                    let (Some(Chunk { lengths, .. }), Some(score)) =
                        (chunks.get(chunk), scores.get_mut(chunk))
                    else {
                        continue;
                    };
                    let tf = posting.tf.weighted(weights);
                    if tf > 0.0 {
                        let norm = self.base + self.per_token * lengths.weighted(weights);
                        let before = *score;
                        *score = before + term.weight * (tf * self.gain) / (tf + norm);
                        if before.is_sign_negative() {
                            touched.push(posting.chunk);
                        }
                    }
                }
            }
        }
    }
}
