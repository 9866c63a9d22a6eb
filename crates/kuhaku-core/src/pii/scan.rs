//! Runs the recognisers over one text.

use std::ops::Range;

use crate::masking::{Masked, Placeholder};

use super::fold::Folded;
use super::token::TokenRecogniser;
use super::{card, email, iban, ip, national_id};

/// A validated candidate: the bytes and what they are.
pub(super) type Span = (Range<usize>, Placeholder);

/// A recogniser, or several of equal rank.
type Stage<'a> = &'a dyn Fn(&str) -> Vec<Span>;

/// The spans of `text` to be masked: disjoint, in order.
pub(super) fn spans(text: &str, tokens: &TokenRecogniser) -> Vec<Span> {
    let folded = Folded::new(text);
    let addresses = |text: &str| tokens.find_user_info(text);
    let words = |text: &str| [email::find(text), tokens.find(text)].concat();
    let short = |text: &str| tokens.find_short_prefixes(text);
    let numbers = |text: &str| [ip::find(text), card::find(text), national_id::find(text)].concat();
    let spread = |text: &str| [card::find_spread(text), national_id::find_spread(text)].concat();
    let stages: [Stage<'_>; 7] =
        [&addresses, &words, &short, &iban::find, &numbers, &spread, &card::find_short_groups];
    let found = read(folded.text(), &stages);
    found.into_iter().map(|(range, kind)| (folded.to_source(range), kind)).collect()
}

/// Each stage reads what the earlier ones left, with their placeholders in it, as a second masking
/// would. And no recogniser looks at a neighbour that a recogniser of its own or a later stage may
/// replace. Together that makes masking idempotent.
fn read(text: &str, stages: &[Stage<'_>]) -> Vec<Span> {
    let Some((stage, later)) = stages.split_first() else {
        return Vec::new();
    };
    let mut spans = merge(stage(text));
    if spans.is_empty() {
        return read(text, later);
    }
    let left = Masked::replacing(text, spans.clone());
    let rest = read(left.text(), later);
    spans.extend(rest.into_iter().map(|(range, kind)| (left.map().to_source(range), kind)));
    spans.sort_by_key(|(range, _)| range.start);
    spans
}

/// Joins candidates that overlap, so that no part of a value is left beside its mask. The longest
/// names the whole; of two equally long ones the first.
pub(super) fn merge(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|(range, _)| range.start);
    let mut merged: Vec<(Range<usize>, Placeholder, usize)> = Vec::with_capacity(spans.len());
    for (range, kind) in spans {
        match merged.last_mut() {
            Some((whole, name, longest)) if range.start < whole.end => {
                if range.len() > *longest {
                    (*name, *longest) = (kind, range.len());
                }
                whole.end = whole.end.max(range.end);
            }
            _ => {
                let length = range.len();
                merged.push((range, kind, length));
            }
        }
    }
    merged.into_iter().map(|(range, kind, _)| (range, kind)).collect()
}

/// True when a placeholder ends at byte `at` of `text`.
pub(super) fn placeholder_before(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|head| Placeholder::ALL.iter().any(|p| head.ends_with(p.as_str())))
}

/// True when a placeholder begins at byte `at` of `text`.
pub(super) fn placeholder_after(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|tail| Placeholder::ALL.iter().any(|p| tail.starts_with(p.as_str())))
}

/// The character that ends at byte `at`.
pub(super) fn before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

/// The character that begins at byte `at`.
pub(super) fn after(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_candidates_become_one_span_named_by_the_longest() {
        let merged = merge(vec![
            (5..9, Placeholder::Ip),
            (0..6, Placeholder::Email),
            (9..12, Placeholder::Card),
        ]);
        assert_eq!(merged, [(0..9, Placeholder::Email), (9..12, Placeholder::Card)]);
    }
}
