//! Telling binary files from text.

use super::has_no_width;

/// What a recognisable binary file begins with.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"PK\x05\x06", "a ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old office document"),
    (b"\x7fELF", "an ELF program"),
    (b"\x1f\x8b\x08", "a gzip archive"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"RIFF", "a RIFF media file"),
    (b"OggS\x00", "an Ogg media file"),
    (b"fLaC\x00", "a FLAC sound file"),
    (b"ID3\x03\x00", "an MP3 sound file"),
    (b"ID3\x04\x00", "an MP3 sound file"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"BZh91AY&SY", "a bzip2 archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"\x00asm", "a WebAssembly module"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\xff\xfe\x00\x00", "UTF-32 text"),
    (b"\x00\x00\xfe\xff", "UTF-32 text"),
];

/// How far into a file a NUL means that it is not text.
const NUL_WINDOW: usize = 8192;

/// Names what the bytes are when they are plainly not the text of any encoding that is read.
///
/// A NUL counts when it stands near the beginning and no byte order mark says UTF-16.
pub(crate) fn sniff(bytes: &[u8]) -> Option<&'static str> {
    let known = SIGNATURES.iter().find(|(signature, _)| bytes.starts_with(signature));
    if let Some((signature, name)) = known {
        // `RIFF` is also a word; the media file has a binary length behind it.
        let head = bytes.get(..16).unwrap_or(bytes);
        if *signature != b"RIFF" || head.contains(&0) {
            return Some(name);
        }
    }
    if claims_utf16(bytes) {
        return None;
    }
    let head = bytes.get(..NUL_WINDOW).unwrap_or(bytes);
    head.contains(&0).then_some("a binary file, or UTF-16 text without its byte order mark")
}

/// Whether the bytes begin with a byte order mark of UTF-16.
pub(crate) fn claims_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// Whether decoded UTF-16 is text: of its characters, at most one in 20 is a control character or
/// unassigned or for private use. Any two bytes are UTF-16, so the byte order mark alone says little.
pub(crate) fn is_text(decoded: &str) -> bool {
    let (mut all, mut odd) = (0_usize, 0_usize);
    for c in decoded.chars() {
        all += 1;
        odd += usize::from(is_no_character(c));
    }
    odd <= all / 20
}

fn is_no_character(c: char) -> bool {
    if c.is_alphanumeric() || c.is_whitespace() || has_no_width(c) {
        return false;
    }
    // The standard library escapes what Unicode gives no shape, and, at the beginning of a text
    // only, marks that join the character before.
    let mut pair = String::from('a');
    pair.push(c);
    c.is_control() || pair.escape_debug().count() > "a\\\"".len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_files_are_recognised_and_text_is_not() {
        let cases: &[(&[u8], Option<&str>)] = &[
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Some("a PNG image")),
            (b"%PDF-1.7\n", Some("a PDF document")),
            (b"RIFF\x24\x00\x00\x00WAVE", Some("a RIFF media file")),
            (b"RIFF is a container of chunks.", None),
            (b"\xff\xfeh\0i\0", None),
            (b"\xff\xfe\0\0h\0\0\0", Some("UTF-32 text")),
            (b"caf\xe9", None),
            (b"", None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(sniff(bytes), *expected, "{bytes:?}");
        }
        assert!(sniff(b"h\0i\0").is_some_and(|name| name.contains("binary")));
    }

    #[test]
    fn a_stray_nul_far_into_a_text_does_not_make_it_binary() {
        let mut text = vec![b'a'; NUL_WINDOW];
        text.push(0);
        assert_eq!(sniff(&text), None);
    }

    #[test]
    fn only_characters_without_a_meaning_count_against_a_text() {
        for c in ['\0', '\u{1b}', '\u{86}', '\u{e000}', '\u{f0000}', '\u{378}', '\u{ffff}'] {
            assert!(is_no_character(c), "{c:?}");
        }
        for c in "a\"\\'茶\n\t\u{c}\u{feff}\u{200d}\u{301}\u{94d}\u{e33}\u{3000}🏽€\u{fffd}".chars()
        {
            assert!(!is_no_character(c), "{c:?}");
        }
        let of_a_hundred = |odd| is_text(&("\u{e000}".repeat(odd) + &"x".repeat(100 - odd)));
        assert!(of_a_hundred(5) && !of_a_hundred(6));
        assert!(is_text(&"นี่คือ हिन्दी میں עִבְרִית".repeat(50)));
    }
}
