//! Values that nothing marks as a secret but their name and their randomness.

use regex::Regex;

use crate::masking::Placeholder;

use super::scan::{Span, placeholder_after};
use super::token::compile;

/// A name that says its value is secret, an assignment, and a value of 16 characters and more.
const ASSIGNMENT: &str = r#"(?x-u)
    (?i: api[_\ -]?key | apikey | access[_\ -]?key | secret | passwd | password | passwort | passphrase
      | pwd | token | credential | auth[_\ -]?key | private[_\ -]?key | client[_\ -]?secret | şifre | parola
      | contraseña | mot\ de\ passe | senha | wachtwoord )
    [A-Za-z0-9_-]{0,24} ["'`]? \s{0,4} (?: :=|=>|[=:] ) \s{0,4} ["'`]?
    ( [A-Za-z0-9_.+/=~!@\#$%^&*?-]{16,} )"#;

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

/// The compiled pattern.
#[derive(Debug)]
pub(super) struct SecretRecogniser {
    assignment: Regex,
}

impl SecretRecogniser {
    pub(super) fn new() -> Self {
        Self { assignment: compile(ASSIGNMENT) }
    }

    /// The values of assignments that look random. A value that goes on in a placeholder was looked at
    /// as a whole before.
    pub(super) fn find(&self, text: &str) -> Vec<Span> {
        let values = self.assignment.captures_iter(text).filter_map(|found| found.get(1));
        values
            .filter(|value| is_random(value.as_str()) && !placeholder_after(text, value.end()))
            .map(|value| (value.range(), Placeholder::Token))
            .collect()
    }
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
    use super::*;

    fn secrets(text: &str) -> Vec<&str> {
        SecretRecogniser::new().find(text).into_iter().map(|(range, _)| &text[range]).collect()
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
            "secret = /run/secrets/database1",
            "password=wJalrXUtnFEMI7K4MDENGbPx[CARD]",
        ] {
            assert_eq!(secrets(text), [""; 0], "{text}");
        }
    }
}
