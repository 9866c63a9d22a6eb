//! National identity numbers with a check digit: the Turkish one (TCKN).

use std::ops::Range;

use crate::masking::Placeholder;

use super::digits::{runs, values};
use super::scan::{Span, after, before};

/// Finds runs of exactly 11 digits that satisfy the check digits.
pub(super) fn find(text: &str) -> Vec<Span> {
    runs(text)
        .into_iter()
        .filter(|run| run.len() == 11 && !is_part_of_number(text, run))
        .filter(|run| text.get(run.clone()).is_some_and(is_tckn))
        .map(|run| (run, Placeholder::NationalId))
        .collect()
}

/// True for a part of a decimal and for a telephone number with `+`. A placeholder beyond the point
/// was a number.
fn is_part_of_number(text: &str, run: &Range<usize>) -> bool {
    let left = match before(text, run.start) {
        Some('+') => true,
        Some('.') => before(text, run.start - 1).is_some_and(|c| c.is_ascii_digit() || c == ']'),
        _ => false,
    };
    let right = after(text, run.end) == Some('.')
        && after(text, run.end + 1).is_some_and(|c| c.is_ascii_digit() || c == '[');
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
        for text in ["1.10000000146", "10000000146.5", "+10000000146", "100000001460"] {
            assert_eq!(find(text), [], "{text}");
        }
        for text in ["TC10000000146", "a,10000000146,b", "10000000146."] {
            assert_eq!(find(text).len(), 1, "{text}");
        }
    }
}
