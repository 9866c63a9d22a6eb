//! BM25 over a view: the best chunks, without reading what cannot be among them.

use kuhaku_core::ChunkId;

use super::best::{Best, Candidate, entry, name};
use super::generation::Part;
use super::scoring::{Scoring, doubt};
use super::scratch::{Scratch, Term};
use super::view::{Sight, View};
use super::window::Task;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Fault;
use crate::query::{Bm25, Filter, SparseHit, SparseQuery, inverse_document_frequency};

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
    Ok(view.scratch.with(|scratch| {
        let scoring = prepare(view, query, scratch);
        let Scratch { terms, places, window, kept, .. } = scratch;
        let rules = Rules::new(view, &query.filter, view.seeded.has(Fault::FilterAfterCut));
        let mut best = Best::new(view, query.limit, kept);
        let parts = view.generation.parts.len();
        for (at, (part, sight)) in view.parts().enumerate() {
            let task = Task {
                segment: &part.segment,
                scoring: &scoring,
                part: at as u32,
                doubt: doubt(terms.len()),
            };
            let places = places.iter().skip(at).step_by(parts);
            let terms = terms.iter().zip(places);
            window.enter(terms.filter_map(|(term, place)| Some((term.weight, (*place)?))));
            let eligible = |chunk| rules.admit(part, sight, chunk);
            if at == 0 {
                window.expect(&task, query.limit, &mut best, eligible);
            }
            let may_have = |chunks| rules.late || sight.visible.may_have_chunk(chunks);
            window.search(&task, &mut best, may_have, eligible);
        }
        let ranked = best.ranked();
        let mut hits = Vec::with_capacity(ranked.len());
        let kept = ranked.iter().filter(|candidate| rules.keep(candidate));
        hits.extend(kept.filter_map(|candidate| hit(view, candidate)));
        hits
    }))
}

/// Finds the terms of a query that visible chunks hold, and what scores depend on.
pub(super) fn prepare(view: &View, query: &SparseQuery, scratch: &mut Scratch) -> Scoring {
    let (chunks, lengths) = view.totals();
    let Scratch { memo, terms, places, .. } = scratch;
    terms.clear();
    places.clear();
    view.analyzer.each_query_term(&query.text, memo, &mut |term, count| {
        let from = places.len();
        places.extend(view.places(term));
        let here = places.get(from..).unwrap_or_default();
        let holding = view.document_frequency(here.iter().copied());
        if holding == 0 {
            places.truncate(from);
            return;
        }
        let weight = inverse_document_frequency(chunks, holding) * f64::from(count);
        terms.push(Term { weight });
    });
    Scoring::new(&query.bm25, lengths.weighted(&query.bm25.weights) / chunks as f64)
}

/// What a candidate is to the caller.
pub(super) fn hit(view: &View, candidate: &Candidate) -> Option<SparseHit> {
    let (document, ordinal) = name(view, candidate)?;
    Some(SparseHit::new(ChunkId::new(document.clone(), ordinal), candidate.score))
}

/// Which chunks are eligible.
pub(super) struct Rules<'a> {
    view: &'a View,
    filter: &'a Filter,
    filtered: bool,
    /// Only after the cut: a seeded fault.
    late: bool,
}

impl<'a> Rules<'a> {
    pub(super) fn new(view: &'a View, filter: &'a Filter, late: bool) -> Self {
        Self { view, filter, filtered: !filter.is_empty(), late }
    }

    /// Whether eligibility is looked at after the cut: a seeded fault.
    pub(super) fn late(&self) -> bool {
        self.late
    }

    fn lets_through(&self, part: &Part, sight: &Sight, chunk: u32) -> bool {
        sight.visible.has_chunk(chunk)
            && (!self.filtered
                || entry(part, chunk).is_some_and(|entry| entry.document.passes(self.filter)))
    }

    /// Whether a chunk is in the running.
    pub(super) fn admit(&self, part: &Part, sight: &Sight, chunk: u32) -> bool {
        !part.dead.as_ref().is_some_and(|dead| dead.has_chunk(chunk))
            && (self.late || self.lets_through(part, sight, chunk))
    }

    /// Whether a candidate stays after the cut.
    pub(super) fn keep(&self, candidate: &Candidate) -> bool {
        let seen = || self.view.at(candidate.part);
        !self.late
            || seen().is_some_and(|(part, sight)| self.lets_through(part, sight, candidate.chunk))
    }
}
