//! The formula, and bounds on it.

use super::frequencies::{Frequencies, Lengths};
use super::postings::{BLOCK, Block, List};
use super::segment::Segment;
use crate::query::{Bm25, FieldWeights};

/// The parts of BM25 that are the same for all chunks of a query.
#[derive(Debug)]
pub(super) struct Scoring {
    /// Absent when all are 1, so that sums of integers do.
    weights: Option<FieldWeights>,
    /// `k1 * (1 - b)`
    base: f64,
    /// `k1 * b / average`
    per_token: f64,
    /// `k1 + 1`
    gain: f64,
}

impl Scoring {
    /// For this average length in weighted tokens.
    pub(super) fn new(bm25: &Bm25, average: f64) -> Self {
        let Bm25 { k1, b, weights } = *bm25;
        let average = if average > 0.0 { average } else { 1.0 };
        let weights = (weights != FieldWeights::default()).then_some(weights);
        Self { weights, base: k1 * (1.0 - b), per_token: k1 * b / average, gain: k1 + 1.0 }
    }

    #[inline]
    fn saturated(&self, tf: f64, length: f64) -> f64 {
        // Without a test for 0, a term whose fields have no weight would divide 0 by 0.
        if tf > 0.0 { tf * self.gain / (tf + (self.base + self.per_token * length)) } else { 0.0 }
    }

    /// What a term of this weight adds to a chunk's score; 0 or more. Grows with each frequency and
    /// falls with each length, but for the rounding of five operations.
    #[inline]
    pub(super) fn of(&self, weight: f64, tf: Frequencies, lengths: &Lengths<u32>) -> f64 {
        weight
            * match &self.weights {
                None => self.saturated(f64::from(tf.total()), f64::from(lengths.total())),
                Some(weights) => self.saturated(tf.weighted(weights), lengths.weighted(weights)),
            }
    }

    /// What no posting of a block exceeds, but for rounding.
    #[inline]
    pub(super) fn bound(&self, weight: f64, block: &Block) -> f64 {
        self.of(weight, block.most, &block.least)
    }

    /// Calls `add` with each chunk of some postings and what the term adds to its score.
    #[inline]
    pub(super) fn each(
        &self,
        weight: f64,
        list: List<'_>,
        segment: &Segment,
        mut add: impl FnMut(u32, f64),
    ) {
        let mut parts = [0.0; BLOCK];
        let blocks = list.chunks.chunks(BLOCK).zip(list.frequencies.chunks(BLOCK));
        for (chunks, frequencies) in blocks {
            // Apart from the additions, so that the divisions of neighbours overlap.
            match &self.weights {
                None => {
                    let totals = segment.totals();
                    for ((part, chunk), tf) in parts.iter_mut().zip(chunks).zip(frequencies) {
                        let length = totals.get(*chunk as usize).copied().unwrap_or_default();
                        let tf = f64::from(tf.total());
                        *part = weight * self.saturated(tf, f64::from(length));
                    }
                }
                Some(_) => {
                    for ((part, chunk), tf) in parts.iter_mut().zip(chunks).zip(frequencies) {
                        *part = self.of(weight, *tf, &segment.lengths(*chunk));
                    }
                }
            }
            for (chunk, part) in chunks.iter().zip(&parts) {
                add(*chunk, *part);
            }
        }
    }
}

/// How much sums may differ by rounding, as a share of them: each part is off by less than ten units
/// in the last place, and each of the additions by one more; twice that on both sides of a comparison.
pub(super) fn doubt(terms: usize) -> f64 {
    (terms as f64 + 16.0) * 8.0 * f64::EPSILON
}
