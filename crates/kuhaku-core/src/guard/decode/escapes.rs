//! Characters written as escapes (`%69`, `\x69`, `\u0069`, `&#105;`) or as invisible tags.

use super::Piece;

/// The run of escapes that begins here. Bytes that are no text together are left as they are.
pub(super) fn run(text: &str, start: usize) -> Option<Piece> {
    let mut decoded: Vec<u8> = Vec::new();
    let mut at = start;
    while let Some((escape, after)) = text.get(at..).and_then(escape) {
        match escape {
            Escape::Byte(byte) => decoded.push(byte),
            Escape::Char(c) => {
                let mut buffer = [0; 4];
                decoded.extend(c.encode_utf8(&mut buffer).as_bytes());
            }
        }
        at += after;
    }
    let text = String::from_utf8(decoded).ok()?;
    (at > start).then_some(Piece { range: start..at, text })
}

#[derive(Debug)]
enum Escape {
    Byte(u8),
    Char(char),
}

/// The escape that a text begins with, and its length.
fn escape(text: &str) -> Option<(Escape, usize)> {
    if let Some(digits) = text.strip_prefix('%').or_else(|| text.strip_prefix("\\x")) {
        let prefix = text.len() - digits.len();
        let byte = u8::from_str_radix(digits.get(..2)?, 16).ok()?;
        return (!byte.is_ascii_control() || byte.is_ascii_whitespace())
            .then_some((Escape::Byte(byte), prefix + 2));
    }
    if let Some(digits) = text.strip_prefix("\\u{") {
        return number(digits, 16, '}').map(|(c, length)| (Escape::Char(c), length + 3));
    }
    if let Some(digits) = text.strip_prefix("\\u") {
        let c = char::from_u32(u32::from_str_radix(digits.get(..4)?, 16).ok()?)?;
        return Some((Escape::Char(c), 6));
    }
    if let Some(digits) = text.strip_prefix("&#x").or_else(|| text.strip_prefix("&#X")) {
        return number(digits, 16, ';').map(|(c, length)| (Escape::Char(c), length + 3));
    }
    if let Some(digits) = text.strip_prefix("&#") {
        return number(digits, 10, ';').map(|(c, length)| (Escape::Char(c), length + 2));
    }
    let tag = text.chars().next()?;
    let ascii = u32::from(tag).checked_sub(0xe0000).filter(|c| (0x20..0x7f).contains(c))?;
    Some((Escape::Char(char::from_u32(ascii)?), tag.len_utf8()))
}

/// A character by its number, of at most seven digits, and the length with the closing mark.
fn number(digits: &str, radix: u32, close: char) -> Option<(char, usize)> {
    let end = digits.bytes().take(8).position(|byte| char::from(byte) == close)?;
    let c = char::from_u32(u32::from_str_radix(digits.get(..end)?, radix).ok()?)?;
    (!c.is_control() || c.is_whitespace()).then_some((c, end + 1))
}
