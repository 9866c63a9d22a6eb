//! Long runs of the characters of tokens, found without reading the short ones.

use std::ops::Range;

/// Bytes of the shortest run: that of the shortest token of a format with a prefix.
const SHORTEST: usize = 15;

/// Bytes that are looked at together. A run of twice as many less one holds a whole such block.
const BLOCK: usize = 8;

/// The maximal runs of at least fifteen letters, digits and signs of tokens.
///
/// Most blocks of a text have a blank in them, which tells that no such run holds the block.
pub(super) fn long_words(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut read = 0;
    for (place, block) in bytes.as_chunks::<BLOCK>().0.iter().enumerate() {
        let at = place * BLOCK;
        if at < read || has_blank(*block) || is_short(bytes, at) || !block.iter().all(is_part) {
            continue;
        }
        let head = bytes.get(read..at).unwrap_or_default();
        let start = at - head.iter().rev().take_while(|byte| is_part(byte)).count();
        let tail = bytes.get(at..).unwrap_or_default();
        read = at + tail.iter().take_while(|byte| is_part(byte)).count();
        if read - start >= SHORTEST {
            found.push(start..read);
        }
    }
    found
}

/// Whether a blank is near on both sides of the block at `at`: a long run has four bytes more on one
/// of them.
fn is_short(bytes: &[u8], at: usize) -> bool {
    let near = |half: Option<&[u8; 4]>| {
        half.is_none_or(|half| {
            let mut block = [b'a'; BLOCK];
            block.iter_mut().zip(half).for_each(|(to, from)| *to = *from);
            has_blank(block)
        })
    };
    let left = at.checked_sub(4).and_then(|start| bytes.get(start..)?.first_chunk());
    near(left) && near(bytes.get(at + BLOCK..).and_then(<[u8]>::first_chunk))
}

/// Whether one of eight bytes is a blank or a control character: the borrow of a subtraction reaches
/// the highest bit of the lowest such byte.
fn has_blank(block: [u8; BLOCK]) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let bytes = u64::from_le_bytes(block);
    bytes.wrapping_sub(EACH * 0x21) & !bytes & (EACH * 0x80) != 0
}

/// The bytes of which formats with a prefix consist.
const PARTS: [bool; 256] = {
    let mut parts = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let sign = matches!(byte, b'-' | b'_' | b'.' | b'+' | b'/' | b'=');
        #[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
        {
            parts[byte as usize] = byte.is_ascii_alphanumeric() || sign;
        }
        byte += 1;
    }
    parts
};

pub(super) fn is_part(byte: &u8) -> bool {
    PARTS.get(usize::from(*byte)).copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_blank_is_seen_at_every_place() {
        for place in 0..BLOCK {
            for byte in 0..=255 {
                let mut block = *b"az_09-.=";
                block[place] = byte;
                assert_eq!(has_blank(block), byte <= b' ', "{byte} at {place}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_long_run_is_found_whole(text in "([a-c]{0,20}[ ,é]?){0,8}") {
            let mut expected = Vec::new();
            let mut start = 0;
            for word in text.as_bytes().split(|byte| !is_part(byte)) {
                if word.len() >= SHORTEST {
                    expected.push(start..start + word.len());
                }
                start += word.len() + 1;
            }
            prop_assert_eq!(long_words(text.as_bytes()), expected);
        }
    }
}
