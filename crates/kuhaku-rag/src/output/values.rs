//! Values of personal data, compared by what they say and not by how they are written.

use std::ops::Range;

use kuhaku_core::Placeholder;
use unicode_normalization::UnicodeNormalization as _;

use super::escapes;

/// Bytes that may stand between two digits of one number.
const GAP: usize = 4;

/// Digits that a telephone number has at least when the code of its country is left out.
const SUBSCRIBER: usize = 7;

/// A text in which values are looked for.
pub(super) struct Shown {
    /// In small letters, plain forms and single blanks.
    text: String,
    letters: Vec<Letter>,
}

/// A letter or digit, and how many bytes stand between it and the one before.
struct Letter {
    c: char,
    gap: usize,
}

impl Shown {
    pub(super) fn new(text: &str) -> Self {
        let text = fold(text);
        let mut letters: Vec<Letter> = Vec::with_capacity(text.len());
        let mut end = 0;
        for (at, c) in text.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
            letters.push(Letter { c, gap: at - end });
            end = at + c.len_utf8();
        }
        Self { text, letters }
    }

    /// Whether the text holds this value.
    pub(super) fn holds(&self, kind: Placeholder, value: &str) -> bool {
        let value = fold(value);
        match kind {
            Placeholder::Card | Placeholder::Iban | Placeholder::NationalId => {
                self.holds_letters(&letters(&value), |_, _| false)
            }
            Placeholder::Phone => self.holds_phone(&value),
            _ => self.holds_text(value.trim()),
        }
    }

    /// The number with or without the code of its country and the zero in front.
    fn holds_phone(&self, value: &str) -> bool {
        let international = value.trim_start().starts_with('+') || value.starts_with("00");
        let all = letters(value);
        if all.len() < SUBSCRIBER || !all.iter().all(char::is_ascii_digit) {
            return self.holds_letters(&all, |_, _| false);
        }
        let significant: Vec<char> = all.into_iter().skip_while(|c| *c == '0').collect();
        let codes = if international { 0..=3 } else { 0..=0 };
        codes.into_iter().filter_map(|code| significant.get(code..)).any(|number| {
            // What stands glued before the number is a code and a zero, no other number.
            let is_code = |letters: &[Letter], at: usize| {
                let glued = letters.iter().take(at + 1).rev().take_while(|letter| letter.gap == 0);
                glued.count() <= 4
            };
            number.len() >= SUBSCRIBER && self.holds_letters(number, is_code)
        })
    }

    /// Whether these letters stand in the text, in a row, as a whole. What begins inside of a run of
    /// digits, or of letters, is whole when `may_begin` says so of the place.
    fn holds_letters(&self, wanted: &[char], may_begin: impl Fn(&[Letter], usize) -> bool) -> bool {
        if wanted.is_empty() {
            return false;
        }
        let same_run = |left: Option<&Letter>, right: Option<&Letter>| match (left, right) {
            (Some(left), Some(right)) => {
                right.gap == 0 && left.c.is_numeric() == right.c.is_numeric()
            }
            _ => false,
        };
        let letters = self.letters.as_slice();
        letters.windows(wanted.len()).enumerate().any(|(at, window)| {
            let inside = window.iter().skip(1).all(|letter| letter.gap <= GAP);
            let before = at.checked_sub(1).and_then(|before| letters.get(before));
            inside
                && window.iter().map(|letter| letter.c).eq(wanted.iter().copied())
                && !same_run(window.last(), letters.get(at + wanted.len()))
                && (!same_run(before, window.first()) || may_begin(letters, at))
        })
    }

    /// Whether this stands in the text, not as a part of something longer.
    fn holds_text(&self, wanted: &str) -> bool {
        let joins = |c: char| matches!(c, '.' | '-' | '_' | '+' | '@');
        !wanted.is_empty()
            && self.text.match_indices(wanted).any(|(at, found)| {
                let before = self.text.get(..at).and_then(|text| text.chars().next_back());
                let mut after = self.text.get(at + found.len()..).unwrap_or_default().chars();
                let (next, later) = (after.next(), after.next());
                let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                let longer = word(before)
                    || before.is_some_and(joins)
                    || word(next)
                    || next.is_some_and(joins) && word(later);
                !longer
            })
    }
}

