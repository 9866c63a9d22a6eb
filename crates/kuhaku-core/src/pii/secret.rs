//! Values that nothing marks as a secret but their name and their randomness.

use std::ops::Range;

use crate::masking::Placeholder;

use super::reading::Reading;
use super::scan::{Span, merge, placeholder_after};

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

/// What may stand between an assignment and the next one.
const SEPARATORS: [char; 7] = ['/', '?', '.', ';', ',', '|', '&'];

/// The values of assignments (`=`, `:`, `:=`, `=>`) to a telling name that look random. A value that
/// goes on in a placeholder was looked at as a whole before.
pub(super) fn find(reading: &Reading<'_>) -> Vec<Span> {
    let text = reading.text();
    let assigns = |at: &usize| matches!(text.as_bytes().get(*at), Some(b'=' | b':'));
    let signs = reading.signs().iter().copied().filter(assigns);
    // A name may be swallowed by the value in front of it; its own value is looked at all the same.
    let found = signs.filter(|at| is_telling(text, *at)).filter_map(|at| secret(text, at + 1));
    merge(found.map(|value| (value, Placeholder::Token)).collect())
}

/// The secret behind a sign of assignment that ends at byte `at`: up to the next assignment, or with
/// its name where what stands before it is too little, for a value may have the look of one in it.
fn secret(text: &str, at: usize) -> Option<Range<usize>> {
    let whole = value(text, at)?;
    let run = text.get(whole.clone())?;
    let first = whole.start..whole.start + before_assignment(run, text.get(whole.end..)?);
    [first, whole].into_iter().find(|value| {
        value.len() >= SHORTEST
            && text.get(value.clone()).is_some_and(is_random)
            && !placeholder_after(text, value.end)
    })
}

/// The run of characters of values behind a sign of assignment that ends at byte `at`, and its
/// padding.
fn value(text: &str, at: usize) -> Option<Range<usize>> {
    let tail = text.as_bytes().get(at..)?;
    let opening = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'>' | b'=' | b'"' | b'\'' | b'`');
    let skipped = tail.iter().take(6).take_while(opening).count();
    let value = tail.get(skipped..)?;
    let body = value.iter().take_while(|byte| is_part(**byte)).count();
    let rest = value.get(body..)?;
    let signs = rest.iter().take(3).take_while(|byte| **byte == b'=').count();
    // Base64 is padded with signs that begin the next value elsewhere.
    let goes_on = rest.get(signs).is_some_and(u8::is_ascii_alphanumeric);
    let start = at + skipped;
    let length = if goes_on { body } else { body + signs };
    (length >= SHORTEST).then_some(start..start + length)
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.+/~!@#$%^&*?-".contains(&byte)
}

/// Bytes of `run` in front of the separator and the name of an assignment whose sign ends it, or
/// stands in `rest` behind it; else all of it.
fn before_assignment(run: &str, rest: &str) -> usize {
    if let Some(value) = run.strip_suffix("&amp")
        && rest.starts_with(';')
    {
        return value.len();
    }
    let body = run.trim_end_matches('=');
    let assigns = body.len() < run.len() || rest.starts_with(['=', ':']);
    let name = body.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let value = name.trim_end_matches(SEPARATORS);
    if assigns && name.len() < body.len() && value.len() < name.len() {
        value.len()
    } else {
        run.len()
    }
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
    // The domain of what looks like an e-mail address says nothing of the value.
    let lower = if value.contains('@') { lower.trim_end_matches(".example") } else { &lower };
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

    #[test]
    fn a_value_ends_before_the_next_assignment() {
        let (v, w) = ("q8Zt3kLm9XwP2vRb", "h7NcY4dJ6sGf1TqA");
        for text in [
            format!("https://x.org/?api_key={v}&token={w}"),
            format!("secret={v}/password={w}"),
            format!("api_key: {v}..password={w}"),
            format!("api_key={v}&amp;token={w}"),
            format!("token={v};pwd={w}"),
            format!("token={v}|pwd: {w}"),
        ] {
            assert_eq!(secrets(&text), [v, w], "{text}");
        }
        for text in [
            format!("token={v}&user=1"),
            format!("password={v}&mail=bob@example.com"),
            format!("password={v}?next:x"),
        ] {
            assert_eq!(secrets(&text), [v], "{text}");
        }
        let padded = format!("{v}==");
        assert_eq!(secrets(&format!("token={padded}&user=1")), [padded.as_str()]);
        assert_eq!(secrets(&format!("token={v}_secret={w}")), [&format!("{v}_secret"), w]);
        assert_eq!(secrets("password=aB3xY9/kL2mN5pQ7:z"), ["aB3xY9/kL2mN5pQ7"]);
    }
}
