//! From bytes to characters.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

use crate::warning::Warning;

/// Decodes a text file: by its byte order mark, else as UTF-8, else by what its bytes look like.
///
/// The byte order mark stays in the result as U+FEFF, so that for UTF-8 its offsets are those of the
/// bytes. Never fails: what has no meaning becomes U+FFFD, with a warning.
pub(crate) fn decode<'b>(bytes: &'b [u8], warnings: &mut Vec<Warning>) -> Cow<'b, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None if is_damaged_utf8(bytes) => UTF_8,
        None => {
            let encoding = detect(bytes);
            warnings.push(Warning::EncodingAssumed { encoding: encoding.name() });
            encoding
        }
    };
    let (text, replaced) = encoding.decode_without_bom_handling(bytes);
    if replaced {
        warnings.push(Warning::BytesReplaced { encoding: encoding.name() });
    }
    text
}

/// Whether a text is UTF-8 with a few broken places: a detector would read all of it in some other
/// encoding and spoil every letter outside ASCII.
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (mut whole, mut broken) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        whole += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    whole >= 2 * broken
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> (String, Vec<&'static str>) {
        let mut warnings = Vec::new();
        let text = decode(bytes, &mut warnings).into_owned();
        (text, warnings.iter().map(Warning::code).collect())
    }

    #[test]
    fn utf8_is_taken_as_it_is() {
        assert_eq!(decoded("naïve 茶".as_bytes()), ("naïve 茶".into(), vec![]));
    }

    /// RK-06
    #[test]
    fn other_encodings_are_guessed_with_a_warning() {
        assert_eq!(decoded(b"caf\xe9"), ("café".into(), vec!["encoding_assumed"]));
        let cyrillic = b"\xcf\xf0\xe8\xe2\xe5\xf2, \xea\xe0\xea \xe4\xe5\xeb\xe0?";
        assert_eq!(decoded(cyrillic), ("Привет, как дела?".into(), vec!["encoding_assumed"]));
    }

    #[test]
    fn a_byte_order_mark_decides_and_lone_surrogates_are_replaced() {
        let (text, warnings) = decoded(b"\xff\xfeh\0i\0");
        assert_eq!((text.as_str(), warnings), ("\u{feff}hi", vec![]));
        let (text, warnings) = decoded(b"\xfe\xff\0h\xd8\x00\0i");
        assert_eq!((text.as_str(), warnings), ("\u{feff}h\u{fffd}i", vec!["bytes_replaced"]));
    }

    #[test]
    fn one_broken_character_does_not_spoil_a_utf8_text() {
        let mut bytes = "Größe, Länge, Maß".as_bytes().to_vec();
        bytes.push(0xc3);
        let expected = "Größe, Länge, Maß\u{fffd}";
        assert_eq!(decoded(&bytes), (expected.into(), vec!["bytes_replaced"]));
    }
}
