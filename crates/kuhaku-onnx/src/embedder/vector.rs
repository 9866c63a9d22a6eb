//! Vectors of length 1.

use crate::error::{Error, ErrorKind, Result};

/// Brings a vector to length 1.
///
/// # Errors
/// [`ErrorKind::Inference`] when it has no direction: all zeros, or not numbers.
pub(super) fn unit(mut vector: Vec<f32>) -> Result<Vec<f32>> {
    let square: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    let length = square.sqrt();
    if !length.is_finite() || length <= 0.0 {
        let wrong = "the model gave a vector without a direction";
        return Err(Error::new(ErrorKind::Inference, "embed a text", wrong)
            .next("pull the model again with `kuhaku models pull`, or use another"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "the quotient is at most 1")]
    vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
    Ok(vector)
}

/// The vector of a text from those of its windows, weighted by how many tokens each holds.
///
/// # Errors
/// As for [`unit`].
pub(super) fn of_windows(
    windows: impl Iterator<Item = Vec<f32>>,
    weights: &[usize],
) -> Result<Vec<f32>> {
    let mut sum: Vec<f32> = Vec::new();
    for (window, weight) in windows.zip(weights) {
        let window = unit(window)?;
        if weights.len() == 1 {
            return Ok(window);
        }
        sum.resize(window.len(), 0.0);
        #[expect(clippy::cast_precision_loss, reason = "windows have few tokens")]
        let weight = *weight as f32;
        for (sum, number) in sum.iter_mut().zip(&window) {
            *sum += weight * number;
        }
    }
    unit(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_weigh_as_much_as_the_tokens_they_hold() {
        let windows = [vec![5.0, 0.0], vec![0.0, 0.1]].into_iter();
        assert_eq!(of_windows(windows, &[3, 4]).unwrap(), [0.6, 0.8]);
        assert_eq!(of_windows([vec![3.0, 4.0]].into_iter(), &[9]).unwrap(), [0.6, 0.8]);
    }

    #[test]
    fn a_vector_without_a_direction_is_an_error() {
        for vector in [vec![], vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![f32::INFINITY]] {
            assert!(unit(vector.clone()).is_err(), "{vector:?}");
        }
    }
}
