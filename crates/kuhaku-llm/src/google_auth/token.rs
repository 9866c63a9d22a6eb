//! A token, and how long it may be used.

use std::fmt;

use kuhaku_core::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// A token is renewed this long before it expires, in seconds: a call that begins with it must be
/// able to end, and clocks differ.
const EARLY: i64 = 300;

/// What is assumed of a token that does not say how long it holds, in seconds.
const UNSAID: i64 = 600;

/// The longest life that is believed, in seconds.
const LONGEST: i64 = 24 * 3_600;

/// An access token. `Debug` shows when it expires, and nothing else.
#[derive(Clone)]
pub(super) struct Token {
    /// The value of the `authorization` header.
    pub(super) header: SecretString,
    /// In seconds since 1970.
    expires: i64,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("expires", &self.expires).finish_non_exhaustive()
    }
}

impl Token {
    /// Reads the reply of a token endpoint or of the metadata server that came at `now`.
    pub(super) fn of_reply(reply: &Value, now: Timestamp) -> Option<Self> {
        let token = reply.get("access_token")?.as_str().filter(|token| !token.is_empty())?;
        let lasts = reply.get("expires_in").and_then(Value::as_i64).unwrap_or(UNSAID);
        let expires = now.as_second().saturating_add(lasts.clamp(0, LONGEST));
        // The service pads some tokens with dots; they belong to it.
        Some(Self { header: format!("Bearer {token}").into(), expires })
    }

    /// Whether it is far from its end.
    pub(super) fn is_fresh(&self, now: Timestamp) -> bool {
        now.as_second().saturating_add(EARLY) < self.expires
    }

    /// Whether it still opens the service.
    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        now.as_second() < self.expires
    }

    /// Whether it was sent with this header.
    pub(super) fn is(&self, header: &SecretString) -> bool {
        self.header.expose_secret() == header.expose_secret()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_token_is_renewed_before_it_ends() {
        let token = Token::of_reply(&json!({"access_token": "t", "expires_in": 3600}), at(0));
        let token = token.unwrap();
        for (second, fresh, valid) in
            [(0, true, true), (3_299, true, true), (3_300, false, true), (3_600, false, false)]
        {
            assert_eq!((token.is_fresh(at(second)), token.is_valid(at(second))), (fresh, valid));
        }
    }

    #[test]
    fn odd_replies_are_no_token_or_one_of_limited_life() {
        for reply in [json!({}), json!({"access_token": ""}), json!({"access_token": 1})] {
            assert!(Token::of_reply(&reply, at(0)).is_none(), "{reply}");
        }
        let life = |reply: Value| Token::of_reply(&reply, at(0)).unwrap().expires;
        assert_eq!(life(json!({"access_token": "t"})), UNSAID);
        assert_eq!(life(json!({"access_token": "t", "expires_in": i64::MAX})), LONGEST);
        assert_eq!(life(json!({"access_token": "t", "expires_in": -5})), 0);
    }
}
