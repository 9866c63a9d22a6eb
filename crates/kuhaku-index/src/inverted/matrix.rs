//! The vectors of a segment: rows as they are, and codes of eight bits with what these leave out (D8).
//!
//! A row x is coded as integers c and a scale s of its own, so that x = s c + r with a small rest r,
//! whose length is kept. A query q is coded likewise, as t d + p, with more bits. Then (Cauchy and
//! Schwarz) q x differs from t s (d c) by |q| |r| + |p| |s c| at most. What cannot be among the best by
//! these bounds is not looked at any closer; so what is found is what comparing all rows would find.

use super::products::{self, Products, QueryCodes};
use crate::vector::Vector;

/// What the numbers of a code reach, on both sides of 0.
const REACH: f32 = 127.0;

/// What is added to the numbers of a code, so that none is negative: bytes without a sign become wider
/// numbers in one step.
const MIDDLE: i32 = 128;

/// What a code stands for.
#[derive(Clone, Copy, Debug)]
struct Grain {
    /// One step.
    scale: f32,
    /// The length of what the code leaves out of its row; not less.
    rest: f32,
}

/// Rows of one dimension, of chunks in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Matrix {
    dimension: usize,
    /// By row: its chunk.
    chunks: Vec<u32>,
    rows: Vec<Vector>,
    codes: Vec<u8>,
    grains: Vec<Grain>,
}

impl Matrix {
    /// The chunks that have a row.
    pub(crate) fn chunks(&self) -> &[u32] {
        &self.chunks
    }

    /// Adds the row of a chunk that comes after all others. Rows of another dimension than the first
    /// are none of the index's embedder; nobody hands one over.
    pub(super) fn push(&mut self, chunk: u32, row: Vector) {
        if self.rows.is_empty() {
            self.dimension = row.dimension();
        }
        if row.dimension() != self.dimension {
            return;
        }
        let largest = row.as_slice().iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        let scale = largest / REACH;
        let code = |number: &f32| ((number / scale).round() as i32 + MIDDLE) as u8;
        self.codes.extend(row.as_slice().iter().map(code));
        let from = self.codes.len().saturating_sub(self.dimension);
        let codes = self.codes.get(from..).unwrap_or_default();
        let steps = codes.iter().map(|code| f64::from(i32::from(*code) - MIDDLE));
        let rest = rest(row.as_slice(), steps, scale.into());
        self.grains.push(Grain { scale, rest: above(rest) });
        self.chunks.push(chunk);
        self.rows.push(row);
    }

    /// Adds a row of another matrix, for a chunk that comes after all others.
    pub(super) fn copy(&mut self, other: &Self, row: usize, chunk: u32) {
        let (Some(vector), Some(grain)) = (other.rows.get(row), other.grains.get(row)) else {
            return;
        };
        if self.rows.is_empty() {
            self.dimension = other.dimension;
        }
        if self.dimension == other.dimension {
            self.codes.extend_from_slice(other.code(row));
            self.grains.push(*grain);
            self.chunks.push(chunk);
            self.rows.push(vector.clone());
        }
    }

    /// Gives back the room that nothing needs any more.
    pub(super) fn shrink(&mut self) {
        self.chunks.shrink_to_fit();
        self.rows.shrink_to_fit();
        self.codes.shrink_to_fit();
        self.grains.shrink_to_fit();
    }

    /// The row of a chunk.
    pub(crate) fn row_of(&self, chunk: u32) -> Option<usize> {
        // Most often all chunks have one.
        let guess = chunk as usize;
        if self.chunks.get(guess) == Some(&chunk) {
            return Some(guess);
        }
        self.chunks.binary_search(&chunk).ok()
    }

    pub(crate) fn row(&self, row: usize) -> Option<&Vector> {
        self.rows.get(row)
    }

    fn code(&self, row: usize) -> &[u8] {
        let from = row * self.dimension;
        self.codes.get(from..from + self.dimension).unwrap_or_default()
    }
}

/// The length of what codes leave out.
fn rest(numbers: &[f32], codes: impl Iterator<Item = f64>, scale: f64) -> f64 {
    let rests = numbers.iter().zip(codes).map(|(number, code)| f64::from(*number) - scale * code);
    rests.map(|rest| rest * rest).sum::<f64>().sqrt()
}

/// A number that is not less, in single precision; also for the rounding of the sum that it is of.
fn above(number: f64) -> f32 {
    ((number * (1.0 + 1e-9)) as f32).next_up()
}

/// A query in codes.
#[derive(Debug)]
pub(super) struct Probe<'a> {
    vector: &'a Vector,
    codes: QueryCodes,
    products: Products,
    /// What adding to the numbers of rows adds to a product.
    excess: i32,
    scale: f64,
    /// How much the rest of a row can add.
    per_rest: f64,
    /// How much the rest of the query and rounding can add.
    slack: f64,
}

