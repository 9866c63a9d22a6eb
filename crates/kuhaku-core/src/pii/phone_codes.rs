//! Country calling codes (ITU-T E.164) and how many digits follow them.

use std::ops::RangeInclusive;

/// Codes of one and two digits, with fewest and most digits of a national number.
const SHORT: [(u32, usize, usize); 46] = [
    (1, 10, 10),
    (7, 10, 10),
    (20, 8, 10),
    (27, 9, 9),
    (30, 10, 10),
    (31, 9, 9),
    (32, 8, 9),
    (33, 9, 9),
    (34, 9, 9),
    (36, 8, 9),
    (39, 6, 11),
    (40, 9, 9),
    (41, 9, 9),
    (43, 7, 12),
    (44, 9, 10),
    (45, 8, 8),
    (46, 7, 9),
    (47, 8, 8),
    (48, 9, 9),
    (49, 6, 11),
    (51, 8, 9),
    (52, 10, 10),
    (53, 8, 8),
    (54, 10, 11),
    (55, 10, 11),
    (56, 9, 9),
    (57, 8, 10),
    (58, 10, 10),
    (60, 8, 10),
    (61, 9, 9),
    (62, 8, 12),
    (63, 8, 10),
    (64, 8, 10),
    (65, 8, 8),
    (66, 8, 9),
    (81, 9, 10),
    (82, 8, 10),
    (84, 9, 10),
    (86, 10, 11),
    (90, 10, 10),
    (91, 10, 10),
    (92, 9, 10),
    (93, 9, 9),
    (94, 9, 9),
    (95, 7, 10),
    (98, 10, 10),
];

/// Digits of the calling code that a number begins with, and how many may follow it.
pub(super) fn split(digits: &[u32]) -> Option<(usize, RangeInclusive<usize>)> {
    let first = |count: usize| digits.iter().take(count).fold(0, |sum, digit| sum * 10 + digit);
    for count in [1, 2] {
        if let Some((_, fewest, most)) = SHORT.iter().find(|(code, ..)| *code == first(count)) {
            return Some((count, *fewest..=*most));
        }
    }
    let lengths = match first(3) {
        420 | 421 => 9..=9,
        211..=269 | 290..=299 | 350..=359 | 370..=389 | 423 => 6..=11,
        500..=509 | 590..=599 | 670..=692 | 850..=856 | 880 | 886 => 5..=10,
        960..=979 | 992..=998 => 7..=10,
        _ => return None,
    };
    Some((3, lengths))
}

#[cfg(test)]
mod tests {
    use super::super::digits::values;
    use super::*;

    #[test]
    fn every_code_is_told_by_its_first_digits() {
        for (number, code) in
            [("12125551234", 1), ("905321234567", 2), ("3531234567", 3), ("77012345678", 1)]
        {
            assert_eq!(split(&values(number)).unwrap().0, code, "{number}");
        }
        assert!(split(&values("999123456")).is_none());
        assert!(split(&values("0532")).is_none());
    }
}
