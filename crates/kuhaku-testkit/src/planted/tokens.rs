//! Keys, tokens and passwords.

use kuhaku_core::Placeholder;

use super::draw::{Draw, WORD};
use super::{Announced, Maker, Value};

/// Prefixes of vendors, and how many letters and digits follow.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-", 20),
    ("sk-proj-", 40),
    ("sk-ant-api03-", 40),
    ("gsk_", 44),
    ("hf_", 34),
    ("ghp_", 36),
    ("github_pat_", 50),
    ("glpat-", 20),
    ("npm_", 36),
    ("xoxb-", 24),
    ("sk_live_", 24),
    ("AIza", 35),
    ("GOCSPX-", 28),
    ("lin_api_", 32),
    ("hvs.", 24),
];

pub(super) const MAKERS: &[Maker] = &[
    prefixed,
    prefixed,
    prefixed,
    prefixed,
    |draw| of("key", Announced::Freely, |core| format!("AKIA{core}"), draw.of("QWXZKV234567", 16)),
    |draw| {
        of(
            "key",
            Announced::Freely,
            |core| format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIi{core}.{core}"),
            draw.body(30),
        )
    },
    |draw| of("", Announced::ByItself, |core| format!("Bearer {core}"), draw.body(24)),
    |draw| {
        of("", Announced::ByItself, |core| format!("Authorization: ApiKey {core}"), draw.body(24))
    },
    |draw| {
        of(
            "",
            Announced::ByItself,
            |core| format!("postgres://app:{core}@db.example.com/x"),
            draw.body(16),
        )
    },
    |draw| of("password", Announced::ByAssignment, str::to_string, draw.body(20)),
    |draw| of("api_key", Announced::ByAssignment, str::to_string, draw.body(32)),
    basic,
    private_key,
];

fn of(
    word: &'static str,
    announced: Announced,
    text: impl Fn(&str) -> String,
    core: String,
) -> Value {
    Value { kind: Placeholder::Token, announced, word, text: text(&core), core }
}

fn prefixed(draw: &mut Draw) -> Value {
    let (prefix, length) =
        PREFIXES.get(draw.between(0, PREFIXES.len() - 1)).copied().unwrap_or(("sk-", 20));
    of("key", Announced::Freely, |core| format!("{prefix}{core}"), draw.body(length))
}

/// User and password of RFC 7617.
fn basic(draw: &mut Draw) -> Value {
    let password = draw.body(16);
    let core = base64(format!("ada:{password}").as_bytes());
    of("", Announced::ByItself, |core| format!("Authorization: Basic {core}"), core)
}

/// Base64 of RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3)
            .fold(0, |bits, place| bits << 8 | u32::from(chunk.get(place).copied().unwrap_or(0)));
        let sextets = (0..=chunk.len()).map(|place| bits >> (18 - 6 * place) & 63);
        text.extend(sextets.filter_map(|sextet| SIGNS.chars().nth(sextet as usize)));
    }
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

fn private_key(draw: &mut Draw) -> Value {
    let text = |core: &str| {
        format!("-----BEGIN PRIVATE KEY-----\n{core}\n{core}==\n-----END PRIVATE KEY-----")
    };
    of("", Announced::ByItself, text, draw.of(WORD, 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (plain, coded) in [("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
