//! Keys, tokens and other secrets.

use std::ops::Range;

use crate::masking::Placeholder;

use super::pattern::Pattern;
use super::private_key::PrivateKeyBlocks;
use super::reading::Reading;
use super::scan::{Span, before, merge};
use super::token_formats::{CREDENTIALS, JWT, PREFIXED, USER_INFO, WITH_DIGIT};
use super::windows::ANNOUNCING;

/// A value of letters only is taken for a token from this length on: longer than any word.
const LONGER_THAN_WORDS: usize = 24;

/// Bytes of the longest prefix.
const LONGEST_PREFIX: usize = 16;

/// The formats.
///
/// Formats that may look far ahead before they fail are expressions of their own: joined with short
/// ones, each short match would repeat the long look.
#[derive(Debug)]
pub(super) struct TokenRecogniser {
    prefixed: Pattern,
    with_digit: Pattern,
    jwt: Pattern,
    credentials: Pattern,
    user_info: Pattern,
    private_keys: PrivateKeyBlocks,
}

impl TokenRecogniser {
    pub(super) fn new() -> Self {
        Self {
            prefixed: Pattern::new(&PREFIXED, |_| true),
            with_digit: Pattern::new(&[WITH_DIGIT], |text| {
                text.contains("k-") || text.contains("k_")
            }),
            jwt: Pattern::new(&[JWT], |text| text.contains("eyJ")),
            credentials: Pattern::new(&[CREDENTIALS], announces_credentials),
            user_info: Pattern::new(&[USER_INFO], |text| text.contains("://")),
            private_keys: PrivateKeyBlocks::new(),
        }
    }

    /// Whether a private key may stand in the text, which has no longest length.
    pub(super) fn may_hold_private_key(&self, text: &str) -> bool {
        self.private_keys.may_hold(text)
    }

    /// User and password in addresses of the web, services and databases.
    pub(super) fn find_user_info(&self, reading: &Reading<'_>) -> Vec<Span> {
        let text = reading.text();
        let Some(format) = self.user_info.that_may_match(text) else {
            return Vec::new();
        };
        let found = format.captures_iter(text).filter_map(|found| found.get(1));
        found
            .filter(|value| value.as_str() != ":")
            .map(|value| (value.range(), Placeholder::Token))
            .collect()
    }

    /// Secrets whose format is unmistakable.
    pub(super) fn find(&self, reading: &Reading<'_>) -> Vec<Span> {
        let text = reading.text();
        let mut found = Vec::new();
        for word in reading.long_words() {
            let inside = text.get(word.clone()).unwrap_or_default();
            if !inside.bytes().any(is_no_word) {
                continue;
            }
            let Some(format) = self.prefixed.that_may_match(inside) else { continue };
            let mut at = 0;
            while let Some(token) = format.find_at(inside, at) {
                if token.as_str().bytes().any(is_no_word) {
                    found.push(word.start + token.start()..word.start + token.end());
                    at = token.end();
                } else {
                    // Another prefix can begin in the last letters of what was refused.
                    at = token.end().saturating_sub(LONGEST_PREFIX).max(token.start() + 1);
                }
            }
        }
        let jwt = self.jwt.that_may_match(text);
        found.extend(jwt.into_iter().flat_map(|jwt| jwt.find_iter(text)).map(|it| it.range()));
        found.extend(self.find_credentials(text));
        found.extend(self.private_keys.find(text));
        merge(found.into_iter().map(|range| (range, Placeholder::Token)).collect())
    }

    /// What follows a scheme or a header, with the name of the scheme. What is refused may hold the
    /// word with which another one begins.
    fn find_credentials(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let Some(format) = self.credentials.that_may_match(text) else {
            return found;
        };
        let mut at = 0;
        while let Some(groups) = format.captures_at(text, at) {
            let Some(whole) = groups.get(0) else {
                break;
            };
            let of = |scheme| groups.name(scheme);
            let (value, secret, accepted) = match (of("header"), of("bearer"), of("basic")) {
                (Some(value), _, _) => (value, value, is_credential(value.as_str())),
                (_, Some(value), _) => (value, whole, is_credential(value.as_str())),
                (_, _, Some(value)) => (value, whole, is_user_and_password(value.as_str())),
                _ => break,
            };
            if accepted {
                found.push(secret.range());
            }
            at = if accepted { whole.end() } else { value.start() };
        }
        found
    }

    /// Secrets that are told from words by a digit and by standing apart.
    pub(super) fn find_short_prefixes(&self, reading: &Reading<'_>) -> Vec<Span> {
        let text = reading.text();
        let mut found = Vec::new();
        let Some(format) = self.with_digit.that_may_match(text) else {
            return found;
        };
        let mut at = 0;
        while let Some(candidate) = format.find_at(text, at) {
            let inside_word = before(text, candidate.start()).is_some_and(char::is_alphabetic);
            if !inside_word && candidate.as_str().bytes().any(|byte| byte.is_ascii_digit()) {
                found.push((candidate.range(), Placeholder::Token));
                at = candidate.end();
            } else {
                // Another prefix can begin in the last letters of what was refused, nowhere else.
                at = candidate.end().saturating_sub(2).max(candidate.start() + 2);
            }
        }
        found
    }
}

