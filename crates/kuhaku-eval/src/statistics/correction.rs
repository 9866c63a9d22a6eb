//! Many comparisons at once: p-values that allow for the number of them.

/// Holm's step-down adjustment (1979): keeps the probability of even one false finding below
/// alpha, whatever the dependence. Adjusted values stand where the given ones stood.
///
/// ```
/// assert_eq!(kuhaku_eval::holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut highest = 0.0_f64;
    adjusted(p, Order::Ascending, |rank, count, p| {
        highest = highest.max(p * (count - rank) as f64);
        highest
    })
}

/// Benjamini and Hochberg's step-up adjustment (1995): bounds the expected share of false findings
/// among all findings, for independent or positively dependent tests.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut lowest = 1.0_f64;
    adjusted(p, Order::Descending, |rank, count, p| {
        lowest = lowest.min(p * count as f64 / (rank + 1) as f64);
        lowest
    })
}

enum Order {
    Ascending,
    Descending,
}

/// Visits p-values in order with their rank from the smallest, which is 0.
fn adjusted(p: &[f64], order: Order, mut adjust: impl FnMut(usize, usize, f64) -> f64) -> Vec<f64> {
    let mut ranked: Vec<(usize, f64)> = p.iter().copied().enumerate().collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut steps: Vec<(usize, (usize, f64))> = ranked.into_iter().enumerate().collect();
    if matches!(order, Order::Descending) {
        steps.reverse();
    }
    let mut result = vec![1.0; p.len()];
    for (rank, (at, value)) in steps {
        let value = adjust(rank, p.len(), value).clamp(0.0, 1.0);
        if let Some(slot) = result.get_mut(at) {
            *slot = value;
        }
    }
    result
}