impl<'a> Probe<'a> {
    pub(super) fn new(vector: &'a Vector) -> Self {
        let numbers = vector.as_slice();
        let dimension = numbers.len().max(1);
        // So many steps that a sum of products with codes stays within 32 bits.
        let steps = (i32::MAX as f64 / (f64::from(REACH) * dimension as f64)).floor();
        let steps = steps.min(f64::from(products::REACH));
        let largest = numbers.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        let scale = f64::from(largest) / steps;
        let codes: Vec<i16> =
            numbers.iter().map(|number| (f64::from(*number) / scale).round() as i16).collect();
        let rest = rest(numbers, codes.iter().map(|code| f64::from(*code)), scale);
        // Vectors are of length 1 but for rounding; 1.001 leaves room for that of stored ones too.
        const LENGTH: f64 = 1.001;
        // Of the exact product: per lane a 16th of the additions, then one per lane and per number
        // that fills none, each off by half a unit in the last place of a sum that the lengths bound.
        let rounding = (dimension as f64 / 16.0 + 34.0) * f64::from(f32::EPSILON) * LENGTH * LENGTH;
        let slack = rest * LENGTH + rounding + 1e-9;
        let sum = codes.iter().fold(0_i32, |sum, code| sum.wrapping_add(i32::from(*code)));
        let excess = sum.wrapping_mul(MIDDLE);
        let (products, codes) = (Products::detect(), QueryCodes::new(codes));
        Self { vector, codes, products, excess, scale, per_rest: LENGTH + rest, slack }
    }

    /// The cosine of a row.
    #[inline]
    pub(super) fn cosine(&self, row: &Vector) -> f64 {
        f64::from(crate::vector::dot(self.vector.as_slice(), row.as_slice()))
    }

    /// What the cosine of a row does not fall below, and what it does not exceed.
    #[inline]
    pub(super) fn bounds(&self, matrix: &Matrix, row: usize) -> (f64, f64) {
        let Some(Grain { scale, rest }) = matrix.grains.get(row) else {
            return (f64::NEG_INFINITY, f64::NEG_INFINITY);
        };
        let product = self.products.sum(&self.codes, matrix.code(row));
        let product = product.wrapping_sub(self.excess);
        let about = f64::from(product) * self.scale * f64::from(*scale);
        let off = f64::from(*rest) * self.per_rest + self.slack;
        (about - off, about + off)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of all sizes, which add up to something.
    fn vector(dimension: usize) -> impl Strategy<Value = Vector> {
        let number = prop_oneof![
            -1.0_f32..1.0,
            Just(0.0),
            Just(1.0),
            -1e-6_f32..1e-6,
            Just(f32::MIN_POSITIVE),
            -1e6_f32..1e6,
        ];
        prop::collection::vec(number, dimension)
            .prop_filter_map("no direction", |numbers| Vector::new(numbers).ok())
    }

    proptest! {
        #[test]
        fn cosines_lie_within_their_bounds(
            (query, rows) in (1_usize..70).prop_flat_map(|dimension| {
                (vector(dimension), prop::collection::vec(vector(dimension), 1..20))
            }),
        ) {
            let mut matrix = Matrix::default();
            // The query's own row among them: the bound is tightest there.
            for (chunk, row) in (0_u32..).zip(rows.iter().chain([&query])) {
                matrix.push(chunk, row.clone());
            }
            let probe = Probe::new(&query);
            for row in 0..matrix.chunks().len() {
                let cosine = probe.cosine(matrix.row(row).unwrap());
                let (least, most) = probe.bounds(&matrix, row);
                prop_assert!(least <= cosine && cosine <= most, "{least} {cosine} {most}");
                prop_assert!(most < least + 0.6, "{least} {cosine} {most}");
            }
        }
    }

    #[test]
    fn codes_of_the_largest_dimension_stay_within_their_integers() {
        for dimension in [384, 3_072, 1 << 16] {
            let ones = Vector::new(vec![1.0; dimension]).unwrap();
            let mut matrix = Matrix::default();
            matrix.push(0, ones.clone());
            let (least, most) = Probe::new(&ones).bounds(&matrix, 0);
            assert!(0.98 < least && (1.0..1.02).contains(&most), "{dimension}: {least} {most}");
        }
    }

    #[test]
    fn a_row_is_found_by_its_chunk_and_copied_as_it_is() {
        let mut matrix = Matrix::default();
        let row = |n: f32| Vector::new(vec![n, 1.0]).unwrap();
        for chunk in [0, 2, 7] {
            matrix.push(chunk, row(chunk as f32));
        }
        matrix.push(8, Vector::new(vec![1.0; 3]).unwrap());
        assert_eq!(matrix.chunks(), [0, 2, 7]);
        assert_eq!(
            [0, 1, 2, 7, 8].map(|chunk| matrix.row_of(chunk)),
            [Some(0), None, Some(1), Some(2), None]
        );
        let mut other = Matrix::default();
        other.copy(&matrix, 2, 3);
        assert_eq!(other.row(0), Some(&row(7.0)));
        assert_eq!(other.codes, matrix.codes[4..]);
    }
}
