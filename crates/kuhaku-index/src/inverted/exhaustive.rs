//! Scoring without shortcuts: what the searches must equal to the last bit. For tests.

use super::best::{Best, Candidate, better};
use super::nearest;
use super::scratch::Scratch;
use super::search::{Rules, hit, prepare};
use super::view::View;
use crate::query::{DenseHit, DenseQuery, SparseHit, SparseQuery};
use crate::vector::dot;

impl View {
    /// The best chunks, found by scoring every chunk; for queries with parameters in range.
    #[doc(hidden)]
    pub fn sparse_exhaustively(&self, query: &SparseQuery) -> Vec<SparseHit> {
        let mut scratch = Scratch::default();
        let mut kept = Vec::new();
        if query.limit == 0 || self.chunks == 0 {
            return Vec::new();
        }
        let scoring = prepare(self, query, &mut scratch);
        let rules = Rules::new(self, &query.filter, false);
        let mut best = Best::new(self, query.limit, &mut kept);
        let parts = self.generation.parts.len();
        for (at, (part, sight)) in self.parts().enumerate() {
            let segment = &part.segment;
            for chunk in 0..segment.chunks().len() as u32 {
                let mut score = 0.0;
                for (number, term) in scratch.terms.iter().enumerate() {
                    let Some(Some(place)) = scratch.places.get(number * parts + at) else {
                        continue;
                    };
                    let list = segment.list(*place);
                    if let Ok(place) = list.chunks.binary_search(&chunk)
                        && let Some(tf) = list.frequencies.get(place)
                    {
                        score += scoring.of(term.weight, *tf, &segment.lengths(chunk));
                    }
                }
                if score > 0.0 && rules.admit(part, sight, chunk) {
                    best.push(Candidate { score, part: at as u32, chunk });
                }
            }
        }
        best.ranked().iter().filter_map(|candidate| hit(self, candidate)).collect()
    }

    /// The nearest chunks, found by comparing every row as it is; for vectors of the index's dimension.
    #[doc(hidden)]
    pub fn dense_exhaustively(&self, query: &DenseQuery) -> Vec<DenseHit> {
        let rules = Rules::new(self, &query.filter, false);
        let mut all = Vec::new();
        for (at, (part, sight)) in (0_u32..).zip(self.parts()) {
            let matrix = part.segment.matrix();
            for (row, chunk) in matrix.chunks().iter().enumerate() {
                let Some(row) = matrix.row(row) else { continue };
                let score = f64::from(dot(query.vector.as_slice(), row.as_slice()));
                if rules.admit(part, sight, *chunk) {
                    all.push(Candidate { score, part: at, chunk: *chunk });
                }
            }
        }
        all.sort_by(|a, b| better(self, a, b));
        all.iter().take(query.limit).filter_map(|candidate| nearest::hit(self, candidate)).collect()
    }
}
