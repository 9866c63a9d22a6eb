//! Keys, tokens and other secrets.

use std::ops::Range;

use regex::Regex;

use crate::masking::Placeholder;

use super::private_key::PrivateKeyBlocks;
use super::scan::{Span, before, merge};
use super::token_formats::{BEARER, JWT, PREFIXED, WITH_DIGIT};

/// A value of letters only is taken for a token from this length on: longer than any word.
const LONGER_THAN_WORDS: usize = 24;

/// The compiled formats.
///
/// Formats that may look far ahead before they fail are expressions of their own: joined with short
/// ones, each short match would repeat the long look.
#[derive(Debug)]
pub(super) struct TokenRecogniser {
    prefixed: Regex,
    with_digit: Regex,
    jwt: Regex,
    bearer: Regex,
    private_keys: PrivateKeyBlocks,
}

impl TokenRecogniser {
    pub(super) fn new() -> Self {
        Self {
            prefixed: compile(&PREFIXED.join("|")),
            with_digit: compile(WITH_DIGIT),
            jwt: compile(JWT),
            bearer: compile(BEARER),
            private_keys: PrivateKeyBlocks::new(),
        }
    }

    /// Secrets whose format is unmistakable.
    pub(super) fn find(&self, text: &str) -> Vec<Span> {
        let mut found = matches(&self.prefixed, text, |token| token.bytes().any(is_no_word));
        found.extend(matches(&self.jwt, text, |_| true));
        found.extend(matches(&self.bearer, text, is_credential));
        found.extend(self.private_keys.find(text));
        merge(found.into_iter().map(|range| (range, Placeholder::Token)).collect())
    }

    /// Secrets that are told from words by a digit and by standing apart.
    pub(super) fn find_short_prefixes(&self, text: &str) -> Vec<Span> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(candidate) = self.with_digit.find_at(text, at) {
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

/// A constant pattern as a regular expression.
#[expect(clippy::expect_used, reason = "the patterns are constants, compiled by every test")]
pub(super) fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

fn matches(format: &Regex, text: &str, accept: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let found = format.find_iter(text).filter(|candidate| accept(candidate.as_str()));
    found.map(|candidate| candidate.range()).collect()
}

/// A prefix and small letters only may be words: `task-proj-management-dashboard`.
fn is_no_word(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase()
}

/// Tells `Bearer abc.def-ghi_123` from "bearer certificates": a credential has a digit, padding, or
/// more letters than a word.
fn is_credential(token: &str) -> bool {
    let value = token.split_ascii_whitespace().last().unwrap_or_default();
    value.bytes().any(|byte| byte.is_ascii_digit())
        || value.ends_with('=')
        || value.len() >= LONGER_THAN_WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<&str> {
        let tokens = TokenRecogniser::new();
        let found = [tokens.find(text), tokens.find_short_prefixes(text)].concat();
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
        ] {
            assert_eq!(tokens(text), [""; 0], "{text}");
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
