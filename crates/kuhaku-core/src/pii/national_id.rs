//! National identity numbers with a check digit: the Turkish one (TCKN).

use std::ops::Range;

use crate::masking::Placeholder;

use super::digits::values;
use super::gap::{Gap, Gaps};
use super::reading::Reading;
use super::scan::{Span, after, before};

/// Finds runs of exactly 11 digits that satisfy the check digits.
pub(super) fn find(reading: &Reading<'_>) -> Vec<Span> {
    let text = reading.text();
    reading
        .clusters()
        .flatten()
        .filter(|run| run.len() == 11 && !is_part_of_number(text, run))
        .filter(|run| text.get((*run).clone()).is_some_and(is_tckn))
        .map(|run| (run.clone(), Placeholder::NationalId))
        .collect()
}

/// The same for ids in groups of three, three, three and two, and for ids under emphasis.
pub(super) fn find_spread(reading: &Reading<'_>) -> Vec<Span> {
    let text = reading.text();
    let starts = |runs| (0..).map_while(move |first| <[Range<usize>]>::get(runs, first..));
    reading
        .clusters()
        .flat_map(starts)
        .filter_map(|runs| spread(text, runs))
        .filter(|range| !is_part_of_number(text, range))
        .filter(|range| text.get(range.clone()).is_some_and(is_tckn))
        .map(|range| (range, Placeholder::NationalId))
        .collect()
}

/// The bytes of an id that begins with the first of these runs. It has 11 digits, so the work is
/// linear.
fn spread(text: &str, runs: &[Range<usize>]) -> Option<Range<usize>> {
    let start = runs.first()?.start;
    // Borders of groups that a gap stands at, and gaps that a reader sees.
    let (mut length, mut borders, mut parted) = (0, 0, false);
    let mut end = start;
    let mut gaps = Gaps::default();
    for run in runs {
        if end > start {
            let gap = Gap::between(text.get(end..run.start)?)?;
            let border = matches!(length, 3 | 6 | 9);
            match gap {
                Gap::Marks => {}
                Gap::Blank | Gap::Hyphen | Gap::Line if border => parted = true,
                _ => return None,
            }
            borders += usize::from(border);
            if !gaps.follow(gap) {
                return None;
            }
        }
        end = run.end;
        length += run.len();
        if length >= 11 {
            break;
        }
    }
    (length == 11 && (borders == 3 || !parted)).then_some(start..end)
}

/// True for a part of a decimal, for a telephone number with `+`, and for what a code goes on behind
/// in capitals. A placeholder beyond the point was a number.
fn is_part_of_number(text: &str, run: &Range<usize>) -> bool {
    let left = match before(text, run.start) {
        Some('+') => true,
        Some('.') => before(text, run.start - 1).is_some_and(|c| c.is_ascii_digit() || c == ']'),
        _ => false,
    };
    let right = match after(text, run.end) {
        Some('.') => after(text, run.end + 1).is_some_and(|c| c.is_ascii_digit() || c == '['),
        next => next.is_some_and(char::is_uppercase),
    };
    left || right
}

/// The check of the Turkish identity number: the first digit is not 0; the tenth is seven times the
/// sum of the odd places less the sum of the even ones (places 1 to 9), modulo 10; the eleventh is
/// the sum of the first ten, modulo 10.
fn is_tckn(text: &str) -> bool {
    let digits = values(text);
    let [d1, d2, d3, d4, d5, d6, d7, d8, d9, tenth, eleventh] = digits.as_slice() else {
        return false;
    };
    let odd = d1 + d3 + d5 + d7 + d9;
    let even = d2 + d4 + d6 + d8;
    let first_ten = odd + even + tenth;
    // Forty is a multiple of ten above any sum of four digits: the difference stays positive.
    *d1 != 0 && *tenth == (7 * odd + 40 - even) % 10 && *eleventh == first_ten % 10
}

#[cfg(test)]
mod tests {
    use super::super::reading::read;
    use super::*;

    /// PII-06
    #[test]
    fn the_check_digits_of_a_tckn_are_checked() {
        assert!(is_tckn("10000000146"));
        for wrong in ["12345678901", "00000000146", "10000000145", "1000000014", ""] {
            assert!(!is_tckn(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_part_of_another_number_is_no_id() {
        for text in
            ["1.10000000146", "10000000146.5", "+10000000146", "100000001460", "10000000146AF"]
        {
            assert_eq!(find(&read(text)), [], "{text}");
        }
        for text in ["TC10000000146", "10000000146'nın", "a,10000000146,b", "10000000146."] {
            assert_eq!(find(&read(text)).len(), 1, "{text}");
        }
    }

    #[test]
    fn an_id_may_stand_in_groups() {
        for id in ["100 000 001 46", "100-000-001-46", "100 000\n001  46", "1000**0000146**"] {
            let digits = id.trim_end_matches('*');
            assert_eq!(
                find_spread(&read(id)),
                [(0..digits.len(), Placeholder::NationalId)],
                "{id}"
            );
        }
        for text in [
            "10 000 000 146",
            "100 00000146",
            "100.000.001.46",
            "100 000 001 47",
            "+100 000 001 46",
        ] {
            assert_eq!(find_spread(&read(text)), [], "{text}");
        }
    }
}
