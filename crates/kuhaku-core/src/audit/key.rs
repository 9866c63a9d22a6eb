//! The secret of an audit: the hash of inputs, and the seals of lines.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::error::Result;
use crate::runtime::Runtime;

/// What every sealed line ends with: `,"hash":"`, 64 hex digits, `"}`.
const BEFORE_SEAL: &str = ",\"hash\":\"";
const AFTER_SEAL: &str = "\"}";

/// The key of an audit: 32 bytes, one per index.
///
/// It makes the hashes of short inputs useless to those who do not have it, and lets nobody else
/// write lines that verify. It is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct AuditKey([u8; 32]);

impl fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditKey(..)")
    }
}

impl AuditKey {
    /// A fresh key.
    ///
    /// # Errors
    /// [`ErrorKind::Entropy`](crate::ErrorKind::Entropy) when the system gives no random bytes.
    pub fn random(runtime: &Runtime) -> Result<Self> {
        runtime.random().map(Self)
    }

    /// A key from its bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The audit key that belongs to another secret of 32 bytes: its HMAC of a fixed label, so that
    /// neither use tells anything about the other.
    pub fn derived_from(secret: &[u8; 32]) -> Self {
        let mac = Self(*secret).mac("kuhaku.audit.key", b"");
        Self(mac.finalize().into_bytes().into())
    }

    /// HMAC-SHA-256 (RFC 2104); the purpose, closed by a zero byte, keeps one use from imitating
    /// another.
    fn mac(&self, purpose: &str, content: &[u8]) -> Hmac<Sha256> {
        // HMAC pads keys with zeros to the block of the hash, 64 bytes here (RFC 2104, section 2).
        let mut block = [0; 64];
        block.iter_mut().zip(self.0).for_each(|(to, from)| *to = from);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac.update(content);
        mac
    }

    /// The keyed hash of a raw input.
    pub(super) fn hash_input(&self, raw: &str) -> Digest {
        Digest(self.mac("kuhaku.audit.input", raw.as_bytes()).finalize().into_bytes().into())
    }

    /// Closes a JSON object that lacks its last brace with its hash.
    pub(super) fn seal(&self, purpose: Purpose, open: &str) -> (String, Digest) {
        let mac = self.mac(purpose.label(), open.as_bytes());
        let digest = Digest(mac.finalize().into_bytes().into());
        (format!("{open}{BEFORE_SEAL}{digest}{AFTER_SEAL}"), digest)
    }

    /// The hash of a sealed line whose seal is right, without its line end.
    pub(super) fn check(&self, purpose: Purpose, line: &[u8]) -> Option<Digest> {
        let (open, digest) = split(line)?;
        self.mac(purpose.label(), open).verify_slice(&digest.0).ok()?;
        Some(digest)
    }
}

/// What a seal is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    Line,
    Anchor,
    Ends,
}

impl Purpose {
    fn label(self) -> &'static str {
        match self {
            Self::Line => "kuhaku.audit.line",
            Self::Anchor => "kuhaku.audit.anchor",
            Self::Ends => "kuhaku.audit.ends",
        }
    }
}

/// What was sealed, and the hash that the line claims.
pub(super) fn split(line: &[u8]) -> Option<(&[u8], Digest)> {
    let rest = line.strip_suffix(AFTER_SEAL.as_bytes())?;
    let (rest, digits) = rest.split_last_chunk::<64>()?;
    let digest = Digest::from_hex(std::str::from_utf8(digits).ok()?)?;
    Some((rest.strip_suffix(BEFORE_SEAL.as_bytes())?, digest))
}

/// A keyed hash, written as 64 lower-case hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digest([u8; 32]);

impl Digest {
    /// What the first line of a chain follows.
    pub(super) const GENESIS: Self = Self([0; 32]);

    /// Reads 64 lower-case hex digits; other spellings of the same number are refused.
    pub(super) fn from_hex(digits: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if digits.len() != 64 || !digits.bytes().all(plain) {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
