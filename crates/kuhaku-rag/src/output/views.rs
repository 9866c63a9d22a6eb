//! What a reply says to who takes its disguise off.

use super::escapes;

/// Digits that a number backwards has at least to be looked for.
const DIGITS: usize = 11;

/// The shortest run of Base64 or of hexadecimal codes that is read, in bytes.
const CODED: usize = 16;

/// Another reading of a text.
pub(super) struct View {
    pub(super) text: String,
    /// More of the text may change how its end reads.
    pub(super) open_end: bool,
    pub(super) backwards: bool,
}

/// The readings that a text has beside the plain one; most have none. One that is not at its end may
/// break off in a code, which is not read then.
pub(super) fn of(text: &str, last: bool) -> Vec<View> {
    let mut views = Vec::new();
    if text.contains('%') || text.contains("&#") || text.contains('\\') {
        let read = escapes::read(text, true).0;
        if read != text {
            views.push(View { text: read, open_end: true, backwards: false });
        }
    }
    if text.contains('@') || has_long_number(text) {
        let backwards = text.chars().rev().collect();
        views.push(View { text: backwards, open_end: true, backwards: true });
    }
    let is_code = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=');
    let complete = text.trim_end_matches(is_code).len();
    let complete = if last { text.len() } else { complete };
    let runs = text.get(..complete).unwrap_or_default().split(|c| !is_code(c));
    for run in runs.filter(|run| run.len() >= CODED) {
        let coded = run.trim_matches(|c| matches!(c, '-' | '/' | '+' | '_'));
        views.extend([base64(coded), hexadecimal(coded)].into_iter().flatten().map(|text| View {
            text,
            open_end: false,
            backwards: false,
        }));
    }
    views
}

/// Whether digits stand there that could be one number.
fn has_long_number(text: &str) -> bool {
    let (mut digits, mut gap) = (0, 0);
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => (digits, gap) = (digits + 1, 0),
            b'a'..=b'z' | b'A'..=b'Z' => digits = 0,
            _ if gap < 4 => gap += 1,
            _ => digits = 0,
        }
        if digits >= DIGITS {
            return true;
        }
    }
    false
}

fn base64(coded: &str) -> Option<String> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'a'..=b'z' => Some(u32::from(byte - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for byte in coded.trim_end_matches('=').bytes() {
        bits = (bits << 6 | value(byte)?) & 0xfff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    readable(bytes)
}

fn hexadecimal(coded: &str) -> Option<String> {
    let pairs = coded.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    readable(pairs.filter(|pair| pair.len() == 2).map(byte).collect::<Option<_>>()?)
}

/// Text that somebody has written, no bytes of chance.
fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let written = |c: char| !c.is_control() || matches!(c, '\n' | '\t' | '\r');
    text.chars().all(written).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        of(text, true).into_iter().map(|view| view.text).collect()
    }

    #[test]
    fn a_plain_text_has_no_other_reading() {
        for text in ["", "You have 25 days [S1], from 2026-01-01 on.", "An internationalization."] {
            assert!(texts(text).is_empty(), "{text}: {:?}", texts(text));
        }
    }

    #[test]
    fn disguises_are_taken_off() {
        for (text, read) in [
            ("it is %61%40b", "it is a@b"),
            ("YWRhQGV4YW1wbGUuY29t", "ada@example.com"),
            ("so: YWRhQGV4YW1wbGUuY29tIA==.", "ada@example.com "),
            ("616461406578616d706c652e636f6d", "ada@example.com"),
            ("6411 1111", ""),
            ("1111 1111 1111 1114", "4111 1111 1111 1111"),
            ("moc.elpmaxe@ada", "ada@example.com"),
        ] {
            assert_eq!(texts(text).contains(&read.to_owned()), !read.is_empty(), "{text}");
        }
    }
}
