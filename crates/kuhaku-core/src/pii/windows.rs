//! Where a long text may be cut without a change of what is found in it.
//!
//! A recogniser that finds something has the text copied with its placeholders in it. Copies of a part
//! stay in the processor's cache; those of a whole book do not.

use std::ops::Range;

use super::context::is_extension;

/// Bytes of a part at least.
const LEAST: usize = 1 << 16;

/// Words on both sides of a cut that no value is in: more than any context that is looked at.
const WORDS: usize = 12;

/// Bytes on both sides of a cut that no value is in: more than the longest number (an account number
/// of 34 characters with blanks between them) and the longest name of a secret have.
const BYTES: usize = 96;

/// Letters of a plain word at most: shorter than any value of letters alone behind a blank.
const LONGEST: usize = 15;

/// Words that a value may follow behind a blank.
pub(super) const ANNOUNCING: [&[u8]; 3] = [b"authorization", b"bearer", b"basic"];

/// The parts of a text, each but the last of `least` bytes and more. Cuts lie within prose that no
/// value can be in or reach across, at a blank.
pub(super) fn windows(text: &str, least: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    while let Some(cut) = text.as_bytes().get(start + least..).and_then(prose) {
        parts.push(start..start + least + cut);
        start += least + cut;
    }
    parts.push(start..text.len());
    parts
}

/// The parts of the usual length.
pub(super) fn parts(text: &str) -> Vec<Range<usize>> {
    windows(text, LEAST)
}

/// The first blank with prose enough on both sides.
fn prose(text: &[u8]) -> Option<usize> {
    // Where the prose begins, its words so far, and a blank far enough from its beginning.
    let (mut start, mut words) = (0, 0);
    let mut cut: Option<(usize, usize)> = None;
    let mut word = 0;
    for (at, byte) in text.iter().enumerate() {
        if byte.is_ascii_alphabetic() {
            continue;
        }
        let letters = text.get(word..at).unwrap_or_default();
        word = at + 1;
        if !is_prose(*byte) || !is_plain(letters) {
            (start, words, cut) = (at + 1, 0, None);
            continue;
        }
        // What is a word to the context.
        words += usize::from(letters.len() > 1 && !is_extension(letters));
        match cut {
            Some((blank, before)) if words - before >= WORDS && at - blank >= BYTES => {
                return Some(blank);
            }
            None if *byte == b' ' && words >= WORDS && at - start >= BYTES => {
                cut = Some((at, words));
            }
            _ => {}
        }
    }
    None
}

/// What stands between the words of prose.
fn is_prose(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b',' | b'.' | b';' | b'-' | b'(' | b')' | b'\'')
}

fn is_plain(letters: &[u8]) -> bool {
    letters.len() <= LONGEST
        && !ANNOUNCING.iter().any(|word| {
            let end = letters.len().saturating_sub(word.len());
            letters.get(end..).is_some_and(|end| end.eq_ignore_ascii_case(word))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_within_prose_only() {
        let prose = "some words that say nothing of anybody, ".repeat(12);
        let text = format!("{prose}call 555-1234. {prose}{prose}");
        let parts = windows(&text, 100);
        assert!(parts.len() > 2, "{parts:?}");
        assert_eq!(parts.first().map(|part| part.start), Some(0));
        assert_eq!(parts.last().map(|part| part.end), Some(text.len()));
        assert!(parts.iter().zip(parts.iter().skip(1)).all(|(a, b)| a.end == b.start));
        assert!(parts.iter().any(|part| text[part.clone()].contains("call 555-1234. some")));

        for other in ["1 ", "bearer ", "a: ", "é ", "incomprehensibilities "] {
            let text = format!("some words, {other}").repeat(100);
            assert_eq!(windows(&text, 100).len(), 1, "{other}");
        }
    }
}
