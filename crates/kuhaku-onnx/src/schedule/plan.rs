//! Which rows go into one batch.

/// Which rows may share a batch without changing what they give (D7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Grouping {
    /// Any: neither its batch-mates nor what fills a row up changes a bit of what it gives.
    Any,
    /// Rows of one length: batch-mates change nothing, filling up does.
    EqualLengths,
    /// None: a row goes alone.
    Alone,
}

/// The rows of each batch, by their place in `lengths`. Rows of like length go together, the
/// longest first; a batch takes at most `budget` tokens, those that fill up included, unless one
/// row alone is longer.
pub(crate) fn batches(lengths: &[usize], budget: usize, grouping: Grouping) -> Vec<Vec<usize>> {
    let mut order: Vec<(usize, usize)> = lengths.iter().copied().enumerate().collect();
    order.sort_by_key(|(_, length)| std::cmp::Reverse(*length));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut longest = 0;
    for (row, length) in order {
        if let Some(batch) = batches.last_mut() {
            let joins = match grouping {
                Grouping::Any => true,
                Grouping::EqualLengths => length == longest,
                Grouping::Alone => false,
            };
            if joins && (batch.len() + 1).saturating_mul(longest) <= budget {
                batch.push(row);
                continue;
            }
        }
        longest = length;
        batches.push(vec![row]);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_keep_to_the_budget_and_hold_every_row_once() {
        let lengths: Vec<usize> = (0..200).map(|n| (n * 37) % 90 + 1).collect();
        for grouping in [Grouping::Any, Grouping::EqualLengths, Grouping::Alone] {
            let batches = batches(&lengths, 256, grouping);
            let mut rows: Vec<usize> = batches.iter().flatten().copied().collect();
            rows.sort_unstable();
            assert_eq!(rows, (0..200).collect::<Vec<_>>(), "{grouping:?}");
            for batch in &batches {
                let longest = batch.iter().map(|row| lengths[*row]).max().unwrap();
                let shortest = batch.iter().map(|row| lengths[*row]).min().unwrap();
                assert!(batch.len() == 1 || batch.len() * longest <= 256, "{grouping:?}");
                assert!(grouping != Grouping::EqualLengths || shortest == longest);
                assert!(grouping != Grouping::Alone || batch.len() == 1);
            }
        }
    }

    #[test]
    fn the_order_of_equal_lengths_is_the_order_of_the_rows() {
        assert_eq!(batches(&[3, 9, 3, 3], 6, Grouping::Any), [vec![1], vec![0, 2], vec![3]]);
        assert!(batches(&[], 6, Grouping::Any).is_empty());
    }
}
