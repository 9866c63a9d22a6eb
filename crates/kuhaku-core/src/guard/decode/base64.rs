//! Base64, of either alphabet, with or without padding, in one line or wrapped.

use super::{Piece, as_text, is_code};

/// The shortest code that is looked into, in characters.
const SHORTEST: usize = 8;

/// Lines as long as this may go on in the next one.
const WRAPPED: usize = 60;

/// The end of the run that begins here, and what it encodes.
pub(super) fn run(bytes: &[u8], start: usize) -> (usize, Option<Piece>) {
    let (mut end, mut line) = (start, start);
    loop {
        match bytes.get(end) {
            Some(byte) if is_code(byte) => end += 1,
            Some(b'\r' | b'\n') if end - line >= WRAPPED => {
                let gap = if bytes.get(end..end + 2) == Some(b"\r\n") { 2 } else { 1 };
                if !bytes.get(end + gap).is_some_and(is_code) {
                    break;
                }
                end += gap;
                line = end;
            }
            _ => break,
        }
    }
    let code = bytes.get(start..end).unwrap_or_default();
    let padding = bytes.get(end..).unwrap_or_default().iter().take(2).take_while(|it| **it == b'=');
    let end = end + padding.count();
    if code.len() < SHORTEST {
        return (end, None);
    }
    let piece = decoded(code).and_then(|bytes| as_text(bytes, SHORTEST / 4 * 3));
    (end, piece.map(|text| Piece { range: start..end, text }))
}

fn decoded(code: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(code.len() / 4 * 3 + 2);
    let (mut value, mut bits) = (0_u32, 0);
    for byte in code {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        value = (value << 6) | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            let byte = (value >> bits) & 0xff;
            // Most words are no code: the first bytes tell, as texts hold no control characters.
            if byte < 0x20 && !matches!(byte, 0x09 | 0x0a | 0x0d) {
                return None;
            }
            bytes.push(u8::try_from(byte).unwrap_or_default());
        }
    }
    Some(bytes)
}
