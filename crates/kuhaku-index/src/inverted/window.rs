//! One stretch of a segment's chunks at a time: which terms can still matter there, and the scores.
//!
//! MaxScore (Turtle and Flood 1995) over stretches, with bounds from the blocks that reach into each.
//! Where the terms of the least bounds cannot lift a chunk among the best by themselves, only the
//! others are read in full, and those few chunks that may win are looked up in the rest. Every score
//! that is kept is added up in the order of the query's terms (D6), so that it has the same bits
//! however it was found.

use super::best::{Best, Candidate};
use super::postings::{BLOCK, List};
use super::scoring::Scoring;
use super::segment::Segment;

/// A score to which nothing was added. The sign is the mark: adding any score, zero included, to
/// `-0.0` gives that score with a positive sign.
const UNTOUCHED: f64 = -0.0;

/// Chunks per stretch, at least: their scores stay in the nearest cache.
const WIDTH: usize = 4096;

/// Postings that a stretch should have on average, so that those of rare terms are few.
const FULL: usize = 512;

/// What looking up a chunk in the postings of a term costs, in postings read one after another.
const LOOKUP: usize = 16;

/// How many postings must be left out for each that is read; less is not worth the lookups.
const SAVING: usize = 3;

/// Where a query is in the postings of one of its terms.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    place: u32,
    weight: f64,
    /// The postings of this stretch.
    next: usize,
    end: usize,
    /// Where lookups go on.
    probe: usize,
    /// What no posting of this stretch exceeds.
    bound: f64,
    /// The bounds of the optional terms before this one, added up.
    before: f64,
    optional: bool,
}

/// The room of one query in one segment; scores are all [`UNTOUCHED`] between stretches.
#[derive(Debug, Default)]
pub(super) struct Window {
    scores: Vec<f64>,
    /// The chunks to whose score something was added, each once, where few are.
    touched: Vec<u32>,
    /// In query-term order.
    cursors: Vec<Cursor>,
    /// Those with postings here, by ascending bound.
    order: Vec<usize>,
    /// The chunks that may be among the best, with what the terms that are not optional add up to.
    survivors: Vec<(u32, f64)>,
}

/// What is known of a stretch before it is read.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    from: u32,
    /// How many chunks it spans.
    width: usize,
    /// Postings of the terms that are not optional.
    postings: usize,
    /// How many terms are optional: the first in the order of bounds.
    optional: usize,
    /// Their bounds, added up.
    rest: f64,
    /// Their postings.
    skipped: usize,
}

/// What a segment is searched for.
pub(super) struct Task<'a> {
    pub(super) segment: &'a Segment,
    pub(super) scoring: &'a Scoring,
    /// The number of the part.
    pub(super) part: u32,
    /// How much sums may be off, as a share.
    pub(super) doubt: f64,
}

impl Window {
    /// Starts on a segment, with the weights of terms and their places there.
    pub(super) fn enter(&mut self, terms: impl Iterator<Item = (f64, u32)>) {
        self.cursors.clear();
        self.cursors.extend(terms.map(|(weight, place)| Cursor {
            place,
            weight,
            next: 0,
            end: 0,
            probe: 0,
            bound: 0.0,
            before: 0.0,
            optional: false,
        }));
    }

    /// How many postings the terms have here.
    fn postings(&self, segment: &Segment) -> usize {
        self.cursors.iter().map(|cursor| segment.list(cursor.place).chunks.len()).sum()
    }

    /// Raises what must be reached, by the term that is rarest among those that enough chunks hold.
    pub(super) fn expect(
        &self,
        task: &Task<'_>,
        limit: usize,
        best: &mut Best<'_>,
        eligible: impl Fn(u32) -> bool,
    ) {
        let Task { segment, scoring, .. } = task;
        if self.postings(segment) < 2 * FULL {
            return;
        }
        let enough = self.cursors.iter().filter_map(|cursor| {
            let list = segment.list(cursor.place);
            (list.chunks.len() >= limit).then_some((cursor.weight, list))
        });
        let Some((weight, list)) = enough.max_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        let some = list.chunks.iter().zip(list.frequencies).take(limit.saturating_mul(4).max(FULL));
        best.expect(
            some.filter(|(chunk, _)| eligible(**chunk))
                .map(|(chunk, tf)| scoring.of(weight, *tf, &segment.lengths(*chunk))),
        );
    }

