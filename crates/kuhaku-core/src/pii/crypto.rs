//! Addresses of crypto currencies.

use std::ops::Range;

use sha2::{Digest, Sha256};

use crate::masking::Placeholder;

use super::reading::Reading;
use super::scan::{Span, after, before, placeholder_after, placeholder_before};

/// Bytes of the shortest and of the longest address (BIP 173 allows 90).
const LENGTHS: std::ops::RangeInclusive<usize> = 26..=90;

/// The alphabet of base58, without the characters that look alike.
const BASE58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The alphabet of BIP 173.
const BECH32: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Finds Bitcoin, Litecoin and Dogecoin addresses whose checksum is right, and Ethereum's by their
/// shape.
pub(super) fn find(reading: &Reading<'_>) -> Vec<Span> {
    let text = reading.text();
    let mut found = Vec::new();
    let long = reading.long_words().iter().filter(|word| word.len() >= *LENGTHS.start());
    for word in long.flat_map(|word| alphanumeric(text, word)) {
        if LENGTHS.contains(&word.len())
            && !before(text, word.start).is_some_and(char::is_alphanumeric)
            && !after(text, word.end).is_some_and(char::is_alphanumeric)
            && text.as_bytes().get(word.clone()).is_some_and(is_address)
            && !placeholder_before(text, word.start)
            && !placeholder_after(text, word.end)
        {
            found.push((word, Placeholder::Crypto));
        }
    }
    found
}

/// The runs of letters and digits within a word.
fn alphanumeric(text: &str, word: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = word.start;
    let inside = text.as_bytes().get(word.clone()).unwrap_or_default();
    inside.split(|byte| !byte.is_ascii_alphanumeric()).map(move |run| {
        let range = start..start + run.len();
        start = range.end + 1;
        range
    })
}

fn is_address(word: &[u8]) -> bool {
    match word {
        [b'0', b'x' | b'X', digits @ ..] if digits.len() == 40 => {
            digits.iter().all(u8::is_ascii_hexdigit)
        }
        [b'1' | b'3' | b'L' | b'M' | b'D' | b'9' | b'A', ..] if word.len() <= 35 => is_base58(word),
        [b'b' | b'B', b'c' | b'C', b'1', ..] => is_bech32(word),
        [b'l' | b'L', b't' | b'T', b'c' | b'C', b'1', ..] => is_bech32(word),
        _ => false,
    }
}

/// Base58Check: 25 bytes, the first names the kind, the last four begin the double SHA-256 of the rest.
fn is_base58(word: &[u8]) -> bool {
    let mut bytes = [0_u8; 25];
    for character in word {
        let Some(value) = BASE58.iter().position(|known| known == character) else {
            return false;
        };
        let mut carry = value as u32;
        for byte in bytes.iter_mut().rev() {
            carry += u32::from(*byte) * 58;
            *byte = (carry & 0xff) as u8;
            carry >>= 8;
        }
        if carry > 0 {
            return false;
        }
    }
    let (payload, check) = bytes.split_at(21);
    // Bitcoin 0 and 5, Litecoin 48 and 50, Dogecoin 30 and 22.
    let known = payload.first().is_some_and(|kind| [0, 5, 48, 50, 30, 22].contains(kind));
    known && Sha256::digest(Sha256::digest(payload)).starts_with(check)
}

/// Bech32 (BIP 173) or Bech32m (BIP 350): one case, and a checksum of 1 or 0x2bc830a3.
fn is_bech32(word: &[u8]) -> bool {
    const GENERATORS: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let lower = word.to_ascii_lowercase();
    if word != lower && word != word.to_ascii_uppercase() {
        return false;
    }
    let Some(separator) = lower.iter().position(|byte| *byte == b'1') else {
        return false;
    };
    let (prefix, rest) = lower.split_at(separator);
    let mut values: Vec<u32> = prefix.iter().map(|byte| u32::from(byte >> 5)).collect();
    values.push(0);
    values.extend(prefix.iter().map(|byte| u32::from(byte & 31)));
    for byte in rest.iter().skip(1) {
        let Some(value) = BECH32.iter().position(|known| known == byte) else {
            return false;
        };
        values.push(value as u32);
    }
    let checksum = values.iter().fold(1_u32, |sum, value| {
        let top = sum >> 25;
        let sum = (sum & 0x01ff_ffff) << 5 ^ value;
        let step = |sum, (bit, generator)| if top >> bit & 1 == 1 { sum ^ generator } else { sum };
        GENERATORS.iter().enumerate().fold(sum, step)
    });
    matches!(checksum, 1 | 0x2bc8_30a3)
}

#[cfg(test)]
mod tests {
    use super::super::reading::read;
    use super::*;

    #[test]
    fn addresses_with_a_right_checksum_are_found() {
        for address in [
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
            "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
            "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
            "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
            "0x52908400098527886E0F7030069857D2E4169EE7",
        ] {
            let text = format!("to:{address}.");
            assert_eq!(
                find(&read(&text)),
                [(3..3 + address.len(), Placeholder::Crypto)],
                "{address}"
            );
        }
    }

    #[test]
    fn other_words_are_no_addresses() {
        for text in [
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb",
            "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
            "bc1qW508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
            "0x52908400098527886E0F7030069857D2E4169EE",
            "1111111111111111111111111111111",
            "x1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNaé",
        ] {
            assert_eq!(find(&read(text)), [], "{text}");
        }
    }
}
