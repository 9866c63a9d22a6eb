//! Where words begin and end.

use std::ops::Range;

/// Whether `range` of the folded `text` begins and ends where words do.
///
/// In scripts that put blanks between words, a letter, digit or underscore on both sides is no
/// border. Scripts without them have a border at every cluster; Korean, which hangs its particles on
/// words, at the end only.
pub(super) fn is_whole(text: &str, range: &Range<usize>) -> bool {
    let part = text.get(range.clone()).unwrap_or_default();
    let before = text.get(..range.start).and_then(|it| it.chars().next_back());
    let after = text.get(range.end..).and_then(|it| it.chars().next());
    let (Some(first), Some(last)) = (part.chars().next(), part.chars().next_back()) else {
        return false;
    };
    let begins = before.is_none_or(|before| !are_one_word(before, first));
    let ends = after.is_none_or(|after| is_hangul(last) || !are_one_word(last, after));
    begins && ends && !cuts_number(text, range)
}

/// Whether two neighbours belong to one word.
fn are_one_word(left: char, right: char) -> bool {
    is_word(left) && is_word(right) && !is_unspaced(left) && !is_unspaced(right)
}

/// A letter, a digit, or what belongs to words like them.
pub(super) fn is_word(c: char) -> bool {
    match c.is_ascii() {
        true => c.is_ascii_alphanumeric() || c == '_',
        false => c.is_alphanumeric() || is_mark(c),
    }
}

/// A letter of a script that puts blanks between words.
pub(super) fn is_spaced_letter(c: char) -> bool {
    is_word(c) && !c.is_ascii_digit() && !is_unspaced(c)
}

/// Combining marks, which `char::is_alphanumeric` leaves out in part.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5C7}'
        | '\u{610}'..='\u{61A}' | '\u{64B}'..='\u{65F}' | '\u{93C}' | '\u{94D}' | '\u{9CD}'
        | '\u{A4D}' | '\u{ACD}' | '\u{B4D}' | '\u{BCD}' | '\u{C4D}' | '\u{CCD}' | '\u{D4D}'
        | '\u{200C}' | '\u{200D}')
}

/// Thai, Lao, Tibetan, Burmese, Khmer, kana and the ideographs.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{E00}'..='\u{FFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{323AF}')
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7A3}')
}

/// Whether a digit at an end of the range belongs to a longer number: 5 of 5.5, 5 of -5.
fn cuts_number(text: &str, range: &Range<usize>) -> bool {
    let part = text.get(range.clone()).unwrap_or_default();
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let point = |c: Option<char>| matches!(c, Some('.' | ',' | '٫'));
    let joins = |c: Option<char>| point(c) || matches!(c, Some('٬' | '-' | '/' | ':'));
    let mut before = text.get(..range.start).unwrap_or_default().chars().rev();
    if digit(part.chars().next()) {
        let (near, far) = (before.next(), before.next());
        let signed = near == Some('-') && far.is_none_or(|c| !is_word(c));
        if signed
            || (joins(near) && digit(far))
            || (point(near) && far.is_none_or(char::is_whitespace))
        {
            return true;
        }
    }
    let mut after = text.get(range.end..).unwrap_or_default().chars();
    let (near, far) = (after.next(), after.next());
    let numeral = |c: Option<char>| c.is_some_and(|c| c.is_numeric());
    digit(part.chars().next_back()) && (numeral(near) || (joins(near) && digit(far)))
}

/// A folded text and the places of its words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    pub(super) text: &'a str,
    pub(super) places: &'a [Range<usize>],
}

impl<'a> Words<'a> {
    pub(super) fn iter(self) -> impl Iterator<Item = (usize, &'a str)> {
        self.places
            .iter()
            .filter_map(move |place| Some((place.start, self.text.get(place.clone())?)))
    }

    /// The word at this place in their order.
    pub(super) fn at(self, place: usize) -> Option<(usize, &'a str)> {
        let place = self.places.get(place)?;
        Some((place.start, self.text.get(place.clone())?))
    }
}

/// The places of the words of `text`.
pub(super) fn word_places(text: &str) -> Vec<Range<usize>> {
    words(text).map(|(at, word)| at..at + word.len()).collect()
}

/// The words of `text` with their places: runs of letters and digits.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    // The next place from `at` on whose character is of a word or is not.
    let next = move |mut at: usize, wanted: bool| {
        while let Some(byte) = text.as_bytes().get(at) {
            if byte.is_ascii() {
                if (byte.is_ascii_alphanumeric() || *byte == b'_') == wanted {
                    break;
                }
                at += 1;
                continue;
            }
            let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
            if is_word(c) == wanted {
                break;
            }
            at += c.len_utf8();
        }
        at
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = next(at, true);
        at = next(start, false);
        text.get(start..at).filter(|word| !word.is_empty()).map(|word| (start, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_whole_or_not_found() {
        for (text, part, whole) in [
            ("a tea please", "tea", true),
            ("steak", "tea", false),
            ("teas", "tea", false),
            ("green-tea.", "tea", true),
            ("(tea)", "tea", true),
            ("tea's", "tea", true),
            ("tea_time", "tea", false),
            ("tea2", "tea", false),
            ("5.5", "5", false),
            ("2.50", "50", false),
            ("-5", "5", false),
            ("f-5", "5", true),
            ("12/05/2024", "05", false),
            ("12:30", "12", false),
            ("555-1234", "555", false),
            ("5.", "5", true),
            ("5½", "5", false),
            ("茶を3杯", "茶", true),
            ("ชาเขียว", "ชา", true),
            ("서울에서", "서울", true),
            ("자동차", "차", false),
            ("चायवाला", "चाय", false),
        ] {
            let at = text.find(part).unwrap();
            assert_eq!(is_whole(text, &(at..at + part.len())), whole, "{part} in {text}");
        }
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let found: Vec<_> = words("İki kutu-çay, 5'i").collect();
        assert_eq!(found, [(0, "İki"), (5, "kutu"), (10, "çay"), (16, "5"), (18, "i")]);
    }
}
