//! The secret of one request that only the rules hold: a reply with it has given the rules away.
//!
//! It is drawn anew for each request and stands in its prompt alone: in no log, error, audit record,
//! span or metric, and in the debug text of nothing.

use std::sync::Arc;

use kuhaku_core::{Result, Runtime};

use super::escapes;
use super::plain::each_plain;

/// So many characters of it in a row are a leak.
const LEAK: usize = 8;

/// The longest form of so many characters: their codes in hexadecimal, with `0x` before each.
const LONGEST: usize = LEAK * 4;

#[derive(Clone)]
pub(crate) struct Canary {
    secret: Arc<str>,
    forms: Arc<[Form]>,
}

/// A part of the canary in one of its disguises, and its last eight bytes, by which forms are sorted.
struct Form {
    tail: u64,
    bytes: Vec<u8>,
}

impl Canary {
    /// A fresh canary of 32 hex digits.
    pub(crate) fn new(runtime: &Runtime) -> Result<Self> {
        let bytes: [u8; 16] = runtime.random()?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self::of(&digits))
    }

    pub(crate) fn of(secret: &str) -> Self {
        let forward = secret.as_bytes();
        let backward: Vec<u8> = forward.iter().rev().copied().collect();
        let parts = forward.windows(LEAK).chain(backward.windows(LEAK));
        let mut forms: Vec<Form> = parts.flat_map(forms_of).collect();
        forms.sort_by_key(|form| form.tail);
        Self { secret: secret.into(), forms: forms.into() }
    }

    /// For the prompt, and nothing else.
    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    /// Looks out for this canary in a text that comes in pieces.
    pub(crate) fn watch(&self) -> Watch<'_> {
        Watch { canary: self, read: Recent::default(), unescaped: None, rest: String::new() }
    }

    /// Whether a text holds eight characters of it in a row: in any case and script of look-alikes,
    /// with anything but letters and digits between them, forwards or backwards, shifted by 13 letters,
    /// in Base64, as escapes or as the codes of their characters.
    pub(crate) fn leaked_by(&self, text: &str) -> bool {
        self.watch().sees(text, true)
    }

    fn ends(&self, recent: &Recent) -> bool {
        let first = self.forms.partition_point(|form| form.tail < recent.tail);
        let same = self.forms.iter().skip(first).take_while(|form| form.tail == recent.tail);
        same.into_iter().any(|form| recent.bytes.ends_with(&form.bytes))
    }
}

impl std::fmt::Debug for Canary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Canary(..)")
    }
}

/// A reply as it comes, read for the canary. What has been seen is not read again.
pub(crate) struct Watch<'a> {
    canary: &'a Canary,
    read: Recent,
    /// The same with escapes read, from the first that may be one.
    unescaped: Option<Recent>,
    /// An escape that is not complete.
    rest: String,
}

/// The last letters and digits.
#[derive(Clone, Default)]
struct Recent {
    bytes: Vec<u8>,
    tail: u64,
}

impl Watch<'_> {
    /// Whether the canary stands in all that came so far. Once it was seen, that stays for who asks.
    pub(crate) fn sees(&mut self, text: &str, last: bool) -> bool {
        if self.unescaped.is_none() && escapes::may_hold(text) {
            self.unescaped = Some(self.read.clone());
        }
        let mut seen = self.read.sees(text, self.canary);
        if let Some(unescaped) = &mut self.unescaped {
            self.rest.push_str(text);
            let (read, taken) = escapes::read(&self.rest, last);
            self.rest.drain(..taken);
            seen |= unescaped.sees(&read, self.canary);
        }
        seen
    }
}

impl Recent {
    fn sees(&mut self, text: &str, canary: &Canary) -> bool {
        let mut seen = false;
        for c in text.chars() {
            each_plain(c, |byte| {
                let byte = without_leet(byte);
                if self.bytes.len() >= 8 * LONGEST {
                    self.bytes.drain(..7 * LONGEST);
                }
                self.bytes.push(byte);
                self.tail = self.tail << 8 | u64::from(byte);
                seen |= canary.ends(self);
            });
        }
        seen
    }
}

