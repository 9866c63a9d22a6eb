//! Characters as the ASCII letters and digits that a reader takes them for.

use unicode_normalization::UnicodeNormalization as _;

/// The zeros of decimal digits beyond ASCII that no decomposition leads to.
const ZEROS: [u32; 22] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6,
    0xe50, 0xed0, 0xf20, 0x1040, 0x17e0, 0x1810, 0xa620, 0xa8d0, 0xabf0,
];

/// The ones of digits in circles that have no decomposition either.
const CIRCLED_ONES: [u32; 4] = [0x24f5, 0x2776, 0x2780, 0x278a];

/// The first letters of alphabets of signs: in circles, in squares, of flags.
const SIGNS: [u32; 3] = [0x1f150, 0x1f170, 0x1f1e6];

/// Tag characters repeat ASCII and draw nothing.
const TAGS: u32 = 0xe0000;

/// Gives the small letters and digits of ASCII that a character is read as: none, one, or several.
pub(super) fn each_plain(c: char, mut found: impl FnMut(u8)) {
    if c.is_ascii() {
        if c.is_ascii_alphanumeric() {
            found(u8::try_from(c).unwrap_or_default().to_ascii_lowercase());
        }
        return;
    }
    if let Some(twin) = twin(c) {
        return found(twin);
    }
    for part in std::iter::once(c).nfkd().flat_map(char::to_lowercase) {
        match twin(part) {
            Some(twin) => found(twin),
            None if part.is_ascii_alphanumeric() => found(u8::try_from(part).unwrap_or_default()),
            None => {}
        }
    }
}

/// A decimal digit of any script as that of ASCII; other characters as they are.
pub(super) fn digit(c: char) -> char {
    let code = u32::from(c);
    let value = ZEROS.iter().find_map(|zero| code.checked_sub(*zero).filter(|value| *value < 10));
    value.and_then(|value| char::from_digit(value, 10)).unwrap_or(c)
}

/// What a character looks like, or is a digit of.
fn twin(c: char) -> Option<u8> {
    let code = u32::from(c);
    let within = |first: &[u32], count: u32, of: u8| {
        let offset = first.iter().find_map(|first| code.checked_sub(*first).filter(|n| *n < count));
        offset.and_then(|offset| u8::try_from(offset).ok()).map(|offset| of + offset)
    };
    if c.is_ascii() {
        return None;
    }
    let looks = match c {
        'а' | 'А' | 'α' | 'Α' | 'ᴀ' | 'ɑ' => b'a',
        'в' | 'В' | 'β' | 'Β' | 'ь' | 'Ь' | 'ʙ' | 'Ƅ' | 'ƅ' => b'b',
        'с' | 'С' | 'ϲ' | 'Ϲ' | 'ᴄ' => b'c',
        'ԁ' | 'Ԁ' | 'ᴅ' => b'd',
        'е' | 'Е' | 'ε' | 'Ε' | 'ё' | 'Ё' | 'ᴇ' => b'e',
        'ꜰ' | 'ƒ' | 'Ϝ' | 'ϝ' => b'f',
        'о' | 'О' | 'ο' | 'Ο' => b'0',
        'з' | 'З' => b'3',
        'б' => b'6',
        _ => {
            let tag = code.checked_sub(TAGS).and_then(char::from_u32);
            let tag = tag.filter(char::is_ascii_alphanumeric);
            return within(&ZEROS, 10, b'0')
                .or_else(|| within(&CIRCLED_ONES, 9, b'1'))
                .or_else(|| within(&SIGNS, 26, b'a'))
                .or_else(|| u8::try_from(tag?.to_ascii_lowercase()).ok());
        }
    };
    Some(looks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        let mut plain = String::new();
        text.chars().for_each(|c| each_plain(c, |byte| plain.push(char::from(byte))));
        plain
    }

    #[test]
    fn letters_and_digits_are_read_in_every_dress() {
        for (dressed, expected) in [
            ("ABc-1 2", "abc12"),
            ("ａｂｃ１２", "abc12"),
            ("𝐚𝖇𝒄𝟏𝟚", "abc12"),
            ("ⓐⓑ①②❶➀➊⓵", "ab121111"),
            ("🄰🅐🅰🇦", "aaaa"),
            ("а\u{200b}в\u{ad}с", "abc"),
            ("ᴀʙᴄ", "abc"),
            ("٤۴४๔", "4444"),
            ("\u{e0061}\u{e0042}\u{e0031}", "ab1"),
            ("a\u{301}é1\u{fe0f}\u{20e3}", "ae1"),
            ("日本", ""),
        ] {
            assert_eq!(plain(dressed), expected, "{dressed}");
        }
    }
}
