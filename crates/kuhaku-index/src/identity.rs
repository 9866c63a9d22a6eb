//! Keyed hashes: ids made from paths, and the hash by which unchanged content is known.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use kuhaku_core::{DocumentId, Runtime};
use sha2::Sha256;

use crate::error::{Error, ErrorKind, Result};

/// The secret of an index: 32 bytes, drawn once and stored with it (D17).
///
/// Whoever has it can test guesses of paths and contents, so it is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct IdKey([u8; 32]);

impl fmt::Debug for IdKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdKey(..)")
    }
}

impl IdKey {
    /// A fresh key.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] when the system gives no random bytes.
    pub fn random(runtime: &Runtime) -> Result<Self> {
        runtime.random().map(Self).map_err(|error| error.map_kind(|_| ErrorKind::Storage))
    }

    /// A key from its bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A key from 64 hex digits.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for anything else.
    pub fn from_hex(text: &str) -> Result<Self> {
        let digits: Option<Vec<u8>> =
            text.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect();
        let mut key = [0; 32];
        match digits {
            Some(digits) if digits.len() == 64 => {
                for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
                    *byte = pair.iter().fold(0, |value, digit| value << 4 | digit);
                }
                Ok(Self(key))
            }
            _ => Err(Error::new(
                ErrorKind::InvalidInput,
                "use the id key",
                "it is not 64 hex digits",
            )
            .next("give 64 hex digits, for example 32 random bytes in hex")),
        }
    }

    /// The bytes, for storing them.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// HMAC-SHA-256 over the parts, each preceded by its length so that none can imitate another.
    fn hash(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        // HMAC pads keys with zeros to the block of the hash, 64 bytes here (RFC 2104, section 2).
        let mut block = [0; 64];
        block.iter_mut().zip(self.0).for_each(|(to, from)| *to = from);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        for part in [purpose.as_bytes()].iter().chain(parts) {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// The id of the document at a normalised path: 32 hex digits.
    ///
    /// # Errors
    /// None in practice; hex digits are a valid id.
    pub fn path_id(&self, path: &str) -> Result<DocumentId> {
        let hash = self.hash("path", &[path.as_bytes()]);
        let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        DocumentId::new(hex).map_err(|error| error.map_kind(|_| ErrorKind::InvalidInput))
    }

    /// The hash of a folder at a normalised path, by which its documents are found again.
    pub fn folder(&self, path: &str) -> FolderHash {
        let hash = self.hash("folder", &[path.as_bytes()]);
        FolderHash(hash.first_chunk().copied().unwrap_or_default())
    }

    /// The hash of what is embedded of a chunk: its document's title, the headings above it, and its
    /// text. Chunks of equal hashes have equal vectors.
    pub fn embedded_text<H: AsRef<str>>(
        &self,
        title: &str,
        headings: &[H],
        text: &str,
    ) -> EmbeddedTextHash {
        let parts = [title, text].into_iter().chain(headings.iter().map(AsRef::as_ref));
        let parts: Vec<&[u8]> = parts.map(str::as_bytes).collect();
        EmbeddedTextHash(self.hash("embedded", &parts))
    }

    /// The hash of everything that makes a document what it is. Equal parts, equal hash.
    pub fn content_hash(&self, parts: &[&[u8]]) -> ContentHash {
        ContentHash(self.hash("content", parts))
    }
}

/// A keyed hash of a folder's path: says which documents lie in the folder, and not where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FolderHash([u8; 16]);

impl FolderHash {
    /// A hash from its bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes, for storing them.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// A keyed hash of all that a chunk's vector is made of, its embedder aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EmbeddedTextHash([u8; 32]);

#[cfg(feature = "sqlite")]
impl EmbeddedTextHash {
    /// The bytes, for storing them.
    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A keyed hash of a document's raw bytes and of all that shapes its stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// A hash from its bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, for storing them.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}
