//! The yardstick: every row of 32-bit numbers, one after another, and the best kept.

use std::cmp::Ordering;

/// The `count` rows of the greatest product with `query`, best first, ties by row.
pub(super) fn scan(numbers: &[f32], query: &[f32], count: usize) -> Vec<(u32, f32)> {
    let mut best: Vec<(u32, f32)> = Vec::with_capacity(count + 1);
    let mut least = f32::NEG_INFINITY;
    for (row, numbers) in (0_u32..).zip(numbers.chunks_exact(query.len())) {
        let product = dot(numbers, query);
        if best.len() == count && product <= least {
            continue;
        }
        let at = best.partition_point(|(_, other)| other.total_cmp(&product) != Ordering::Less);
        best.insert(at, (row, product));
        best.truncate(count);
        least = best.last().map_or(f32::NEG_INFINITY, |(_, product)| *product);
    }
    best
}

/// Sixteen sums side by side, so that a compiler can take vector instructions.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut sums = [0.0_f32; 16];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_rows_come_first_and_equal_ones_in_their_order() {
        let rows = [[0.0, 1.0], [1.0, 0.0], [0.6, 0.8], [0.6, 0.8]].concat();
        let found: Vec<u32> = scan(&rows, &[0.0, 1.0], 3).iter().map(|(row, _)| *row).collect();
        assert_eq!(found, [0, 2, 3]);
    }
}
