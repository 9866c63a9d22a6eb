//! What a service said, made fit to be quoted in an error (R7).
//!
//! Services quote keys and questions back. A quotation is one line of limited length, and whatever
//! it shares with a secret or with the request is left out.

use std::collections::HashSet;

use kuhaku_core::{ChatRequest, one_line};
use secrecy::{ExposeSecret, SecretString};

/// The longest quotation, in characters.
const LONGEST: usize = 200;

/// What is read of a service's words, in bytes: quotations are looked for within it.
const READ: usize = 2_000;

/// So many bytes in common with a secret are no accident. Services show the last four characters
/// of a key, which is not enough to use it.
const SECRET_OVERLAP: usize = 6;

/// So many bytes in common with a request are no accident.
const TEXT_OVERLAP: usize = 16;

/// Stands where something was left out.
const LEFT_OUT: &str = "[…]";

/// Quotes `said` without parts of the secrets and of the texts.
pub(crate) fn quote<'a>(
    said: &str,
    secrets: &[SecretString],
    texts: impl IntoIterator<Item = &'a str>,
) -> String {
    let said = said.get(..said.floor_char_boundary(READ)).unwrap_or_default();
    let mut shared = vec![false; said.len()];
    for secret in secrets {
        // The word before a token is no secret, and services use it in their explanations.
        let secret = secret.expose_secret();
        let secret = secret.strip_prefix("Bearer ").unwrap_or(secret);
        mark(said.as_bytes(), secret.as_bytes(), SECRET_OVERLAP, &mut shared);
    }
    for text in texts {
        mark(said.as_bytes(), text.as_bytes(), TEXT_OVERLAP, &mut shared);
    }
    let mut kept = String::new();
    for (at, character) in said.char_indices() {
        let bytes = at..at + character.len_utf8();
        if !shared.get(bytes).is_some_and(|bytes| bytes.contains(&true)) {
            kept.push(character);
        } else if !kept.ends_with(LEFT_OUT) {
            kept.push_str(LEFT_OUT);
        }
    }
    one_line(&kept, LONGEST)
}

/// Everything in a request that must not be quoted.
pub(crate) fn texts_of(request: &ChatRequest) -> impl Iterator<Item = &str> {
    let messages = request.messages.iter().map(|message| message.text.as_str());
    std::iter::once(request.system.as_str()).chain(messages)
}

/// Marks every run of at least `overlap` bytes of `said` that `text` holds; a shorter text, the
/// whole of it. Linear in the length of both.
fn mark(said: &[u8], text: &[u8], overlap: usize, shared: &mut [bool]) {
    let overlap = overlap.min(text.len());
    if overlap < 4 {
        return;
    }
    let spoken: HashSet<&[u8]> = said.windows(overlap).collect();
    let common: HashSet<&[u8]> =
        text.windows(overlap).filter(|window| spoken.contains(window)).collect();
    for (at, window) in said.windows(overlap).enumerate() {
        if common.contains(window) {
            shared.iter_mut().skip(at).take(overlap).for_each(|byte| *byte = true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(said: &str, secret: &str, text: &str) -> String {
        quote(said, &[secret.to_owned().into()], [text])
    }

    #[test]
    fn a_key_is_cut_out_whole_or_in_part() {
        let key = "sk-9f8e7d6c5b4a3210";
        assert_eq!(quoted(&format!("key {key} is wrong"), key, ""), "key […] is wrong");
        assert_eq!(quoted("key sk-9f8e7d****** is wrong", key, ""), "key […]****** is wrong");
        assert_eq!(quoted("key ***3210 is wrong", key, ""), "key ***3210 is wrong");
        assert_eq!(quoted("no Bearer token", "Bearer abcdefgh", ""), "no Bearer token");
        assert_eq!(quoted("Bearer abcdefgh", "Bearer abcdefgh", ""), "Bearer […]");
        assert_eq!(quoted("pin tiny1 is wrong", "tiny1", ""), "pin […] is wrong");
    }

    #[test]
    fn what_the_request_says_is_not_repeated() {
        let question = "how long is the notice period of Ada?";
        let said = "unexpected token in \"how long is the notice period\" at 3";
        assert_eq!(quoted(said, "", question), "unexpected token in \"[…]\" at 3");
        assert_eq!(quoted("the model is overloaded", "", question), "the model is overloaded");
    }

    #[test]
    fn a_quotation_is_one_short_line() {
        let said = format!("a\n{}", "日".repeat(5_000));
        let quoted = quoted(&said, "key-key-key", "");
        assert!(quoted.starts_with("a 日") && quoted.chars().count() <= LONGEST, "{quoted}");
    }
}
