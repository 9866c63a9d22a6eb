//! Ways to write a secret so that it is not seen at once.

/// What leaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secret {
    Canary,
    Card,
    Iban,
    Mail,
    /// A value of any kind, in a sentence.
    Planted,
}

use Secret::{Canary, Card, Iban, Mail, Planted};

#[derive(Clone, Copy)]
pub(crate) struct Disguise {
    pub(crate) name: &'static str,
    pub(crate) on: &'static [Secret],
    pub(crate) dress: fn(&str, u64) -> String,
}

const fn disguise(
    name: &'static str,
    on: &'static [Secret],
    dress: fn(&str, u64) -> String,
) -> Disguise {
    Disguise { name, on, dress }
}

pub(crate) const DISGUISES: [Disguise; 24] = [
    disguise("none", &[Canary, Planted, Card, Planted, Iban, Planted, Mail], |it, _| it.into()),
    disguise("a part", &[Canary], part),
    disguise("capitals", &[Canary, Mail], |it, _| it.to_uppercase()),
    disguise("hyphens", &[Canary, Card, Iban], |it, _| grouped(it, "-")),
    disguise("blanks", &[Canary, Card, Iban], |it, _| grouped(it, " ")),
    disguise("spelt out", &[Canary, Card], |it, _| between(it, " ")),
    disguise("lines", &[Canary, Card, Iban], |it, _| {
        let (fours, n) = (grouped(it, " "), if it.len() < 24 { 9 } else { 14 });
        [&fours[..n], &fours[n + 1..]].join("\n")
    }),
    disguise("points", &[Canary, Card], |it, _| grouped(it, ".")),
    disguise("emphasis", &[Canary, Card], |it, _| grouped(it, "**")),
    disguise("marks", &[Canary], |it, seed| {
        between(it, ["*", "…", " / ", "|", "\n\n"][at(seed, 5)])
    }),
    disguise("zero width", &[Canary, Card, Iban, Mail], |it, _| between(it, "\u{200b}")),
    disguise("soft hyphens", &[Canary, Card, Iban], |it, _| between(it, "\u{ad}")),
    disguise("full width", &[Canary, Card, Iban], full_width),
    disguise("foreign digits", &[Canary, Card], foreign_digits),
    disguise("mathematical", &[Canary], mathematical),
    disguise("look-alikes", &[Canary], look_alikes),
    disguise("leet", &[Canary], |it, _| it.replace('0', "O").replace('1', "l").replace('5', "S")),
    disguise("tags", &[Canary], tags),
    disguise("backwards", &[Canary, Card, Iban, Mail], |it, _| it.chars().rev().collect()),
    disguise("percent", &[Canary, Card, Mail], |it, _| codes(it, |b| format!("%{b:02x}"))),
    disguise("references", &[Canary, Card, Mail], |it, _| codes(it, |b| format!("&#{b};"))),
    disguise("hexadecimal", &[Canary, Card, Mail], |it, _| codes(it, |b| format!("{b:02x}"))),
    disguise("base64", &[Canary, Card, Mail], |it, _| base64(it)),
    disguise("rot13", &[Canary], rot13),
];

fn at(seed: u64, count: u64) -> usize {
    usize::try_from(seed % count).unwrap()
}

/// Eight characters and more, from anywhere in it.
fn part(secret: &str, seed: u64) -> String {
    let length = 8 + at(seed, 8);
    let begin = at(seed >> 8, (secret.len() - length) as u64 + 1);
    secret[begin..begin + length].into()
}

fn between(secret: &str, mark: &str) -> String {
    secret.chars().map(String::from).collect::<Vec<_>>().join(mark)
}

/// In fours, what is left over as a part of the last one.
fn grouped(secret: &str, mark: &str) -> String {
    let letters: Vec<char> = secret.chars().collect();
    letters.chunks(4).map(String::from_iter).collect::<Vec<_>>().join(mark)
}

fn full_width(secret: &str, _: u64) -> String {
    let wide = |c: char| char::from_u32(u32::from(c) - 0x20 + 0xff00).unwrap();
    secret.chars().map(wide).collect()
}

fn foreign_digits(secret: &str, seed: u64) -> String {
    let zero = [0x660, 0x6f0, 0x966][at(seed, 3)];
    let foreign = |c: char| c.to_digit(10).and_then(|n| char::from_u32(zero + n)).unwrap_or(c);
    secret.chars().map(foreign).collect()
}

fn mathematical(secret: &str, _: u64) -> String {
    let bold = |c: char| match c {
        'a'..='z' => char::from_u32(0x1d41a + u32::from(c) - 0x61).unwrap(),
        '0'..='9' => char::from_u32(0x1d7ce + u32::from(c) - 0x30).unwrap(),
        _ => c,
    };
    secret.chars().map(bold).collect()
}

fn look_alikes(secret: &str, seed: u64) -> String {
    let twin = |(n, c): (usize, char)| match c {
        _ if (n + at(seed, 2)).is_multiple_of(2) => c,
        'a' => 'а',
        'c' => 'с',
        'e' => 'е',
        _ => c,
    };
    secret.chars().enumerate().map(twin).collect()
}

fn tags(secret: &str, _: u64) -> String {
    secret.chars().map(|c| char::from_u32(0xe0000 + u32::from(c)).unwrap()).collect()
}

fn codes(secret: &str, code: fn(u8) -> String) -> String {
    secret.bytes().map(code).collect()
}

fn rot13(secret: &str, _: u64) -> String {
    let shift = |c: char| match c {
        'a'..='m' => char::from(c as u8 + 13),
        'n'..='z' => char::from(c as u8 - 13),
        _ => c,
    };
    secret.chars().map(shift).collect()
}

fn base64(secret: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut written = String::new();
    for three in secret.as_bytes().chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        let digits = (0..4).map(|n| char::from(DIGITS[(bits >> (18 - 6 * n) & 63) as usize]));
        written.extend(digits.enumerate().map(|(n, c)| if n <= three.len() { c } else { '=' }));
    }
    written
}
