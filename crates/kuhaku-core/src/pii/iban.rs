//! International bank account numbers.

use std::ops::Range;

use crate::masking::Placeholder;

use super::gap::{self, Gap, Gaps};
use super::reading::Reading;
use super::scan::{Span, after, before};

/// Countries and the length of their numbers, from the registry of ISO 13616.
const LENGTHS: [(&str, usize); 88] = [
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BI", 27),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DJ", 27),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FK", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MN", 20),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NI", 28),
    ("NL", 18),
    ("NO", 15),
    ("OM", 23),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("RU", 33),
    ("SA", 24),
    ("SC", 31),
    ("SD", 18),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("SO", 23),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
    ("YE", 30),
];

/// Finds numbers of a country's length whose remainder is right, in one piece or in groups, in upper
/// or lower case.
///
/// Goes from right to left: a number may end in the middle of a run of letters and digits only where
/// another one begins.
pub(super) fn find(reading: &Reading<'_>) -> Vec<Span> {
    let text = reading.text();
    let mut found: Vec<Span> = Vec::new();
    for run in reading.digits().iter().rev() {
        let next = found.last().map(|(range, _)| range.start);
        if let Some(at) = country(text, run.start)
            && !before(text, at).is_some_and(char::is_alphabetic)
            && let Some(range) = number(text, at, next)
        {
            found.push((range, Placeholder::Iban));
        }
    }
    found
}

/// Where the two letters stand that end before byte `at`, marks left out.
fn country(text: &str, at: usize) -> Option<usize> {
    let neighbour = *text.as_bytes().get(at.checked_sub(1)?)?;
    if !neighbour.is_ascii_alphabetic() && !is_mark(neighbour) {
        return None;
    }
    let head = text.as_bytes().get(at.saturating_sub(2 * gap::LONGEST + 2)..at)?;
    let letter = |head: &[u8]| {
        let place = head.iter().rposition(|byte| !is_mark(*byte))?;
        head.get(place).filter(|byte| byte.is_ascii_alphabetic()).map(|_| place)
    };
    let first = letter(head.get(..letter(head)?)?)?;
    Some(at - head.len() + first)
}

/// Emphasis marks, which may stand between the characters of a number.
fn is_mark(byte: u8) -> bool {
    matches!(byte, b'*' | b'_' | b'`')
}

/// The number that begins at byte `at`, given where the next one begins.
fn number(text: &str, at: usize, next: Option<usize>) -> Option<Range<usize>> {
    let mut length = *LENGTHS.iter().map(|(_, length)| length).max()?;
    let mut characters = Vec::with_capacity(length);
    let mut gaps = Gaps::default();
    let (mut group, mut spread) = (0, false);
    let mut end = at;
    while characters.len() < length {
        let between = width(text.as_bytes().get(end..)?)?;
        if between > 0 {
            let written = text.get(end..end + between)?;
            let gap = Gap::between(written)?;
            let dots = matches!(gap, Gap::Point | Gap::Underscore);
            let inside = characters.len() < 4 && gap != Gap::Marks;
            if inside || (dots && group != 4) || !gaps.follow(gap) {
                return None;
            }
            spread |= Gap::printed(written).is_none();
            group = if gap == Gap::Marks { group } else { 0 };
        }
        let byte = *text.as_bytes().get(end + between)?;
        end += between + 1;
        group += 1;
        characters.push(byte);
        match characters.as_slice() {
            [_, second] if !second.is_ascii_alphabetic() => return None,
            [country @ .., digit] if country.len() == 2 && digit.is_ascii_digit() => {
                length = length_in(country)?;
            }
            [_, _, .., digit] if characters.len() <= 4 && !digit.is_ascii_digit() => return None,
            _ => {}
        }
    }
    let ends = next == Some(end)
        || !after(text, end).is_some_and(|c| {
            c.is_alphabetic()
                || (c.is_numeric() && characters.last().is_some_and(u8::is_ascii_digit))
        });
    let valid = ends && gaps.may_end() && (!spread || is_mostly_digits(&characters));
    (valid && is_of_one_case(&characters) && remainder(&characters) == 1).then_some(at..end)
}

/// Bytes before the next letter or digit, if it is near.
fn width(tail: &[u8]) -> Option<usize> {
    tail.iter().take(gap::LONGEST + 1).position(u8::is_ascii_alphanumeric)
}

fn length_in(country: &[u8]) -> Option<usize> {
    let known = |code: &str| code.as_bytes().eq_ignore_ascii_case(country);
    LENGTHS.iter().find(|(code, _)| known(code)).map(|(_, length)| *length)
}

/// Tells a number that is spread from the words of a sentence, one in 97 of which would do.
fn is_mostly_digits(characters: &[u8]) -> bool {
    characters.iter().filter(|byte| byte.is_ascii_digit()).count() * 2 >= characters.len()
}

/// The letters of an account are capitals; people write all of them small, never some.
fn is_of_one_case(characters: &[u8]) -> bool {
    let account = characters.get(4..).unwrap_or_default();
    !(account.iter().any(u8::is_ascii_lowercase) && account.iter().any(u8::is_ascii_uppercase))
}

/// The check of ISO 7064 MOD 97-10: the first four characters go to the end, letters count from 10,
/// and the number modulo 97 is 1.
fn remainder(characters: &[u8]) -> u32 {
    let (head, tail) = characters.split_at_checked(4).unwrap_or_default();
    tail.iter().chain(head).filter_map(|byte| char::from(*byte).to_digit(36)).fold(
        0,
        |sum, value| {
            let shifted = if value < 10 { sum * 10 } else { sum * 100 };
            (shifted + value) % 97
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::reading::read;
    use super::*;

    #[test]
    fn numbers_of_several_countries_are_found_in_any_grouping() {
        for number in [
            "TR330006100519786457841326",
            "tr33 0006 1005 1978 6457 8413 26",
            "DE89370400440532013000",
            "GB29 NWBK 6016 1331 9268 19",
            "NO9386011117947",
            "FR14-2004-1010-0505-0001-3M02-606",
            "TR33  0006\t1005 1978 6457 8413 26",
            "TR33 0006 1005\n1978 6457 8413 26",
            "TR33.0006.1005.1978.6457.8413.26",
            "TR33_0006_1005_1978_6457_8413_26",
            "T*R*3`3` 0006 **1005** 1978 6457 8413 2**6",
            "GB29 NWBK 6016\r\n> 1331 9268 19",
            "Gb29 nwbk 6016 1331 9268 19",
        ] {
            let text = format!("({number})");
            assert_eq!(find(&read(&text)), [(1..1 + number.len(), Placeholder::Iban)], "{number}");
        }
    }

    #[test]
    fn a_wrong_check_length_or_country_is_no_iban() {
        for text in [
            "TR000000000000000000000000",
            "TR330006100519786457841327",
            "TR33000610051978645784132",
            "XX330006100519786457841326",
            "TR33\n\n0006 1005 1978 6457 8413 26",
            "TR 33 0006 1005 1978 6457 8413 26",
            "TR33.000610.05197864578413.26",
            "aTR330006100519786457841326",
            "GB29 nWBK 6016 1331 9268 19",
        ] {
            assert_eq!(find(&read(text)), [], "{text}");
        }
    }
}