    /// Pushes the chunks of the segment that can be among the best.
    pub(super) fn search(
        &mut self,
        task: &Task<'_>,
        best: &mut Best<'_>,
        may_have: impl Fn(std::ops::Range<u32>) -> bool,
        eligible: impl Fn(u32) -> bool,
    ) {
        let segment = task.segment;
        let chunks = segment.chunks().len();
        let width = match self.postings(segment) {
            0 => return,
            postings => (chunks / postings.div_ceil(FULL)).max(WIDTH).min(chunks),
        };
        if self.scores.len() < width {
            self.scores.resize(width, UNTOUCHED);
        }
        loop {
            let first = |cursor: &Cursor| segment.list(cursor.place).chunks.get(cursor.next);
            let Some(from) = self.cursors.iter().filter_map(first).min().copied() else { return };
            let to = from.saturating_add(width as u32);
            let (bound, postings) = self.bound(task, to);
            let needed = best.worst() * (1.0 - task.doubt);
            if bound > 0.0 && bound >= needed && may_have(from..to) {
                let stretch = self.partition((from, width), postings, needed);
                self.add(task, stretch);
                self.collect(task, stretch, best, &eligible);
                best.cut();
            }
            self.cursors.iter_mut().for_each(|cursor| cursor.next = cursor.end);
        }
    }

    /// Finds the end of the stretch for each term, its bound there, and the sum of the bounds.
    fn bound(&mut self, task: &Task<'_>, to: u32) -> (f64, usize) {
        let (mut sum, mut postings) = (0.0, 0);
        for cursor in &mut self.cursors {
            let list = task.segment.list(cursor.place);
            (cursor.bound, cursor.end, cursor.probe) = (0.0, cursor.next, cursor.next);
            for (number, block) in list.blocks.iter().enumerate().skip(cursor.next / BLOCK) {
                let start = cursor.end;
                let end = ((number + 1) * BLOCK).min(list.chunks.len());
                cursor.end = if block.last < to {
                    end
                } else {
                    let rest = list.chunks.get(start..end).unwrap_or_default();
                    start + rest.partition_point(|chunk| *chunk < to)
                };
                if cursor.end > start {
                    cursor.bound = task.scoring.bound(cursor.weight, block).max(cursor.bound);
                }
                if cursor.end < end {
                    break;
                }
            }
            sum += cursor.bound;
            postings += cursor.end - cursor.next;
        }
        (sum, postings)
    }

    /// Marks the terms of the least bounds that together stay below what is needed, if leaving them
    /// out saves enough.
    fn partition(&mut self, (from, width): (u32, usize), postings: usize, needed: f64) -> Stretch {
        let Self { cursors, order, .. } = self;
        order.clear();
        for (at, cursor) in cursors.iter_mut().enumerate() {
            cursor.optional = false;
            if cursor.end > cursor.next {
                order.push(at);
            }
        }
        let all = Stretch { from, width, postings, ..Stretch::default() };
        if needed <= 0.0 {
            return all;
        }
        let bound = |at: usize| cursors.get(at).map_or(0.0, |cursor| cursor.bound);
        order.sort_unstable_by(|a, b| bound(*a).total_cmp(&bound(*b)));
        let mut stretch = all;
        for at in &*order {
            let Some(cursor) = cursors.get_mut(*at) else { continue };
            if stretch.rest + cursor.bound >= needed {
                break;
            }
            cursor.before = stretch.rest;
            stretch.rest += cursor.bound;
            stretch.optional += 1;
            stretch.skipped += cursor.end - cursor.next;
            stretch.postings -= cursor.end - cursor.next;
        }
        if stretch.skipped < SAVING * stretch.postings {
            return all;
        }
        for at in order.get(..stretch.optional).unwrap_or_default() {
            if let Some(cursor) = cursors.get_mut(*at) {
                cursor.optional = true;
            }
        }
        stretch
    }

