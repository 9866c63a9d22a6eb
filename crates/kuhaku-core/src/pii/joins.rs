//! A second reading of texts in which separators are written as escapes or are invisible.
//!
//! The first reading takes `%20`, a written `\n` and a zero-width space as a part of what they stand in, so
//! that a value with one of them inside is found. Between two values they hide a border. The second
//! reading has blanks there, byte for byte, so that what it finds stands at the same bytes.

use std::ops::Range;

use super::fold::foreign;

/// The text with blanks for hidden separators; nothing when it has none.
pub(super) fn opened(text: &str) -> Option<String> {
    let hidden =
        |(at, _): &(usize, &str)| text.get(*at..).is_some_and(|tail| separator(tail).is_some());
    let holds = text.match_indices('%').any(|it| hidden(&it))
        || text.match_indices('\\').any(|it| hidden(&it))
        || foreign(text).any(|(_, c)| is_invisible(c));
    if !holds {
        return None;
    }
    let mut opened = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.find(|c| matches!(c, '%' | '\\') || is_invisible(c)) {
        let (before, tail) = rest.split_at(next);
        opened.push_str(before);
        let taken = match separator(tail) {
            Some(blanks) => {
                opened.push_str(blanks);
                blanks.len()
            }
            None => {
                opened.push_str(tail.get(..1)?);
                1
            }
        };
        rest = tail.get(taken..)?;
    }
    opened.push_str(rest);
    Some(opened)
}

/// Whether this is an invisible character; each takes three bytes.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// What stands for the separator at the head of a text, of the same length; nothing when it is none.
fn separator(tail: &str) -> Option<&'static str> {
    match tail.as_bytes() {
        [b'\\', b'n' | b't' | b'r', ..] => Some("  "),
        [b'%', high @ b'0'..=b'7', low, ..] => {
            let low = char::from(*low).to_digit(16)?;
            match char::from_u32(u32::from(high - b'0') * 16 + low)? {
                '=' => Some("=  "),
                ':' => Some(":  "),
                c if c.is_ascii_whitespace() || "\"'()&,;|<>[]{}".contains(c) => Some("   "),
                _ => None,
            }
        }
        [b'%' | b'\\', ..] => None,
        _ => tail.starts_with(is_invisible).then_some("   "),
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
