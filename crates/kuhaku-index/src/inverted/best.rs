//! The best chunks so far.

use std::cmp::Ordering;

use kuhaku_core::DocumentId;

use super::generation::Part;
use super::segment::Entry;
use super::view::View;
use crate::fault::Fault;

/// A chunk in the running, by its place. What it is called is looked up for ties and for the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) score: f64,
    pub(super) part: u32,
    pub(super) chunk: u32,
}

/// The best candidates so far, and some that may not stay. Keeping a few more than asked makes the
/// cost of one a constant, where a heap pays for its order each time.
#[derive(Debug)]
pub(super) struct Best<'a> {
    view: &'a View,
    limit: usize,
    kept: &'a mut Vec<Candidate>,
    /// Whoever scores below this cannot be among the best; equal scores may.
    worst: f64,
}

impl<'a> Best<'a> {
    /// None yet.
    pub(super) fn new(view: &'a View, limit: usize, kept: &'a mut Vec<Candidate>) -> Self {
        Self::above(view, limit, kept, 0.0)
    }

    /// None yet; whoever scores below `least` is never among them.
    pub(super) fn above(
        view: &'a View,
        limit: usize,
        kept: &'a mut Vec<Candidate>,
        least: f64,
    ) -> Self {
        kept.clear();
        Self { view, limit, kept, worst: least }
    }

    /// Whoever scores below this cannot be among the best; equal scores may.
    #[inline]
    pub(super) fn worst(&self) -> f64 {
        self.worst
    }

    pub(super) fn push(&mut self, candidate: Candidate) {
        self.kept.push(candidate);
        if self.kept.len() >= self.limit.saturating_add(self.limit.max(8)) {
            self.cut();
        }
    }

    /// Takes scores that as many chunks as asked reach or exceed, and forgets them but for the least:
    /// `scores` are what some terms alone add.
    pub(super) fn expect(&mut self, scores: impl Iterator<Item = f64>) {
        let from = self.kept.len();
        self.kept.extend(scores.map(|score| Candidate { score, part: 0, chunk: 0 }));
        let of = self.kept.get_mut(from..).unwrap_or_default();
        if self.limit > 0 && of.len() >= self.limit {
            let order = |a: &Candidate, b: &Candidate| b.score.total_cmp(&a.score);
            let (_, last, _) = of.select_nth_unstable_by(self.limit - 1, order);
            self.worst = self.worst.max(last.score);
        }
        self.kept.truncate(from);
    }

    /// Drops all but the best.
    pub(super) fn cut(&mut self) {
        let view = self.view;
        if self.kept.len() > self.limit && self.limit > 0 {
            let order = |a: &Candidate, b: &Candidate| better(view, a, b);
            let (_, last, _) = self.kept.select_nth_unstable_by(self.limit - 1, order);
            self.worst = self.worst.max(last.score);
        }
        self.kept.truncate(self.limit);
    }

    /// All that stay, best first.
    pub(super) fn ranked(&mut self) -> &[Candidate] {
        self.cut();
        let view = self.view;
        self.kept.sort_unstable_by(|a, b| better(view, a, b));
        self.kept
    }
}

/// The document of a chunk.
pub(super) fn entry(part: &Part, chunk: u32) -> Option<&Entry> {
    let document = part.segment.chunks().get(chunk as usize)?.document;
    part.segment.documents().get(document as usize)
}

/// What a candidate is called: its document and its ordinal there.
pub(super) fn name<'a>(view: &'a View, candidate: &Candidate) -> Option<(&'a DocumentId, u32)> {
    let (part, _) = view.at(candidate.part)?;
    let ordinal = part.segment.chunks().get(candidate.chunk as usize)?.ordinal;
    Some((&entry(part, candidate.chunk)?.document.id, ordinal))
}

/// The better candidate first: the higher score, then the lesser document id, then the lesser
/// ordinal.
pub(super) fn better(view: &View, a: &Candidate, b: &Candidate) -> Ordering {
    b.score.total_cmp(&a.score).then_with(|| {
        if view.seeded.has(Fault::TiesByPosition) {
            return (a.part, a.chunk).cmp(&(b.part, b.chunk));
        }
        name(view, a).cmp(&name(view, b))
    })
}
