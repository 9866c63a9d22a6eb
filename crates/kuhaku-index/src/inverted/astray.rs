//! Searches by vectors as they must not be: seeded faults.

use super::best::{Best, Candidate};
use super::matrix::Matrix;
use super::search::Rules;
use super::view::View;
use crate::fault::Fault;
use crate::query::DenseQuery;

/// Searches as a seeded fault does; false when there is none of vectors.
pub(super) fn search(
    view: &View,
    query: &DenseQuery,
    rules: &Rules<'_>,
    best: &mut Best<'_>,
) -> bool {
    if view.seeded.has(Fault::GlobalVectorScale) {
        globally_scaled(view, query, rules, best);
    } else if view.seeded.has(Fault::PoolCutBeforeScope) {
        from_a_pool(view, query, rules, best);
    } else {
        return false;
    }
    true
}

/// All rows that live, as numbers.
fn rows(view: &View) -> impl Iterator<Item = (u32, u32, &[f32])> {
    (0_u32..).zip(view.parts()).flat_map(|(at, (part, _))| {
        let matrix: &Matrix = part.segment.matrix();
        let chunks = matrix.chunks().iter().enumerate();
        let living = chunks
            .filter(|(_, chunk)| !part.dead.as_ref().is_some_and(|dead| dead.has_chunk(**chunk)));
        living.filter_map(move |(row, chunk)| Some((at, *chunk, matrix.row(row)?.as_slice())))
    })
}

fn globally_scaled(view: &View, query: &DenseQuery, rules: &Rules<'_>, best: &mut Best<'_>) {
    let largest = |row: &[f32]| row.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
    let scale = rows(view).map(|(.., row)| largest(row)).fold(0.0_f32, f32::max) / 127.0;
    let code = |number: &f32| f64::from((number / scale).round() * scale);
    for (part, chunk, row) in rows(view) {
        let Some((of, sight)) = view.at(part) else { continue };
        if rules.admit(of, sight, chunk) {
            let products = query.vector.as_slice().iter().zip(row).map(|(a, b)| code(a) * code(b));
            best.push(Candidate { score: products.sum(), part, chunk });
        }
    }
}

fn from_a_pool(view: &View, query: &DenseQuery, rules: &Rules<'_>, best: &mut Best<'_>) {
    let mut kept = Vec::new();
    let mut pool = Best::above(view, query.limit, &mut kept, f64::NEG_INFINITY);
    for (part, chunk, row) in rows(view) {
        let score = f64::from(crate::vector::dot(query.vector.as_slice(), row));
        pool.push(Candidate { score, part, chunk });
    }
    for candidate in pool.ranked() {
        let Some((part, sight)) = view.at(candidate.part) else { continue };
        if rules.admit(part, sight, candidate.chunk) {
            best.push(*candidate);
        }
    }
}