    /// Adds up what the terms that are not optional add to the chunks of the stretch.
    fn add(&mut self, task: &Task<'_>, Stretch { from, width, postings, .. }: Stretch) {
        let Self { scores, touched, cursors, .. } = self;
        let scores = scores.get_mut(..width).unwrap_or_default();
        let dense = is_dense(postings, width);
        for cursor in cursors.iter().filter(|cursor| !cursor.optional) {
            let list = here(task.segment, cursor);
            if dense {
                task.scoring.each(cursor.weight, list, task.segment, |chunk, part| {
                    if let Some(score) = scores.get_mut(chunk.wrapping_sub(from) as usize) {
                        *score += part;
                    }
                });
            } else {
                task.scoring.each(cursor.weight, list, task.segment, |chunk, part| {
                    if let Some(score) = scores.get_mut(chunk.wrapping_sub(from) as usize) {
                        if score.is_sign_negative() {
                            touched.push(chunk);
                        }
                        *score += part;
                    }
                });
            }
        }
    }

    /// Pushes the chunks of the stretch that can be among the best, and clears their scores.
    fn collect(
        &mut self,
        task: &Task<'_>,
        stretch: Stretch,
        best: &mut Best<'_>,
        eligible: impl Fn(u32) -> bool,
    ) {
        if stretch.optional == 0 {
            self.push_complete(task, stretch, best, eligible);
            return;
        }
        self.find_survivors(stretch, best.worst() * (1.0 - task.doubt) - stretch.rest);
        self.survivors.retain(|(chunk, _)| eligible(*chunk));
        // So many that reading the rest is cheaper.
        if self.survivors.len() * stretch.optional * LOOKUP > stretch.skipped {
            self.read_rest(task, stretch, best);
        } else {
            self.look_up_rest(task, stretch, best);
        }
    }

    /// The same for a stretch without optional terms: its scores are complete.
    fn push_complete(
        &mut self,
        task: &Task<'_>,
        Stretch { from, width, postings, .. }: Stretch,
        best: &mut Best<'_>,
        eligible: impl Fn(u32) -> bool,
    ) {
        let part = task.part;
        let scores = self.scores.get_mut(..width).unwrap_or_default();
        let mut least = best.worst().max(f64::MIN_POSITIVE);
        let mut consider = |chunk: u32, score: f64| {
            if eligible(chunk) {
                best.push(Candidate { score, part, chunk });
            }
            best.worst().max(f64::MIN_POSITIVE)
        };
        if is_dense(postings, width) {
            for (chunk, score) in (from..).zip(&*scores) {
                if *score >= least {
                    least = consider(chunk, *score);
                }
            }
            scores.fill(UNTOUCHED);
            return;
        }
        for chunk in self.touched.drain(..) {
            let Some(slot) = scores.get_mut(chunk.wrapping_sub(from) as usize) else { continue };
            let score = std::mem::replace(slot, UNTOUCHED);
            if score >= least {
                least = consider(chunk, score);
            }
        }
    }

    /// Notes the chunks that the terms that are not optional bring to `needed`, in ascending order.
    fn find_survivors(&mut self, Stretch { from, width, postings, .. }: Stretch, needed: f64) {
        let Self { scores, touched, survivors, .. } = self;
        let scores = scores.get(..width).unwrap_or_default();
        let least = needed.max(f64::MIN_POSITIVE);
        survivors.clear();
        if is_dense(postings, width) {
            let reach = (from..).zip(scores).filter(|(_, score)| **score >= least);
            survivors.extend(reach.map(|(chunk, score)| (chunk, *score)));
        } else {
            // Lookups go forward.
            touched.sort_unstable();
            let score = |chunk: u32| scores.get(chunk.wrapping_sub(from) as usize).copied();
            let all = touched.iter().filter_map(|chunk| Some((*chunk, score(*chunk)?)));
            survivors.extend(all.filter(|(_, score)| *score >= least));
        }
    }

    /// Adds what the optional terms add to all chunks, and pushes the survivors that reach enough.
    fn read_rest(&mut self, task: &Task<'_>, stretch: Stretch, best: &mut Best<'_>) {
        let Self { scores, touched, survivors, cursors, order } = self;
        let Stretch { from, width, optional, .. } = stretch;
        let scores = scores.get_mut(..width).unwrap_or_default();
        for at in order.get(..optional).unwrap_or_default() {
            let Some(cursor) = cursors.get(*at) else { continue };
            let list = here(task.segment, cursor);
            task.scoring.each(cursor.weight, list, task.segment, |chunk, part| {
                if let Some(score) = scores.get_mut(chunk.wrapping_sub(from) as usize) {
                    *score += part;
                }
            });
        }
        for (chunk, score) in &*survivors {
            let whole = scores.get(chunk.wrapping_sub(from) as usize).copied().unwrap_or(*score);
            if whole >= best.worst() * (1.0 - task.doubt) {
                push_in_order(task, cursors, *chunk, best);
            }
        }
        scores.fill(UNTOUCHED);
        touched.clear();
    }

