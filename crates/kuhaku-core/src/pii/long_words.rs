//! Long runs of some characters, found without reading the short ones.

use std::ops::Range;

/// The maximal runs of at least `length` bytes that `is_part` holds for.
///
/// Looks at the last byte that a run of that length would need, and backwards from there, so that most
/// bytes of a text of short words are never looked at.
pub(super) fn long_words(
    bytes: &[u8],
    length: usize,
    is_part: impl Fn(&u8) -> bool,
) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    while let Some(window) = bytes.get(start..start + length) {
        match window.iter().rposition(|byte| !is_part(byte)) {
            Some(other) => start += other + 1,
            None => {
                let rest = bytes.get(start + length..).unwrap_or_default();
                let end = start + length + rest.iter().take_while(|byte| is_part(byte)).count();
                found.push(start..end);
                start = end + 1;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_found_whole() {
        let found = long_words(b"aaa aaaa,aaaaaa a aaaa", 4, u8::is_ascii_alphabetic);
        assert_eq!(found, [4..8, 9..15, 18..22]);
        assert!(long_words(b"", 4, u8::is_ascii_alphabetic).is_empty());
    }
}
