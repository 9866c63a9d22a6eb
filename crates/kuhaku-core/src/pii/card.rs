//! Payment card numbers.

use std::ops::Range;

use crate::masking::Placeholder;

use super::digits::{luhn, values};
use super::gap::{Gap, Gaps};
use super::reading::Reading;
use super::scan::{Span, after, before};

/// Fewest and most digits of a card number (ISO/IEC 7812-1).
const LENGTHS: std::ops::RangeInclusive<usize> = 13..=19;

/// Digits of a group, when there are several.
const GROUP: std::ops::RangeInclusive<usize> = 4..=8;

/// Finds numbers of a known issuer, of a length it uses, with a valid check digit. Digits may be
/// grouped by single spaces or hyphens; a number beside the card does not hide it.
pub(super) fn find(reading: &Reading<'_>) -> Vec<Span> {
    numbers(reading, Gap::printed)
}

/// The same for numbers that are spread: over lines, by wide blanks, by points, under emphasis.
pub(super) fn find_spread(reading: &Reading<'_>) -> Vec<Span> {
    numbers(reading, Gap::between)
}

/// A sequence of short groups ("4 1 1 1 …") is a card only as a whole: otherwise every table of
/// small numbers would hold some.
pub(super) fn find_short_groups(reading: &Reading<'_>) -> Vec<Span> {
    let text = reading.text();
    let mut found = Vec::new();
    for sequence in reading.clusters().flat_map(|runs| sequences(text, runs)) {
        for runs in sequence.split(|run| run.len() >= 4 || !stands_alone(text, run)) {
            let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
                continue;
            };
            let range = first.start..last.end;
            let length: usize = runs.iter().map(ExactSizeIterator::len).sum();
            if LENGTHS.contains(&length)
                && runs.len() > 1
                && is_card(text.get(range.clone()).unwrap_or_default())
            {
                found.push((range, Placeholder::Card));
            }
        }
    }
    found
}

/// Runs of digits that one separator each joins, two and more.
fn sequences<'r>(
    text: &'r str,
    runs: &'r [Range<usize>],
) -> impl Iterator<Item = &'r [Range<usize>]> {
    let joined = move |a: &Range<usize>, b: &Range<usize>| {
        b.start == a.end + 1 && matches!(text.as_bytes().get(a.end), Some(b' ' | b'-'))
    };
    runs.chunk_by(joined).filter(|sequence| sequence.len() > 1)
}

/// The cards whose groups are joined by what `gap` takes for a gap.
fn numbers(reading: &Reading<'_>, gap: fn(&str) -> Option<Gap>) -> Vec<Span> {
    reading.clusters().flat_map(|runs| numbers_of(reading.text(), runs, gap)).collect()
}

/// The cards that begin with one of these runs.
fn numbers_of(text: &str, runs: &[Range<usize>], gap: fn(&str) -> Option<Gap>) -> Vec<Span> {
    let windows = (0..runs.len()).filter_map(|first| {
        let count = shortest(text, runs.get(first..)?, gap)?;
        Some(first..first + count)
    });
    disjoint(windows)
        .into_iter()
        .filter_map(|cards| {
            let first = runs.get(cards.start)?;
            let last = runs.get(..cards.end)?.last()?;
            Some((first.start..last.end, Placeholder::Card))
        })
        .collect()
}

/// How many runs the shortest card number has that begins with the first of them. It holds at most
/// `LENGTHS.end()` digits, so the work is linear.
fn shortest(text: &str, runs: &[Range<usize>], gap: fn(&str) -> Option<Gap>) -> Option<usize> {
    let start = runs.first()?;
    if is_fraction(text, start) {
        return None;
    }
    // Digits of all groups and of the last one, which emphasis marks may divide; and whether its
    // parts could be groups themselves.
    let (mut length, mut group, mut parts) = (0, 0, true);
    let mut end = start.start;
    let mut gaps = Gaps::default();
    for (place, run) in runs.iter().enumerate() {
        if place > 0 {
            let gap = gap(text.get(end..run.start)?)?;
            if gap != Gap::Marks {
                if !(GROUP.contains(&group) || parts) {
                    return None;
                }
                (group, parts) = (0, true);
            }
            if !gaps.follow(gap) {
                return None;
            }
        }
        end = run.end;
        group += run.len();
        length += run.len();
        parts &= GROUP.contains(&run.len());
        if length > *LENGTHS.end() {
            return None;
        }
        // Groups have four digits or more; what is left over after fours may be shorter.
        let whole = group == length
            || GROUP.contains(&group)
            || parts
            || (group < 4 && matches!(length - group, 12 | 16))
            || (length, group) == (19, 13); // UnionPay's six and thirteen
        if LENGTHS.contains(&length)
            && whole
            && gaps.may_end()
            && (run.len() >= 4 || !is_integer_part(text, run))
            && is_card(text.get(start.start..end)?)
        {
            return Some(place + 1);
        }
    }
    None
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
/// last ones. Windows are ranges of groups, by start.
fn disjoint(windows: impl IntoIterator<Item = Range<usize>>) -> Vec<Range<usize>> {
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
                covered &= window.start == last_end;
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
    use super::super::reading::read;
    use super::*;

    fn cards(text: &str) -> Vec<&str> {
        let found = [find(&read(text)), find_short_groups(&read(text))].concat();
        found.into_iter().map(|(range, _)| &text[range]).collect()
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
    fn a_card_may_be_spread() {
        let spread = |text: &'static str| -> Vec<&str> {
            find_spread(&read(text)).into_iter().map(|(range, _)| &text[range]).collect()
        };
        for number in [
            "4111.1111.1111.1111",
            "4111_1111_1111_1111",
            "4111  1111\t1111   1111",
            "4111 - 1111 - 1111 - 1111",
            "4111 1111\n1111 1111",
            "4111 1111\r\n  > 1111 1111",
            "4111-1111-\n1111-1111",
            "4111 1111 *1111* 1111",
            "41**11** `1111` 1111 __1111",
            "620000 0000000000000",
            "411111111111111`1",
            "3782 822463\n10005",
            "3782.822463.10005",
            "3782*822463 10005",
        ] {
            assert_eq!(spread(number), [number]);
        }
        assert_eq!(spread("43\n4111\t1111\t1111\t1111\n12"), ["4111\t1111\t1111\t1111"]);
        assert_eq!(spread("7*4111  1111 1111 1111*12*"), ["4111  1111 1111 1111"]);
        for text in [
            "4111\n1111\n1111\n1111",
            "4111 1111\n\n1111 1111",
            "4111.1111 1111.1111",
            "4111 1111 1111.1111",
            "| 4111 | 1111 | 1111 | 1111 |",
            "41\n11\n1111 1111 1111",
            "4111, 1111, 1111, 1111",
        ] {
            assert_eq!(spread(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn windows_that_contradict_each_other_leave_nothing_uncovered() {
        assert_eq!(disjoint(vec![0..4, 1..5, 9..12]), [0..5, 9..12]);
        assert_eq!(disjoint(vec![0..4, 2..6, 4..8]), [0..4, 4..8]);
        assert_eq!(disjoint(vec![0..4, 5..9]), [0..4, 5..9]);
    }
}