/// Whether the text holds a word that credentials may follow.
fn announces_credentials(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_one = |(at, byte): (usize, &u8)| {
        matches!(byte, b'a' | b'A' | b'b' | b'B')
            && bytes.get(at..).is_some_and(|tail| {
                ANNOUNCING.iter().any(|word| {
                    tail.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
                })
            })
    };
    bytes.iter().enumerate().any(is_one)
}

/// A prefix and small letters only may be words: `task-proj-management-dashboard`.
fn is_no_word(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase()
}

/// Tells `Bearer abc.def-ghi_123` from "bearer certificates": a credential has a digit, padding, or
/// more letters than a word.
fn is_credential(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
        || value.ends_with('=')
        || value.len() >= LONGER_THAN_WORDS
}

/// Tells `Basic dXNlcjpwYXNz` from "basic research": the value is base64 (RFC 4648) of a user and a
/// colon. What follows the colon is not looked at: it may be another secret.
fn is_user_and_password(value: &str) -> bool {
    let (mut bits, mut count) = (0_u32, 0);
    for byte in value.bytes() {
        let sextet = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return false,
        };
        bits = (bits << 6 | u32::from(sextet)) & 0xfff;
        count += 6;
        if count >= 8 {
            count -= 8;
            match bits >> count & 0xff {
                0x3a => return value.bytes().any(is_no_word),
                0x20..=0x7e => {}
                _ => return false,
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::reading::read;
    use super::*;

    fn tokens(text: &str) -> Vec<&str> {
        let tokens = TokenRecogniser::new();
        let reading = read(text);
        let found = [tokens.find(&reading), tokens.find_short_prefixes(&reading)].concat();
        found.into_iter().map(|(range, _)| &text[range]).collect()
    }

    #[test]
    fn words_that_look_like_a_prefix_are_no_tokens() {
        for text in [
            "the bearer of bad news",
            "bearer certificates are rare",
            "risk-management1234567890123",
            "task-abcdefghijklmnop1234",
            "pk_customersubscription",
            "sk-short1",
            "eyJhbGciOi alone",
            "AKIA is a prefix",
            "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
            "key-value pairs",
            "task-proj-management-dashboard",
            "RISK-ASSESSMENTREPORT2024",
            "basic research, basic principles2024",
            "Basic: abcd1234",
            "authorization: required by section 12",
            "authorization = requiredforeverybody",
        ] {
            assert_eq!(tokens(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn credentials_follow_their_scheme_in_any_writing() {
        let cases = [
            ("bearer:abc123def456ghi789", "bearer:abc123def456ghi789"),
            ("(Bearer\nabcdef0123456789abcdef)", "Bearer\nabcdef0123456789abcdef"),
            ("{\"Bearer\": \"abc.def-123\"}", "Bearer\": \"abc.def-123"),
            ("bearer certificates-of-bearer abc12345.", "bearer abc12345."),
            ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Basic dXNlcjpwYXNzd29yZA=="),
            ("-H 'authorization: basic YTpi'", "basic YTpi"),
            ("Authorization: ApiKey 0123456789abcdef", "ApiKey 0123456789abcdef"),
            ("Authorization: 0123456789abcdef!", "0123456789abcdef"),
        ];
        for (text, token) in cases {
            assert_eq!(tokens(text), [token], "{text}");
        }
    }

    #[test]
    fn user_and_password_of_an_address_are_a_token() {
        let formats = TokenRecogniser::new();
        let cases: [(&str, &[&str]); 9] = [
            ("https://user:pass@host/", &["user:pass"]),
            ("redis://:p!ss@10.0.0.1:6379", &[":p!ss"]),
            ("https://key:@host/x", &["key:"]),
            ("postgres://app:p@ss:w@db.example.com/x", &["app:p@ss:w"]),
            ("https://host:8080/@ada", &[]),
            ("https://:@host", &[]),
            ("ssh://git@host:22", &[]),
            ("https://host:80 or a@b.com", &[]),
            ("://a:[CARD]@host", &[]),
        ];
        for (text, expected) in cases {
            let found = formats.find_user_info(&read(text));
            let found: Vec<&str> = found.into_iter().map(|(range, _)| &text[range]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn tokens_that_touch_are_both_found() {
        let glued = "disk-abcdefghijklmnop12sk-ABCDEFGHIJKLMNOP1234";
        assert_eq!(tokens(glued), ["sk-ABCDEFGHIJKLMNOP1234"]);
        let text = "AKIAIOSFODNN7EXAMPLE,gsk_abcdefghijklmnopqrstuvwxyz12;eyJhbGci.eyJzdWIi.c2ln";
        assert_eq!(
            tokens(text),
            ["AKIAIOSFODNN7EXAMPLE", "gsk_abcdefghijklmnopqrstuvwxyz12", "eyJhbGci.eyJzdWIi.c2ln"]
        );
    }
}
