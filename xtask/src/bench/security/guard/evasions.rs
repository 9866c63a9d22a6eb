//! Twelve disguises of a text.

/// A name and what it does to a text.
pub(super) type Evasion = (&'static str, fn(&str) -> String);

/// All of them.
pub(super) const EVASIONS: [Evasion; 12] = [
    ("zero-width spaces", |text| between_letters(text, "\u{200b}")),
    ("look-alike letters", |text| text.chars().map(lookalike).collect()),
    ("full-width letters", |text| text.chars().map(full_width).collect()),
    ("spaced letters", spaced),
    ("hyphenated letters", |text| between_letters(text, "-")),
    ("leetspeak", |text| text.chars().map(leet).collect()),
    ("base64", |text| base64(text.as_bytes())),
    ("hexadecimal", |text| text.bytes().map(|byte| format!("{byte:02x}")).collect()),
    ("rot13", |text| text.chars().map(rot13).collect()),
    ("URL encoding", |text| text.bytes().map(|byte| format!("%{byte:02X}")).collect()),
    ("mixed case", mixed_case),
    ("bidi marks and soft hyphens", |text| {
        format!("\u{202e}{}\u{202c}", between_letters(text, "\u{ad}"))
    }),
];

/// Puts something between each two letters of a word.
fn between_letters(text: &str, mark: &str) -> String {
    let mut disguised = String::new();
    let mut before = false;
    for c in text.chars() {
        if before && c.is_alphanumeric() {
            disguised.push_str(mark);
        }
        before = c.is_alphanumeric();
        disguised.push(c);
    }
    disguised
}

/// One space between letters, three between words.
fn spaced(text: &str) -> String {
    let words = text.split_whitespace().map(|word| {
        let letters: Vec<String> = word.chars().map(String::from).collect();
        letters.join(" ")
    });
    words.collect::<Vec<_>>().join("   ")
}

/// Cyrillic for Latin.
fn lookalike(c: char) -> char {
    match c {
        'a' => 'а',
        'c' => 'с',
        'e' => 'е',
        'i' => 'і',
        'o' => 'о',
        'p' => 'р',
        'x' => 'х',
        'y' => 'у',
        _ => c,
    }
}

fn full_width(c: char) -> char {
    match c {
        '!'..='~' => char::from_u32(u32::from(c) + 0xfee0).unwrap_or(c),
        _ => c,
    }
}

fn leet(c: char) -> char {
    match c {
        'a' => '4',
        'e' => '3',
        'i' => '1',
        'o' => '0',
        's' => '5',
        't' => '7',
        _ => c,
    }
}

fn rot13(c: char) -> char {
    let turned = |first: u8| char::from((c as u8 - first + 13) % 26 + first);
    match c {
        'a'..='z' => turned(b'a'),
        'A'..='Z' => turned(b'A'),
        _ => c,
    }
}

fn mixed_case(text: &str) -> String {
    let mut upper = false;
    let cased = text.chars().map(|c| {
        upper = !upper;
        if upper { c.to_uppercase().collect::<String>() } else { c.to_lowercase().collect() }
    });
    cased.collect()
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0_usize, |number, at| {
            number << 8 | three.get(at).map_or(0, |byte| usize::from(*byte))
        });
        for at in 0..4 {
            let sign =
                SIGNS.get(number >> (18 - 6 * at) & 63).copied().filter(|_| at <= three.len());
            text.push(sign.map_or('=', char::from));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_disguise_is_what_its_name_says() {
        let disguised: Vec<String> = EVASIONS.iter().map(|(_, of)| of("Take it")).collect();
        assert_eq!(
            disguised,
            [
                "T\u{200b}a\u{200b}k\u{200b}e i\u{200b}t",
                "Tаkе іt",
                "Ｔａｋｅ ｉｔ",
                "T a k e   i t",
                "T-a-k-e i-t",
                "T4k3 17",
                "VGFrZSBpdA==",
                "54616b65206974",
                "Gnxr vg",
                "%54%61%6B%65%20%69%74",
                "TaKe iT",
                "\u{202e}T\u{ad}a\u{ad}k\u{ad}e i\u{ad}t\u{202c}",
            ]
        );
    }
}
