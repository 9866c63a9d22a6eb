//! Payment card numbers.

use std::ops::Range;

use crate::masking::Placeholder;

use super::digits::{luhn, runs, values};
use super::scan::{Span, after, before};

/// Fewest and most digits of a card number (ISO/IEC 7812-1).
const LENGTHS: std::ops::RangeInclusive<usize> = 13..=19;

/// Finds numbers of a known issuer, of a length it uses, with a valid check digit. Digits may be
/// grouped by single spaces or hyphens; a number beside the card does not hide it.
pub(super) fn find(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    for sequence in sequences(text) {
        let windows = windows(text, &sequence);
        found.extend(disjoint(windows));
        found.extend(small_groups(text, &sequence));
    }
    found.into_iter().map(|range| (range, Placeholder::Card)).collect()
}

/// Runs of digits, split wherever more than one separator stands between two of them.
fn sequences(text: &str) -> Vec<Vec<Range<usize>>> {
    let mut sequences: Vec<Vec<Range<usize>>> = Vec::new();
    for run in runs(text) {
        let joined = |last: &Range<usize>| matches!(text.get(last.end..run.start), Some(" " | "-"));
        match sequences.last_mut() {
            Some(sequence) if sequence.last().is_some_and(joined) => sequence.push(run),
            _ => sequences.push(vec![run]),
        }
    }
    sequences
}

/// For each run the shortest card number that begins there. A window holds at most
/// `LENGTHS.end()` digits, so the work is linear.
fn windows(text: &str, sequence: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut windows = Vec::new();
    for (first, start) in sequence.iter().enumerate() {
        if is_fraction(text, start) {
            continue;
        }
        let mut length = 0;
        for (place, run) in sequence.iter().skip(first).enumerate() {
            // Groups have four digits or more; what is left over after fours may be shorter.
            let left_over =
                run.len() < 4 && matches!(length, 12 | 16) && !is_integer_part(text, run);
            let grouped = (4..=8).contains(&run.len()) || left_over;
            if place > 0 && !(grouped && (4..=8).contains(&start.len())) {
                break;
            }
            length += run.len();
            let range = start.start..run.end;
            if length > *LENGTHS.end() {
                break;
            }
            if LENGTHS.contains(&length) && is_card(text.get(range.clone()).unwrap_or_default()) {
                windows.push(range);
                break;
            }
        }
    }
    windows
}

/// A sequence of short groups ("4 1 1 1 …") is a card only as a whole: otherwise every table of
/// small numbers would hold some.
fn small_groups(text: &str, sequence: &[Range<usize>]) -> Vec<Range<usize>> {
    sequence
        .split(|run| run.len() >= 4 || !stands_alone(text, run))
        .filter_map(|runs| {
            let range = runs.first()?.start..runs.last()?.end;
            let length: usize = runs.iter().map(ExactSizeIterator::len).sum();
            let fits = LENGTHS.contains(&length) && runs.len() > 1;
            (fits && is_card(text.get(range.clone())?)).then_some(range)
        })
        .collect()
}

/// True unless the run is a part of a word, a decimal, a time, a path or an address.
fn stands_alone(text: &str, run: &Range<usize>) -> bool {
    let glued = |c: char| c.is_alphanumeric() || matches!(c, '.' | ':' | '/' | ',' | '_' | '+');
    let ends = |c: char| matches!(c, '.' | ',' | ':');
    let left = before(text, run.start).is_some_and(glued);
    let right = after(text, run.end).is_some_and(|c| {
        glued(c) && !(ends(c) && after(text, run.end + 1).is_none_or(char::is_whitespace))
    });
    !left && !right
}

/// True for the digits after a decimal point. The integer part is short, and never a part of a card.
fn is_fraction(text: &str, run: &Range<usize>) -> bool {
    let Some(integer) = text.get(..run.start).and_then(|head| head.strip_suffix('.')) else {
        return false;
    };
    let digits = integer.bytes().rev().take(4).take_while(u8::is_ascii_digit).count();
    (1..4).contains(&digits)
}

fn is_integer_part(text: &str, run: &Range<usize>) -> bool {
    after(text, run.end) == Some('.')
        && after(text, run.end + 1).is_some_and(|next| next.is_ascii_digit())
}

