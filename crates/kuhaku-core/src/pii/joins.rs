//! A second reading of texts in which separators are written as escapes or are invisible.
//!
//! The first reading takes `%20`, a written `\n` and a zero-width space as a part of what they stand in, so
//! that a value with one of them inside is found. Between two values they hide a border. The second
//! reading has blanks there, byte for byte, so that what it finds stands at the same bytes.

use std::ops::Range;

/// Invisible characters of three bytes each.
const INVISIBLE: [&str; 5] = ["\u{200b}", "\u{200c}", "\u{200d}", "\u{2060}", "\u{feff}"];

/// The text with blanks for hidden separators; nothing when it has none.
pub(super) fn opened(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let may_hold = bytes.contains(&b'%')
        || bytes.contains(&b'\\')
        || (!text.is_ascii() && INVISIBLE.iter().any(|it| text.contains(it)));
    if !may_hold {
        return None;
    }
    let mut opened = String::with_capacity(text.len());
    let (mut rest, mut found) = (text, false);
    while let Some(next) =
        rest.find(|c| matches!(c, '%' | '\\' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'))
    {
        let (before, tail) = rest.split_at(next);
        opened.push_str(before);
        let (blanks, taken) = separator(tail);
        opened.push_str(if blanks.is_empty() { tail.get(..taken)? } else { blanks });
        found |= !blanks.is_empty();
        rest = tail.get(taken..)?;
    }
    opened.push_str(rest);
    found.then_some(opened)
}

/// What stands for the separator at the head of a text, and how many bytes both take; no text when it
/// is none.
fn separator(tail: &str) -> (&'static str, usize) {
    let bytes = tail.as_bytes();
    match bytes {
        [b'\\', b'n' | b't' | b'r', ..] => ("  ", 2),
        [b'%', high @ b'0'..=b'7', low, ..] => {
            let byte = char::from(*low).to_digit(16).map(|low| u32::from(high - b'0') * 16 + low);
            match byte.and_then(char::from_u32) {
                Some('=') => ("=  ", 3),
                Some(':') => (":  ", 3),
                Some(c) if c.is_ascii_whitespace() || "\"'()&,;|<>[]{}".contains(c) => ("   ", 3),
                _ => ("", 1),
            }
        }
        [b'%' | b'\\', ..] => ("", 1),
        _ => ("   ", 3),
    }
}

/// The range, widened to whole characters of the text.
pub(super) fn whole(text: &str, range: Range<usize>) -> Range<usize> {
    text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_separators_are_blanks_of_the_same_length() {
        for (text, expected) in [
            ("a%20b%2Cc%0ad", Some("a   b   c   d")),
            ("a%3Db%3ac", Some("a=  b:  c")),
            ("a\\nb\\tc\\d", Some("a  b  c\\d")),
            ("a\u{200b}b\u{feff}c", Some("a   b   c")),
            ("100%", None),
            ("%", None),
            ("%4", None),
            ("%41%zz\\", None),
            ("%\u{e9}\u{e9}", None),
            ("plain", None),
            ("", None),
        ] {
            assert_eq!(opened(text).as_deref(), expected, "{text:?}");
            assert!(opened(text).is_none_or(|opened| opened.len() == text.len()));
        }
    }
}
