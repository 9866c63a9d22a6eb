//! Drafting on several threads.

use std::thread;

use super::drafter::{Drafter, Drafters};
use super::segment::Segment;

/// Bytes of text that are worth a thread of their own; about 1 ms of work.
const WORTH: usize = 1 << 16;

/// Drafts documents on as many threads as the machine has and their text is worth.
///
/// `work` drafts some of them, in order. What it returns comes in the order of the documents, and so do
/// the segments, which are as many as threads.
pub(crate) fn drafted<T: Send, R: Send>(
    drafters: &Drafters,
    documents: Vec<T>,
    bytes: impl Fn(&T) -> usize,
    work: impl Fn(Vec<T>, &mut Drafter) -> Vec<R> + Sync,
) -> (Vec<R>, Vec<Segment>) {
    let available = thread::available_parallelism().map_or(1, usize::from);
    drafted_on(available, drafters, documents, bytes, work)
}

pub(super) fn drafted_on<T: Send, R: Send>(
    threads: usize,
    drafters: &Drafters,
    documents: Vec<T>,
    bytes: impl Fn(&T) -> usize,
    work: impl Fn(Vec<T>, &mut Drafter) -> Vec<R> + Sync,
) -> (Vec<R>, Vec<Segment>) {
    let size: usize = documents.iter().map(&bytes).sum();
    let share = size.div_ceil(threads.max(1)).max(WORTH);
    let mut groups = Vec::new();
    let (mut group, mut filled) = (Vec::new(), 0);
    for document in documents {
        filled += bytes(&document);
        group.push(document);
        if filled >= share {
            groups.push(std::mem::take(&mut group));
            filled = 0;
        }
    }
    if !group.is_empty() {
        groups.push(group);
    }
    let alone = |group| drafters.with(|drafter| work(group, drafter));
    let mut groups = groups.into_iter();
    let first = groups.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = groups.map(|group| scope.spawn(|| alone(group))).collect();
        let (mut results, segment) = alone(first);
        let mut segments = Vec::from_iter(segment);
        for other in others {
            let (more, segment) =
                other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            results.extend(more);
            segments.extend(segment);
        }
        (results, segments)
    })
}
