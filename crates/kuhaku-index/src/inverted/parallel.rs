//! Drafting on several threads.

use std::thread;

use super::draft::Draft;

/// Bytes of text that are worth a thread of their own; about 2 ms of work.
const WORTH: usize = 1 << 16;

/// Drafts documents on as many threads as the machine has and their text is worth.
///
/// `work` drafts some of them, in order. What it returns comes in the order of the documents, and the
/// draft is the same as from one thread, but for the numbers of terms, which no segment shows.
pub(crate) fn drafted<T: Send, R: Send>(
    documents: Vec<T>,
    bytes: impl Fn(&T) -> usize,
    work: impl Fn(Vec<T>, &mut Draft) -> Vec<R> + Sync,
) -> (Vec<R>, Draft) {
    let available = thread::available_parallelism().map_or(1, usize::from);
    drafted_on(available, documents, bytes, work)
}

pub(super) fn drafted_on<T: Send, R: Send>(
    threads: usize,
    documents: Vec<T>,
    bytes: impl Fn(&T) -> usize,
    work: impl Fn(Vec<T>, &mut Draft) -> Vec<R> + Sync,
) -> (Vec<R>, Draft) {
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
    let alone = |group| {
        let mut draft = Draft::default();
        (work(group, &mut draft), draft)
    };
    let mut groups = groups.into_iter();
    let first = groups.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = groups.map(|group| scope.spawn(|| alone(group))).collect();
        let (mut results, mut draft) = alone(first);
        for other in others {
            let (more, part) =
                other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            results.extend(more);
            draft.append(part);
        }
        (results, draft)
    })
}