/// Of each cluster of overlapping windows those that follow each other, if these cover it, else the
/// whole cluster: a number that by chance joins with the first groups of a card must not uncover the
/// last ones.
fn disjoint(windows: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut cards: Vec<Range<usize>> = Vec::new();
    let mut windows = windows.into_iter().peekable();
    while let Some(first) = windows.next() {
        let mut cluster = first.clone();
        let mut last_end = first.end;
        let mut in_turn = vec![first];
        let mut covered = true;
        while let Some(window) = windows.next_if(|window| window.start < cluster.end) {
            cluster.end = cluster.end.max(window.end);
            if window.start >= last_end {
                // One separator may stand between two cards.
                covered &= window.start <= last_end + 1;
                last_end = window.end;
                in_turn.push(window);
            }
        }
        if covered && last_end == cluster.end {
            cards.append(&mut in_turn);
        } else {
            cards.push(cluster);
        }
    }
    cards
}

fn is_card(text: &str) -> bool {
    let digits = values(text);
    is_issued(&digits) && luhn(&digits)
}

/// Whether an issuer with these first digits gives out numbers of this length.
fn is_issued(digits: &[u32]) -> bool {
    let first = |count: usize| digits.iter().take(count).fold(0, |sum, digit| sum * 10 + digit);
    let (one, two, three, four) = (first(1), first(2), first(3), first(4));
    let lengths: &[usize] = match (one, two, three, four) {
        (1, ..) => &[15],                                               // UATP
        (_, _, _, 2200..=2204) => &[16, 17, 18, 19],                    // Mir
        (_, _, _, 2221..=2720) => &[16],                                // Mastercard
        (_, _, 300..=305, _) | (_, _, 309, _) => &[14, 16, 17, 18, 19], // Diners Club
        (_, 36 | 38 | 39, ..) => &[14, 16, 17, 18, 19],                 // Diners Club
        (_, 34 | 37, ..) => &[15],                                      // American Express
        (_, _, _, 3528..=3589) => &[16, 17, 18, 19],                    // JCB
        (4, ..) => &[13, 16, 19],                                       // Visa
        (_, 51..=55, ..) => &[16],                                      // Mastercard
        (_, 50 | 56..=58, ..) => &[13, 14, 15, 16, 17, 18, 19],         // Maestro
        (_, 60 | 62 | 64 | 65, ..) => &[16, 17, 18, 19],                // Discover, RuPay, UnionPay
        (6, ..) => &[13, 14, 15, 16, 17, 18, 19],                       // Maestro
        (_, 81 | 82, ..) => &[16],                                      // RuPay, UnionPay
        (_, _, _, 9792) => &[16],                                       // Troy
        _ => &[],
    };
    lengths.contains(&digits.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cards(text: &str) -> Vec<&str> {
        find(text).into_iter().map(|(range, _)| &text[range]).collect()
    }

    #[test]
    fn numbers_of_each_issuer_are_cards() {
        for number in [
            "4222222222222",
            "4012888888881881",
            "5105105105105100",
            "2223003122003222",
            "371449635398431",
            "30569309025904",
            "38520000023237",
            "6011111111111117",
            "3530111333300000",
            "6759649826438453",
            "6200000000000005",
            "2200000000000004",
            "9792000000000003",
            "122000000000003",
        ] {
            assert_eq!(cards(number), [number]);
        }
    }

    #[test]
    fn groups_may_be_odd_and_neighbours_do_not_hide_a_card() {
        let cases: [(&str, &[&str]); 9] = [
            (
                "4111 1111 1111 1111 5500 0055 5555 5559",
                &["4111 1111 1111 1111", "5500 0055 5555 5559"],
            ),
            ("2024 4111-1111-1111-1111 99", &["4111-1111-1111-1111"]),
            ("4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1.", &["4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"]),
            ("41111111 11111111", &["41111111 11111111"]),
            ("a4111111111111111b", &["4111111111111111"]),
            ("7,4111111111111111,8", &["4111111111111111"]),
            ("0.4111111111111111", &[]),
            ("4111  1111 1111 1111", &[]),
            ("41111111111111111111", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(cards(text), expected, "{text}");
        }
    }

    #[test]
    fn windows_that_contradict_each_other_leave_nothing_uncovered() {
        assert_eq!(disjoint(vec![0..4, 1..5, 9..12]), [0..5, 9..12]);
        assert_eq!(disjoint(vec![0..4, 2..6, 4..8]), [0..4, 4..8]);
        assert_eq!(disjoint(vec![0..4, 5..9]), [0..4, 5..9]);
    }
}
