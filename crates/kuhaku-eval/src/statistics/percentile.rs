//! Means and percentiles.

/// The mean, `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The value below which `percent` of the values lie, interpolated linearly between the two nearest
/// (type 7 of Hyndman and Fan, 1996; what NumPy does). `percent` is held in `0..=100`. `None` of
/// nothing; NaNs sort last.
///
/// ```
/// use kuhaku_eval::percentile;
/// assert_eq!(percentile(&[4.0, 1.0, 3.0, 2.0], 50.0), Some(2.5));
/// assert_eq!(percentile(&[], 50.0), None);
/// ```
pub fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    of_sorted(&sorted, percent / 100.0)
}

/// The quantile of ascending values.
pub(super) fn of_sorted(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    let position = share * last as f64;
    let below = *sorted.get(position.floor() as usize)?;
    let above = *sorted.get(position.ceil() as usize)?;
    // Written so that equal neighbours, infinite ones included, give themselves.
    let part = position.fract();
    Some(if part == 0.0 || below == above { below } else { below + (above - below) * part })
}
