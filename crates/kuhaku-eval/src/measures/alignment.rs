//! Which items of a label's list and an answer's list belong together.

use serde_json::Value;

use super::object::{ObjectRules, similarity};

/// Which items of two lists are compared with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ListAlignment {
    /// The first with the first, the second with the second.
    #[default]
    ByPosition,
    /// The most alike first, in any order: pairs are taken by the share of matching leaves, highest
    /// first, ties by position in the label and then in the answer. Lists of more than 10,000 pairs
    /// and lists inside more than two others are compared by position, which bounds the work.
    ByLikeness,
}

const MOST_PAIRS: usize = 10_000;
const DEEPEST: u32 = 2;

type Pair<'a> = (Option<&'a Value>, Option<&'a Value>);

pub(super) fn pairs<'a>(
    label: &'a [Value],
    answer: &'a [Value],
    rules: ObjectRules,
    nesting: u32,
) -> Vec<Pair<'a>> {
    let by_position = rules.lists == ListAlignment::ByPosition
        || label.len().saturating_mul(answer.len()) > MOST_PAIRS
        || nesting > DEEPEST;
    if by_position {
        let longer = label.len().max(answer.len());
        return (0..longer).map(|at| (label.get(at), answer.get(at))).collect();
    }
    by_likeness(label, answer, rules, nesting)
}

fn by_likeness<'a>(
    label: &'a [Value],
    answer: &'a [Value],
    rules: ObjectRules,
    nesting: u32,
) -> Vec<Pair<'a>> {
    let mut candidates: Vec<(f64, usize, usize)> = Vec::new();
    for (row, expected) in label.iter().enumerate() {
        for (column, given) in answer.iter().enumerate() {
            candidates.push((similarity(expected, given, rules, nesting + 1), row, column));
        }
    }
    // A stable sort keeps positions in order among equals.
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut partner: Vec<Option<usize>> = vec![None; label.len()];
    let mut taken = vec![false; answer.len()];
    for (_, row, column) in candidates {
        if let (Some(slot @ None), Some(free @ false)) =
            (partner.get_mut(row), taken.get_mut(column))
        {
            *slot = Some(column);
            *free = true;
        }
    }
    let matched = label
        .iter()
        .zip(partner)
        .map(|(item, column)| (Some(item), column.and_then(|column| answer.get(column))));
    let left =
        answer.iter().zip(taken).filter(|(_, taken)| !taken).map(|(item, _)| (None, Some(item)));
    matched.chain(left).collect()
}
