//! Identities: documents, chunks and requests.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};

/// The longest document id, in bytes.
const MAX_DOCUMENT_ID: usize = 512;

/// The identity of a document: stable over re-ingests, unique in an index.
///
/// 1 to 512 bytes, without control characters and without white space at either end. A key that the
/// caller chose is used as given (so it must hold no personal data); ids made from paths are keyed
/// hashes (D17). Clones share the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DocumentId(Arc<str>);

impl DocumentId {
    /// An id from text.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when the text breaks the rules above.
    pub fn new(id: impl Into<String>) -> Result<Self> {
        let id = id.into();
        let wrong = if id.is_empty() {
            "it is empty"
        } else if id.len() > MAX_DOCUMENT_ID {
            "it is longer than 512 bytes"
        } else if id.trim() != id {
            "it begins or ends with white space"
        } else if id.chars().any(char::is_control) {
            "it holds a control character"
        } else {
            return Ok(Self(id.into()));
        };
        Err(Error::new(ErrorKind::InvalidInput, "use the document id", wrong)
            .next("choose an id of 1 to 512 printable bytes"))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for DocumentId {
    type Error = Error;

    fn try_from(id: String) -> Result<Self> {
        Self::new(id)
    }
}

impl From<DocumentId> for String {
    fn from(id: DocumentId) -> Self {
        id.0.as_ref().into()
    }
}

/// The identity of a chunk: its document and its place in it. Written `document::ordinal`.
///
/// Orders by document id, then by ordinal; this order breaks ties in rankings.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ChunkId {
    document: DocumentId,
    ordinal: u32,
}

impl ChunkId {
    /// The chunk at `ordinal` (from 0) of `document`.
    pub fn new(document: DocumentId, ordinal: u32) -> Self {
        Self { document, ordinal }
    }

    /// The document that the chunk belongs to.
    pub fn document(&self) -> &DocumentId {
        &self.document
    }

    /// The chunk's place in its document, from 0.
    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }
}

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.document, self.ordinal)
    }
}

impl FromStr for ChunkId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let malformed = || {
            Error::new(ErrorKind::InvalidInput, "read a chunk id", "it is not `document::number`")
                .next("copy the id as it was printed")
        };
        let (document, ordinal) = text.rsplit_once("::").ok_or_else(malformed)?;
        // `parse` alone would take "+1" and "01", which are other spellings of one id.
        let number: u32 = ordinal.parse().map_err(|_| malformed())?;
        if number.to_string() != ordinal {
            return Err(malformed());
        }
        Ok(Self::new(DocumentId::new(document)?, number))
    }
}

impl TryFrom<String> for ChunkId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<ChunkId> for String {
    fn from(id: ChunkId) -> Self {
        id.to_string()
    }
}

/// The identity of one request: 12 lower-case hex digits when minted here, or the caller's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceId(String);

impl TraceId {
    /// A trace id that the caller brings along: 1 to 64 letters, digits, `-`, `_` or `.`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for anything else: trace ids are written to logs and the audit.
    pub fn new(id: impl Into<String>) -> Result<Self> {
        let id = id.into();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if (1..=64).contains(&id.len()) && id.chars().all(plain) {
            return Ok(Self(id));
        }
        Err(Error::new(
            ErrorKind::InvalidInput,
            "use the trace id",
            "it is not 1 to 64 letters, digits, `-`, `_` or `.`",
        )
        .next("choose a shorter, plainer trace id"))
    }

    /// What stands in the place of an id that is not known, `-`: for a request that has none yet.
    pub fn unknown() -> Self {
        Self("-".into())
    }

    /// A trace id from six random bytes.
    pub(crate) fn from_bytes(bytes: [u8; 6]) -> Self {
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for TraceId {
    type Error = Error;

    fn try_from(id: String) -> Result<Self> {
        Self::new(id)
    }
}

impl From<TraceId> for String {
    fn from(id: TraceId) -> Self {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_id_survives_printing_even_when_the_document_id_holds_colons() {
        let id = ChunkId::new(DocumentId::new("a::b").unwrap(), 7);
        assert_eq!(id.to_string(), "a::b::7");
        assert_eq!("a::b::7".parse::<ChunkId>().unwrap(), id);
    }

    #[test]
    fn malformed_ids_are_errors() {
        for bad in ["", "a", "a::", "a::x", "a::+1", "a::01", "::1", "a::4294967296"] {
            assert!(bad.parse::<ChunkId>().is_err(), "{bad}");
        }
        for bad in ["", " a", "a\n", "a\u{0}b"] {
            assert!(DocumentId::new(bad).is_err(), "{bad:?}");
        }
        assert!(DocumentId::new("x".repeat(513)).is_err());
        assert!(TraceId::new("a b").is_err());
    }

    /// OBS-01
    #[test]
    fn a_minted_trace_id_is_twelve_hex_digits() {
        let id = TraceId::from_bytes([0, 1, 2, 0xfd, 0xfe, 0xff]);
        assert_eq!(id.as_str(), "000102fdfeff");
    }
}
