//! Values that nothing marks as a secret but their name and their randomness.

use std::ops::Range;

use crate::masking::Placeholder;

use super::reading::Reading;
use super::scan::{Span, placeholder_after};

/// Parts of names that say their value is secret, in lower case, without what joins words.
const NAMES: [&str; 20] = [
    "apikey",
    "accesskey",
    "authkey",
    "privatekey",
    "secret",
    "passwd",
    "password",
    "passwort",
    "passphrase",
    "pwd",
    "token",
    "credential",
    "şifre",
    "sifre",
    "parola",
    "contraseña",
    "contrasena",
    "motdepasse",
    "senha",
    "wachtwoord",
];

/// Bytes in front of an assignment that may be its name.
const LONGEST_NAME: usize = 40;

/// Characters of the shortest value.
const SHORTEST: usize = 16;

/// Bits of a value from which on it is random: 16 characters, of which most differ.
const BITS: f64 = 48.0;

/// Parts of values that stand for a secret in documentation.
const STANDS_FOR: [&str; 12] = [
    "example",
    "changeme",
    "change_me",
    "your",
    "placeholder",
    "xxxx",
    "****",
    "....",
    "dummy",
    "redacted",
    "insert",
    "sample",
];

/// The values of assignments (`=`, `:`, `:=`, `=>`) to a telling name that look random. A value that
/// goes on in a placeholder was looked at as a whole before.
pub(super) fn find(reading: &Reading<'_>) -> Vec<Span> {
    let text = reading.text();
    let mut found: Vec<Span> = Vec::new();
    for at in reading.signs().iter().copied() {
        let assigns = matches!(text.as_bytes().get(at), Some(b'=' | b':'));
        if !assigns || found.last().is_some_and(|(last, _)| at < last.end) {
            continue;
        }
        if let Some(value) = value(text, at + 1)
            && is_telling(text, at)
            && text.get(value.clone()).is_some_and(is_random)
            && !placeholder_after(text, value.end)
        {
            found.push((value, Placeholder::Token));
        }
    }
    found
}

/// The value behind a sign of assignment that ends at byte `at`.
fn value(text: &str, at: usize) -> Option<Range<usize>> {
    let tail = text.as_bytes().get(at..)?;
    let opening = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'>' | b'=' | b'"' | b'\'' | b'`');
    let skipped = tail.iter().take(6).take_while(opening).count();
    let value = tail.get(skipped..)?;
    let body = value.iter().take_while(|byte| is_part(**byte)).count();
    // Base64 is padded with signs that would begin the next value elsewhere.
    let padding = value.get(body..)?.iter().take(3).take_while(|byte| **byte == b'=').count();
    let length = body + padding;
    let start = at + skipped;
    (length >= SHORTEST).then_some(start..start + length)
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.+/~!@#$%^&*?-".contains(&byte)
}

/// Whether the name in front of byte `at` says that its value is secret.
fn is_telling(text: &str, at: usize) -> bool {
    let from = (at.saturating_sub(LONGEST_NAME)..=at).find(|at| text.is_char_boundary(*at));
    let head = from.and_then(|from| text.get(from..at)).unwrap_or_default();
    let line = head.rsplit(['\n', '=', ',', ';', '(', '{', '[', ']']).next().unwrap_or_default();
    let name: String = line.chars().filter(|c| c.is_alphanumeric()).collect();
    let name = name.to_lowercase();
    NAMES.iter().any(|known| name.contains(known))
}

/// Enough bits, and of more kinds of characters than words and names in code have: a digit, and no
/// path, call or variable.
fn is_random(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !value.starts_with(['$', '%', '/', '.', '&'])
        && !STANDS_FOR.iter().any(|word| lower.contains(word))
        && bits(value) >= BITS
}

/// Shannon's entropy of the characters, times their number.
fn bits(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let total = value.len() as f64;
    let seen = counts.into_iter().filter(|count| *count > 0).map(f64::from);
    seen.map(|count| count * (total / count).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::super::reading::read;
    use super::*;

    fn secrets(text: &str) -> Vec<&str> {
        find(&read(text)).into_iter().map(|(range, _)| &text[range]).collect()
    }

    #[test]
    fn random_values_behind_a_telling_name_are_secrets() {
        let value = "wJalrXUtnFEMI7K4MDENGbPx";
        for text in [
            format!("api_key = \"{value}\""),
            format!("aws_secret_access_key={value}"),
            format!("password: {value}"),
            format!("'clientSecret': '{value}',"),
            format!("DB_PASSWORD_PROD := {value}"),
            format!("auth-token=>{value}"),
        ] {
            assert_eq!(secrets(&text), [value], "{text}");
        }
    }

    #[test]
    fn words_variables_and_examples_are_none() {
        for text in [
            "password: correcthorsebatterystaple",
            "api_key = your_api_key_here_1234567890",
            "secret=${SECRET_FROM_VAULT_2024}",
            "token: aaaaaaaaaaaaaaaa1111",
            "token = 1234567890123456789",
            "password: short1",
            "key = wJalrXUtnFEMI7K4MDENGbPx",
            "the token of which we speak is long gone by now: wJalrXUtnFEMI7K4MDENGbPx",
            "secret = /run/secrets/database1",
            "password=wJalrXUtnFEMI7K4MDENGbPx[CARD]",
        ] {
            assert_eq!(secrets(text), [""; 0], "{text}");
        }
    }
}