/// Letters that stand for digits, and are none of a hexadecimal number.
fn without_leet(byte: u8) -> u8 {
    match byte {
        b'o' => b'0',
        b'i' | b'l' => b'1',
        b'z' => b'2',
        b's' => b'5',
        b't' => b'7',
        b'g' => b'9',
        _ => byte,
    }
}

/// A part of the canary in all disguises that other letters and digits make.
fn forms_of(part: &[u8]) -> impl Iterator<Item = Form> {
    let codes = |write: fn(u8) -> String| part.iter().copied().map(write).collect::<String>();
    let shifted = part.iter().map(|byte| match byte {
        b'a'..=b'm' => char::from(byte + 13),
        _ => char::from(*byte),
    });
    let mut forms = vec![
        String::from_utf8_lossy(part).into_owned(),
        shifted.collect(),
        codes(|byte| format!("{byte:02x}")),
        codes(|byte| format!("0x{byte:02x}")),
        codes(|byte| byte.to_string()),
        codes(|byte| format!("{byte:03o}")),
    ];
    forms.extend((0..3).map(|before| base64(part, before)));
    forms.into_iter().map(|form| {
        let bytes: Vec<u8> = form.bytes().map(|b| without_leet(b.to_ascii_lowercase())).collect();
        let tail = bytes.iter().fold(0_u64, |tail, byte| tail << 8 | u64::from(*byte));
        Form { tail, bytes }
    })
}

/// The characters of Base64 that depend on these bytes alone, with so many others before them.
fn base64(bytes: &[u8], before: usize) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (begin, end) = (before * 8, (before + bytes.len()) * 8);
    let bit = |at: usize| {
        let byte = at.checked_sub(begin).and_then(|at| bytes.get(at / 8)).copied();
        usize::from(byte.unwrap_or_default() >> (7 - at % 8) & 1)
    };
    let whole = (begin.div_ceil(6)..end / 6).map(|group| {
        let value = (group * 6..group * 6 + 6).fold(0, |value, at| value << 1 | bit(at));
        DIGITS.get(value).copied().unwrap_or_default()
    });
    whole.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OUT-02
    #[test]
    fn a_leaked_canary_is_seen_through_disguises() {
        let canary = Canary::of("abcdef1234567890");
        for leak in [
            "abcdef1234567890",
            "abcdef12",
            "ABCDEF12",
            "abcd-ef12",
            "0987654321fedcba",
            "a b c d e f 1 2",
            "a\u{200b}b\u{200b}c\u{200b}d\u{200b}ef12",
            "ａｂｃｄｅｆ１２",
            "аbсdеf12",
            "abcdefl2 34",
            "nopqrs12",
            "%61%62%63%64ef12",
            "&#97;&#98;&#99;&#100;ef12",
            "61 62 63 64 65 66 31 32",
            "97 98 99 100 101 102 49 50",
            "YWJjZGVmMTIzNDU2Nzg5MA==",
            "eHh4YWJjZGVmMTIzNDU2Nzg5MA",
        ] {
            assert!(canary.leaked_by(leak), "{leak}");
            let whole = format!("It says: {leak}, no more.");
            assert!(canary.leaked_by(&whole), "{whole}");
            let mut watch = canary.watch();
            let seen = whole.chars().any(|c| watch.sees(&c.to_string(), false));
            assert!(seen, "{leak}, letter by letter");
        }
        for harmless in ["abcdef", "abcdef1", "", "The answer is 25 days.", "%61%62%63%64%65%66"] {
            assert!(!canary.leaked_by(harmless), "{harmless}");
        }
    }

    #[test]
    fn its_debug_text_does_not_hold_it() {
        let canary = Canary::new(&Runtime::system()).unwrap();
        assert_eq!(canary.secret().len(), 32);
        assert_eq!(format!("{canary:?}"), "Canary(..)");
    }

    #[test]
    fn base64_is_that_of_every_place() {
        assert_eq!(base64(b"abcdef12", 0), "YWJjZGVmMT");
        // "xabcdef12" and "xxabcdef12" without what depends on the x.
        assert_eq!(base64(b"abcdef12", 1), "FiY2RlZjEy");
        assert_eq!(base64(b"abcdef12", 2), "hYmNkZWYxM");
    }
}
