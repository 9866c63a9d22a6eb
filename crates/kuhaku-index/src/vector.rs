//! Vectors of unit length, and their products.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};

/// Numbers of a vector, at most.
pub(crate) const LARGEST: usize = 1 << 16;

/// How far the length of a stored vector may be from 1: it was 1 but for rounding.
#[cfg(feature = "sqlite")]
const TOLERANCE: f64 = 1e-3;

/// A direction: 1 to 65,536 finite numbers whose squares add up to 1, but for rounding. A clone
/// shares them. Equal means equal to the last bit.
///
/// ```
/// let vector = kuhaku_index::Vector::new(vec![3.0, 4.0])?;
/// assert_eq!(vector.as_slice(), [0.6, 0.8]);
/// # Ok::<(), kuhaku_index::Error>(())
/// ```
#[derive(Clone)]
pub struct Vector(Arc<[f32]>);

impl Vector {
    /// The direction of some numbers: they are divided by their Euclidean length, which is computed
    /// in double precision and in their order.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for no numbers, more than 65,536, one that is not finite, or
    /// nothing but zeros.
    pub fn new(numbers: Vec<f32>) -> Result<Self> {
        let wrong = if numbers.is_empty() {
            "it has no numbers"
        } else if numbers.len() > LARGEST {
            "it has more than 65,536 numbers"
        } else if numbers.iter().any(|number| !number.is_finite()) {
            "one of its numbers is not finite"
        } else {
            let length = length(&numbers);
            if length > 0.0 {
                let divided = numbers.iter().map(|number| (f64::from(*number) / length) as f32);
                return Ok(Self(divided.collect()));
            }
            "all its numbers are zero, so it has no direction"
        };
        Err(Error::new(ErrorKind::InvalidInput, "use this vector", wrong)
            .next("check what the embedding model gives for this text"))
    }

    /// The numbers.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// How many numbers there are.
    pub fn dimension(&self) -> usize {
        self.0.len()
    }

    /// The cosine of the angle between two vectors, the same to the last bit as a dense search gives;
    /// none for vectors of different dimensions.
    pub fn cosine(&self, other: &Self) -> Option<f64> {
        let comparable = self.dimension() == other.dimension();
        comparable.then(|| f64::from(dot(&self.0, &other.0)))
    }

    /// The numbers as bytes, little-endian.
    #[cfg(feature = "sqlite")]
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// A vector of this dimension from its bytes, to the last bit; none when they are not those of one.
    #[cfg(feature = "sqlite")]
    pub(crate) fn from_bytes(bytes: &[u8], dimension: usize) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() || numbers.len() != dimension || !(1..=LARGEST).contains(&dimension) {
            return None;
        }
        let vector = Self(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect());
        // What is not finite is not near 1 either.
        ((length(&vector.0) - 1.0).abs() < TOLERANCE).then_some(vector)
    }
}

impl fmt::Debug for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Vector({})", self.dimension())
    }
}

impl PartialEq for Vector {
    fn eq(&self, other: &Self) -> bool {
        let bits =
            |vector: &Self| vector.0.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        Arc::ptr_eq(&self.0, &other.0) || bits(self) == bits(other)
    }
}

impl Eq for Vector {}

fn length(numbers: &[f32]) -> f64 {
    numbers.iter().map(|number| f64::from(*number) * f64::from(*number)).sum::<f64>().sqrt()
}

/// Sums that run beside each other, so that additions overlap and fill registers.
const LANES: usize = 16;

/// The sum of the products of two rows, a function of these alone: the order of additions is fixed, and
/// no multiplication is fused with one (D6, D8).
#[inline]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks(), b.as_chunks());
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| a * b);
    rest.fold(dot_of_whole(a, b), |sum, product| sum + product)
}

/// By itself, because it stays in registers only where nothing else touches its lanes.
#[inline(never)]
fn dot_of_whole(a: &[[f32; LANES]], b: &[[f32; LANES]]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    lanes.iter().sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_direction_is_refused_with_a_next_step() {
        let bad = [
            vec![],
            vec![0.0; 3],
            vec![1.0, f32::NAN],
            vec![f32::INFINITY, 1.0],
            vec![1.0; LARGEST + 1],
        ];
        for numbers in bad {
            let error = Vector::new(numbers).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::InvalidInput);
            assert!(error.next_step().is_some());
        }
    }

    /// W-50
    #[test]
    fn any_length_becomes_one_from_the_least_to_the_largest_number() {
        for number in [f32::from_bits(1), f32::MIN_POSITIVE, 1e-3, 7.0, f32::MAX] {
            let vector = Vector::new(vec![number; 384]).unwrap();
            assert!((length(vector.as_slice()) - 1.0).abs() < 1e-6, "{number}");
        }
        assert_eq!(Vector::new(vec![-0.5]).unwrap().as_slice(), [-1.0]);
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn bytes_come_back_to_the_last_bit_or_not_at_all() {
        let vector = Vector::new(vec![0.1, -0.7, 0.0, 3.0]).unwrap();
        let bytes = vector.to_bytes();
        assert_eq!(Vector::from_bytes(&bytes, 4), Some(vector));
        assert_eq!(Vector::from_bytes(&bytes, 3), None);
        assert_eq!(Vector::from_bytes(&bytes[..15], 4), None);
        assert_eq!(Vector::from_bytes(&[], 0), None);
        for wrong in [f32::NAN, f32::INFINITY, 2.0] {
            let bytes = [&bytes[..12], &wrong.to_le_bytes()].concat();
            assert_eq!(Vector::from_bytes(&bytes, 4), None, "{wrong}");
        }
    }

    #[test]
    fn a_product_does_not_depend_on_the_order_of_its_two_rows() {
        let row = |seed: f32| (0..401).map(|n| ((n as f32) * seed).sin()).collect::<Vec<_>>();
        let (a, b) = (row(0.7), row(1.3));
        assert_eq!(dot(&a, &b).to_bits(), dot(&b, &a).to_bits());
        let exact: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        assert!((f64::from(dot(&a, &b)) - exact).abs() < 1e-4);
    }
}
