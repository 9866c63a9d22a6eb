//! Bytes in hexadecimal: in one run, in pairs, or with `0x` or `\x` before each.

use super::{Piece, as_text};

/// The fewest bytes that are looked into.
const FEWEST: usize = 6;

/// The end of the pairs of digits that begin here, and what they encode.
pub(super) fn run(bytes: &[u8], start: usize) -> (usize, Option<Piece>) {
    let (mut at, mut end) = (start, start);
    let mut decoded = Vec::new();
    while let Some((byte, after)) = pair(bytes, at) {
        decoded.push(byte);
        end = after;
        at = after;
        while at < end + 2 && matches!(bytes.get(at), Some(b' ' | b':' | b',' | b'-')) {
            at += 1;
        }
    }
    let closed = !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
    let text = (closed && decoded.len() >= FEWEST).then(|| as_text(decoded, FEWEST)).flatten();
    (end.max(start + 1), text.map(|text| Piece { range: start..end, text }))
}

fn pair(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    let prefixed = matches!(bytes.get(at..at + 2), Some(b"0x" | b"0X" | b"\\x"));
    let at = if prefixed { at + 2 } else { at };
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    let byte = digit(at)? * 16 + digit(at + 1)?;
    Some((u8::try_from(byte).ok()?, at + 2))
}
