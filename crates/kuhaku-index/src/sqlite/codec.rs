//! Stored forms: the terms and the vector of a chunk as bytes, lists of words as JSON.
//!
//! Terms are spelled out per chunk, so that removing a chunk removes its words (D20).

use kuhaku_core::AccessTags;

use crate::inverted::{ChunkTerms, Draft, Frequencies, Lengths};
use crate::snapshot::checksum;
use crate::vector::Vector;

/// Bytes of the checksum behind a vector.
const SUM: usize = size_of::<u64>();

fn push_number(bytes: &mut Vec<u8>, mut number: u32) {
    // LEB128: seven bits a byte, lowest first.
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn number(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    for shift in (0..35).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u32::from(byte & 0x7f);
        value |= bits.checked_shl(shift).filter(|shifted| shifted >> shift == bits)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Lengths, then per term: its spelling, twice its body frequency (plus 1 when it stands in other
/// fields too), and then those frequencies.
pub(super) fn encode_terms(draft: &Draft, terms: &ChunkTerms) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + terms.entries.len() * 9);
    let Lengths { heading, body, extra } = terms.lengths;
    [heading, body, extra].into_iter().for_each(|length| push_number(&mut bytes, length));
    for (term, tf) in &terms.entries {
        let spelling = draft.term(*term);
        push_number(&mut bytes, spelling.len() as u32);
        bytes.extend_from_slice(spelling.as_bytes());
        let elsewhere = tf.heading > 0 || tf.extra > 0;
        push_number(&mut bytes, u32::from(tf.body) << 1 | u32::from(elsewhere));
        if elsewhere {
            bytes.extend([tf.heading, tf.extra]);
        }
    }
    bytes
}

/// None when the bytes are not what [`encode_terms`] writes.
pub(super) fn decode_terms(draft: &mut Draft, mut bytes: &[u8]) -> Option<ChunkTerms> {
    let bytes = &mut bytes;
    let lengths = Lengths { heading: number(bytes)?, body: number(bytes)?, extra: number(bytes)? };
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let length = number(bytes)? as usize;
        let (spelling, rest) = bytes.split_at_checked(length)?;
        let term = draft.number(std::str::from_utf8(spelling).ok()?);
        *bytes = rest;
        let packed = number(bytes)?;
        let mut tf =
            Frequencies { body: u16::try_from(packed >> 1).ok()?, ..Frequencies::default() };
        if packed & 1 == 1 {
            let ([heading, extra], rest) = bytes.split_first_chunk::<2>()?;
            (tf.heading, tf.extra) = (*heading, *extra);
            *bytes = rest;
        }
        entries.push((term, tf));
    }
    Some(ChunkTerms { lengths, entries })
}

/// A vector, and a checksum over it and the hash of the text that it belongs to: most changed bits leave
/// a vector of length 1, and the vector of another text is one as well.
pub(super) fn encode_vector(vector: &Vector, text: &[u8]) -> Vec<u8> {
    let mut bytes = vector.to_bytes();
    bytes.extend(vector_sum(&bytes, text));
    bytes
}

/// None when it is no vector of this dimension and of this text, to the last bit.
pub(super) fn decode_vector(bytes: &[u8], text: &[u8], dimension: usize) -> Option<Vector> {
    let (bytes, sum) = bytes.split_last_chunk::<SUM>()?;
    if vector_sum(bytes, text) != *sum {
        return None;
    }
    Vector::from_bytes(bytes, dimension)
}

fn vector_sum(bytes: &[u8], text: &[u8]) -> [u8; SUM] {
    checksum(checksum(0, text), bytes).to_le_bytes()
}

/// A list of words as JSON.
pub(super) fn encode_words<'a>(words: impl Iterator<Item = &'a str>) -> String {
    serde_json::Value::from_iter(words).to_string()
}

/// None when it is no list of words.
pub(super) fn decode_words(json: &str) -> Option<Vec<String>> {
    serde_json::from_str(json).ok()
}

/// None when they are no tags.
pub(super) fn decode_tags(json: &str) -> Option<AccessTags> {
    serde_json::from_str(json).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn terms_come_back_as_they_were(
            lengths in any::<[u32; 3]>(),
            terms in prop::collection::vec(("\\PC{1,9}", any::<u16>(), any::<u8>(), any::<u8>()), 0..9),
        ) {
            let mut draft = Draft::default();
            let entries = terms
                .iter()
                .map(|(term, body, heading, extra)| {
                    let tf = Frequencies { heading: *heading, extra: *extra, body: *body };
                    (draft.number(term), tf)
                })
                .collect();
            let [heading, body, extra] = lengths;
            let terms = ChunkTerms { lengths: Lengths { heading, body, extra }, entries };
            let bytes = encode_terms(&draft, &terms);
            prop_assert_eq!(decode_terms(&mut draft, &bytes), Some(terms));
        }

        #[test]
        fn any_bytes_decode_or_do_not(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = decode_terms(&mut Draft::default(), &bytes);
            prop_assert_eq!(decode_vector(&bytes, b"text", bytes.len() / 4), None);
        }

        #[test]
        fn a_vector_comes_back_with_its_text_and_to_the_last_bit_or_not_at_all(
            numbers in prop::collection::vec(0.1_f32..9.0, 1..40),
            place in any::<prop::sample::Index>(),
            bit in 0_u8..8,
        ) {
            let vector = Vector::new(numbers).unwrap();
            let dimension = vector.dimension();
            let mut bytes = encode_vector(&vector, b"text");
            prop_assert_eq!(decode_vector(&bytes, b"text", dimension), Some(vector));
            prop_assert_eq!(decode_vector(&bytes, b"other", dimension), None);
            let changed = place.index(bytes.len());
            bytes[changed] ^= 1 << bit;
            prop_assert_eq!(decode_vector(&bytes, b"text", dimension), None);
        }
    }
}