/// What in a masked text stands for something of the given one: its bytes there, and what it is.
pub(super) fn replaced(
    masked: &kuhaku_core::Masked,
    text: &str,
) -> Vec<(Range<usize>, Placeholder)> {
    let mut found = Vec::new();
    for kind in Placeholder::ALL {
        for (at, it) in masked.text().match_indices(kind.as_str()) {
            let range = masked.map().to_source(at..at + it.len());
            // A placeholder may as well have been written.
            if text.get(range.clone()).is_some_and(|value| value != it) {
                found.push((range, kind));
            }
        }
    }
    found.sort_by_key(|(range, _)| range.start);
    found
}

fn letters(text: &str) -> Vec<char> {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Escapes read, compatibility forms and capitals taken apart, digits of all scripts as ASCII, white
/// space as single blanks, invisible characters left out.
fn fold(text: &str) -> String {
    let unescaped = escapes::may_hold(text).then(|| escapes::read(text, true).0);
    let text = unescaped.as_deref().unwrap_or(text);
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().nfkc().flat_map(char::to_lowercase) {
        let c = if c.is_numeric() { super::plain::digit(c) } else { c };
        if c.is_whitespace() {
            if !folded.ends_with(' ') {
                folded.push(' ');
            }
        } else if !is_invisible(c) {
            folded.push(c);
        }
    }
    folded
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use kuhaku_core::{Masker as _, PiiMasker};

    use super::*;

    #[test]
    fn values_are_compared_by_what_they_say() {
        use Placeholder::{Card, Email, Iban, Ip, NationalId, Phone};
        for (kind, value, text, held) in [
            (Card, "4111-1111 1111-1111", "card 4111111111111111.", true),
            (Card, "4111111111111111", "pan: 4111 1111\n1111 1111", true),
            (Card, "４１１１111111111111", "pan_4111111111111111", true),
            (Card, "4111111111111111", "ends with 1111", false),
            (Card, "4111111111111111", "94111111111111111", false),
            (Card, "4111111111111111", "41111111111111112", false),
            (Card, "4111111111111111", "4111 of 1111 and 1111 and 1111", false),
            (Iban, "tr33 0006 1005 1978 6457 8413 26", "TR330006100519786457841326", true),
            (Iban, "TR330006100519786457841326", "33 0006 1005 1978 6457 8413 26", false),
            (NationalId, "100 000 001 46", "id 10000000146", true),
            (Email, "Ada@Example.com", "write to ada@example.com.", true),
            (Email, "ada%40example.com", "ada@example.com", true),
            (Email, "ada@example.com", "x.ada@example.com", false),
            (Email, "ada@example.com", "ada@example.com.tr", false),
            (Email, "ada@example.com", "ada example com", false),
            (Ip, "1.2.3.4", "version 1.2.3.4", true),
            (Ip, "1.2.3.4", "1.2.3.45, 11.2.3.4, 1234", false),
            (Phone, "+90 532 123 45 67", "0532 123 4567", true),
            (Phone, "0532 1234567", "+905321234567", true),
            (Phone, "+90 532 123 45 67", "0532 123 45 68", false),
            (Phone, "555 1234", "desk 5551234", true),
            (Phone, "555 1234", "order 88000005551234", false),
        ] {
            assert_eq!(Shown::new(text).holds(kind, value), held, "{value} in {text}");
        }
    }

    #[test]
    fn what_was_replaced_is_told_from_what_was_written() {
        let text = "Not [EMAIL] but a@b.com and [CARD] [IP].";
        let masked = PiiMasker::new().mask(text);
        assert_eq!(replaced(&masked, text), [(16..23, Placeholder::Email)]);
    }
}