    /// Looks up what the optional terms add to the survivors, and pushes those that reach enough.
    fn look_up_rest(&mut self, task: &Task<'_>, stretch: Stretch, best: &mut Best<'_>) {
        let Self { scores, touched, survivors, cursors, order } = self;
        let Stretch { from, width, postings, optional, .. } = stretch;
        let scores = scores.get_mut(..width).unwrap_or_default();
        for (chunk, score) in &*survivors {
            let needed = best.worst() * (1.0 - task.doubt);
            let order = order.get(..optional).unwrap_or_default();
            if can_reach(task, cursors, order, *chunk, *score, needed) {
                push_in_order(task, cursors, *chunk, best);
            }
        }
        if is_dense(postings, width) {
            scores.fill(UNTOUCHED);
        } else {
            for chunk in &*touched {
                if let Some(slot) = scores.get_mut(chunk.wrapping_sub(from) as usize) {
                    *slot = UNTOUCHED;
                }
            }
        }
        touched.clear();
    }
}

/// Pushes a chunk with its score added up in the order of the query's terms, if that is enough.
fn push_in_order(task: &Task<'_>, cursors: &mut [Cursor], chunk: u32, best: &mut Best<'_>) {
    let score = in_order(task, cursors, chunk);
    if score >= best.worst() {
        best.push(Candidate { score, part: task.part, chunk });
    }
}

/// Looking at every score is cheaper than noting which were touched when many were.
fn is_dense(postings: usize, width: usize) -> bool {
    postings * 8 >= width
}

/// The postings of a cursor's stretch.
fn here<'a>(segment: &'a Segment, cursor: &Cursor) -> List<'a> {
    let List { chunks, frequencies, .. } = segment.list(cursor.place);
    let range = cursor.next..cursor.end;
    List {
        chunks: chunks.get(range.clone()).unwrap_or_default(),
        frequencies: frequencies.get(range).unwrap_or_default(),
        blocks: &[],
    }
}

/// Whether a chunk whose terms that are not optional add up to `partial` can reach what is needed.
fn can_reach(
    task: &Task<'_>,
    cursors: &mut [Cursor],
    optional: &[usize],
    chunk: u32,
    mut partial: f64,
    needed: f64,
) -> bool {
    for at in optional.iter().rev() {
        let Some(cursor) = cursors.get_mut(*at) else { continue };
        if partial + (cursor.before + cursor.bound) < needed {
            return false;
        }
        partial += cursor.look_up(task, chunk);
    }
    partial >= needed
}

/// The score of a chunk, added up in the order of the query's terms.
fn in_order(task: &Task<'_>, cursors: &mut [Cursor], chunk: u32) -> f64 {
    cursors.iter_mut().fold(0.0, |score, cursor| score + cursor.look_up(task, chunk))
}

impl Cursor {
    /// What the term adds to a chunk of the stretch, not before the one looked up last.
    fn look_up(&mut self, task: &Task<'_>, chunk: u32) -> f64 {
        let List { chunks, frequencies, .. } = task.segment.list(self.place);
        let chunks = chunks.get(..self.end).unwrap_or_default();
        let rest = chunks.get(self.probe..).unwrap_or_default();
        // Steps that double, then halves of the last one.
        let mut step = 1;
        while rest.get(step).is_some_and(|there| *there < chunk) {
            step *= 2;
        }
        let near = rest.get(step / 2..rest.len().min(step + 1)).unwrap_or_default();
        self.probe += (step / 2).min(rest.len()) + near.partition_point(|there| *there < chunk);
        match (chunks.get(self.probe), frequencies.get(self.probe)) {
            (Some(there), Some(tf)) if *there == chunk => {
                task.scoring.of(self.weight, *tf, &task.segment.lengths(chunk))
            }
            _ => 0.0,
        }
    }
}
