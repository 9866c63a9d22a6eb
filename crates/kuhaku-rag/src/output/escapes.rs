//! Characters written as escapes: of addresses (`%61`), of HTML (`&#97;`), of programs (`\x61`), as
//! code points (`U+0061`).

/// The longest escape, in bytes.
const LONGEST: usize = 12;

/// What a text begins with.
enum Head {
    /// No escape.
    Plain,
    /// The beginning of one, perhaps.
    Open,
    /// A character, and the bytes of its escape.
    Escape(char, usize),
}

/// True when a text may hold an escape.
pub(super) fn may_hold(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'%' | b'&' | b'\\' | b'+'))
}

/// The text with its escapes read, and how much of it that is: all but an escape that the text breaks
/// off in.
pub(super) fn read(text: &str, last: bool) -> (String, usize) {
    let mut read = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(tail) = text.get(at..).filter(|tail| !tail.is_empty()) {
        let plain = tail.find(['%', '&', '\\', 'U', 'u']).unwrap_or(tail.len());
        if plain > 0 {
            read.push_str(tail.get(..plain).unwrap_or_default());
            at += plain;
            continue;
        }
        match head(tail, last) {
            Head::Escape(c, length) => {
                read.push(c);
                at += length;
            }
            Head::Open => break,
            Head::Plain => {
                // All that begins an escape is one byte.
                read.push_str(tail.get(..1).unwrap_or_default());
                at += 1;
            }
        }
    }
    (read, at)
}

fn head(tail: &str, last: bool) -> Head {
    let open = || if last { Head::Plain } else { Head::Open };
    if tail.starts_with('%') {
        return match bytes(tail, last) {
            Some((c, length)) => Head::Escape(c, length),
            None if is_broken_off(tail) => open(),
            None => Head::Plain,
        };
    }
    let forms: [(&str, u32, usize, &str); 7] = [
        ("&#x", 16, 6, ";"),
        ("&#X", 16, 6, ";"),
        ("&#", 10, 7, ";"),
        ("\\x", 16, 2, ""),
        ("\\u{", 16, 6, "}"),
        ("\\u", 16, 4, ""),
        ("U+", 16, 4, ""),
    ];
    let folded = tail.strip_prefix("u+").map(|_| "U+");
    let mut may_go_on = false;
    for (prefix, radix, longest, end) in forms {
        let rest = match folded.filter(|it| *it == prefix) {
            Some(_) => tail.get(2..),
            None => tail.strip_prefix(prefix),
        };
        let Some(rest) = rest else {
            may_go_on |= prefix.starts_with(tail) || tail == "u";
            continue;
        };
        let digits = rest.chars().take(longest).take_while(|c| c.is_digit(radix)).count();
        let broken_off = digits == rest.len() && digits < longest.max(LONGEST);
        // Those with an end may do without it; the others have all of their digits.
        if digits == 0 || end.is_empty() && digits < longest {
            may_go_on |= broken_off;
            continue;
        }
        if !end.is_empty() && broken_off && !last {
            return Head::Open;
        }
        let number = u32::from_str_radix(rest.get(..digits).unwrap_or_default(), radix);
        let Some(c) = number.ok().and_then(char::from_u32) else { continue };
        let end = if rest.get(digits..).is_some_and(|rest| rest.starts_with(end)) {
            end.len()
        } else {
            0
        };
        return Head::Escape(c, prefix.len() + digits + end);
    }
    if may_go_on { open() } else { Head::Plain }
}

/// The character whose bytes in UTF-8 stand as `%C3%A9` at the head, or the one of Latin-1 for a byte
/// that begins none.
fn bytes(tail: &str, last: bool) -> Option<(char, usize)> {
    let byte = |n: usize| {
        let digits = tail.get(n * 3..)?.strip_prefix('%')?.get(..2)?;
        let digits = Some(digits).filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()));
        u8::from_str_radix(digits?, 16).ok()
    };
    let first = byte(0)?;
    let count = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    if !last && tail.len() < count * 3 && is_broken_off(tail) {
        return None;
    }
    let all: Option<Vec<u8>> = (0..count).map(byte).collect();
    let decoded = all.and_then(|all| String::from_utf8(all).ok()).and_then(|it| it.chars().next());
    Some(decoded.map_or((char::from(first), 3), |c| (c, count * 3)))
}

/// True for what could become some escapes of bytes, but has no end yet.
fn is_broken_off(tail: &str) -> bool {
    tail.len() < 12
        && tail.bytes().enumerate().all(|(n, byte)| match n % 3 {
            0 => byte == b'%',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_of_all_kinds_are_read() {
        for (text, expected) in [
            ("%61b%63", "abc"),
            ("%c3%b6%E6%97%A5%f0%9f%98%80%e9%61", "ö日😀éa"),
            ("&#97;&#x62;&#X63", "abc"),
            (r"\x61\u0062\u{63}", "abc"),
            ("U+0061 u+0062", "a b"),
            ("100% & \\ u U+1 %zz &#;", "100% & \\ u U+1 %zz &#;"),
            ("é%61日", "éa日"),
        ] {
            assert_eq!(read(text, true), (expected.into(), text.len()), "{text}");
        }
    }

    #[test]
    fn an_escape_that_is_broken_off_waits_for_its_end() {
        for text in
            ["%", "%6", "&", "&#", "&#9", "&#x6", "\\", "\\x", "\\u00", "\\u{6", "U", "U+00"]
        {
            let all = format!("x{text}");
            assert_eq!(read(&all, false), ("x".into(), 1), "{text}");
        }
    }

    proptest! {
        #[test]
        fn pieces_are_read_like_the_whole(
            parts in prop::collection::vec("[a-c0-9%&#x;u{}\\\\U+é ]{0,9}", 0..12),
        ) {
            let whole = parts.concat();
            let (mut pieces, mut rest) = (String::new(), String::new());
            for part in &parts {
                rest.push_str(part);
                let (text, taken) = read(&rest, false);
                pieces.push_str(&text);
                rest.drain(..taken);
            }
            pieces.push_str(&read(&rest, true).0);
            prop_assert_eq!(pieces, read(&whole, true).0);
        }
    }
}
