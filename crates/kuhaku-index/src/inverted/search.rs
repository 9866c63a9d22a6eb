//! BM25 over a view: term at a time, in query-term order (D6), the top k by selection.

use std::cmp::Ordering;

use kuhaku_core::{ChunkId, DocumentId};

use super::generation::Part;
use super::scratch::{Scratch, UNTOUCHED};
use super::segment::{Chunk, Entry};
use super::view::{Sight, View};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Fault;
use crate::query::{Bm25, SparseHit, SparseQuery, inverse_document_frequency};

/// A term of the query that some visible chunk holds.
struct Term {
    /// Its inverse document frequency times its count in the query.
    weight: f64,
    /// How many visible chunks hold it.
    holding: u64,
    /// Its place in the dictionary of each part.
    places: Vec<Option<u32>>,
}

/// A chunk in the running, by its place. What it is called is looked up for ties and for the end.
#[derive(Clone, Copy)]
struct Candidate {
    score: f64,
    part: u32,
    chunk: u32,
}

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
            (holding > 0).then_some(Term { weight, holding, places })
        })
        .collect();
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let average = lengths.weighted(&query.bm25.weights) / chunks as f64;
    let scoring = Scoring::new(&query.bm25, if average > 0.0 { average } else { 1.0 });
    let late = view.seeded.has(Fault::FilterAfterCut);
    let everything: usize = view.parts().map(|(part, _)| part.segment.chunks().len()).sum();
    let holding: u64 = terms.iter().map(|term| term.holding).sum();
    // Looking at every score is cheaper than noting which were touched when many were.
    let dense = holding.saturating_mul(4) >= everything as u64;
    let filtered = !late && !query.filter.is_empty();

    let mut best = Best { view, limit: query.limit, kept: Vec::new(), worst: 0.0 };
    view.scratch.with(|scratch| {
        for (at, (part, sight)) in (0..).zip(view.parts()) {
            scoring.accumulate(part, sight, at as usize, &terms, (late, dense), scratch);
            let Scratch { scores, touched } = scratch;
            let mut consider = |chunk: u32, score: f64| {
                if score <= 0.0
                    || score < best.worst
                    || part.dead.as_ref().is_some_and(|dead| dead.has_chunk(chunk))
                    || filtered
                        && !entry(part, chunk).is_some_and(|it| it.document.passes(&query.filter))
                {
                    return;
                }
                best.push(Candidate { score, part: at, chunk });
            };
            if dense {
                let scores = scores.get_mut(..part.segment.chunks().len()).unwrap_or_default();
                (0..).zip(&*scores).for_each(|(chunk, score)| consider(chunk, *score));
                scores.fill(UNTOUCHED);
            } else {
                for chunk in touched.drain(..) {
                    let Some(slot) = scores.get_mut(chunk as usize) else { continue };
                    consider(chunk, std::mem::replace(slot, UNTOUCHED));
                }
            }
        }
    });
    let passes = |candidate: &Candidate| {
        !late
            || view.at(candidate.part).is_some_and(|(part, sight)| {
                entry(part, candidate.chunk).is_some_and(|it| {
                    sight.visible.has(it.class) && it.document.passes(&query.filter)
                })
            })
    };
    let hit = |candidate: Candidate| {
        let (document, ordinal) = name(view, &candidate)?;
        Some(SparseHit::new(ChunkId::new(document.clone(), ordinal), candidate.score))
    };
    Ok(best.ranked().into_iter().filter(passes).filter_map(hit).collect())
}

/// The document of a chunk.
fn entry(part: &Part, chunk: u32) -> Option<&Entry> {
    let document = part.segment.chunks().get(chunk as usize)?.document;
    part.segment.documents().get(document as usize)
}

/// What a candidate is called: its document and its ordinal there.
fn name<'a>(view: &'a View, candidate: &Candidate) -> Option<(&'a DocumentId, u32)> {
    let (part, _) = view.at(candidate.part)?;
    let ordinal = part.segment.chunks().get(candidate.chunk as usize)?.ordinal;
    Some((&entry(part, candidate.chunk)?.document.id, ordinal))
}

/// The best candidates so far, and some that may not stay. Keeping a few more than asked makes the
/// cost of one a constant, where a heap pays for its order each time.
struct Best<'a> {
    view: &'a View,
    limit: usize,
    kept: Vec<Candidate>,
    /// Whoever scores below this cannot be among the best; equal scores may.
    worst: f64,
}

impl Best<'_> {
    fn push(&mut self, candidate: Candidate) {
        self.kept.push(candidate);
        if self.kept.len() >= self.limit.saturating_add(self.limit.max(32)) {
            self.cut();
        }
    }

    /// Drops all but the best.
    fn cut(&mut self) {
        let view = self.view;
        if self.kept.len() > self.limit && self.limit > 0 {
            let order = |a: &Candidate, b: &Candidate| better(view, a, b);
            let (_, last, _) = self.kept.select_nth_unstable_by(self.limit - 1, order);
            self.worst = last.score;
        }
        self.kept.truncate(self.limit);
    }

    fn ranked(mut self) -> Vec<Candidate> {
        self.cut();
        let view = self.view;
        self.kept.sort_unstable_by(|a, b| better(view, a, b));
        self.kept
    }
}

/// The better candidate first: the higher score, then the lesser document id, then the lesser
/// ordinal.
fn better(view: &View, a: &Candidate, b: &Candidate) -> Ordering {
    b.score.total_cmp(&a.score).then_with(|| {
        if view.seeded.has(Fault::TiesByPosition) {
            return (a.part, a.chunk).cmp(&(b.part, b.chunk));
        }
        name(view, a).cmp(&name(view, b))
    })
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

    /// Adds the scores of one part's visible chunks; of all its chunks in a seeded fault. Notes which
    /// were touched unless all scores will be looked at.
    fn accumulate(
        &self,
        part: &Part,
        sight: &Sight,
        at: usize,
        terms: &[Term],
        (everything, dense): (bool, bool),
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
                        if !dense && before.is_sign_negative() {
                            touched.push(posting.chunk);
                        }
                    }
                }
            }
        }
    }
}
