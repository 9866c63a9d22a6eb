//! The anchor: where the chain begins and ends, under a seal, beside the log.
//!
//! Without it a log whose last lines were cut off would verify.

use std::fs;
use std::io::{self, Read as _, Write as _};

use serde::{Deserialize, Serialize};

use super::files::{Files, creating, open_if_there};
use super::key::{AuditKey, Digest, Purpose};

const VERSION: u32 = 1;

/// More than any anchor has; what is longer is none.
const MAX_BYTES: u64 = 4096;

/// A place in the chain: after the record of this number, which has this hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) sequence: u64,
    pub(super) hash: Digest,
}

impl Place {
    /// Before the first record.
    pub(super) const START: Self = Self { sequence: 0, hash: Digest::GENESIS };
}

/// What the anchor of a log says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Anchor {
    /// The last record that retention has removed.
    pub(super) base: Place,
    /// The last record that was written.
    pub(super) last: Place,
    /// The number of the first record in the newest file.
    pub(super) first: u64,
    /// The length of the newest file, in bytes.
    pub(super) length: u64,
}

/// The anchor as its file writes it.
#[derive(Serialize, Deserialize)]
struct Written<'a> {
    version: u32,
    base: u64,
    base_hash: &'a str,
    last: u64,
    last_hash: &'a str,
    first: u64,
    length: u64,
}

/// What was found in the place of an anchor.
#[derive(Debug)]
pub(super) enum Found {
    Anchor(Anchor),
    Nothing,
    /// Something that the key has not sealed.
    Altered,
}

impl Anchor {
    /// Of a log without records.
    pub(super) fn fresh() -> Self {
        Self { base: Place::START, last: Place::START, first: 1, length: 0 }
    }

    pub(super) fn load(files: &Files, key: &AuditKey) -> io::Result<Found> {
        let Some(file) = open_if_there(&files.anchor())? else { return Ok(Found::Nothing) };
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(Self::parse(&bytes, key).map_or(Found::Altered, Found::Anchor))
    }

    fn parse(bytes: &[u8], key: &AuditKey) -> Option<Self> {
        let line = bytes.strip_suffix(b"\n")?;
        key.check(Purpose::Anchor, line)?;
        let written: Written<'_> = serde_json::from_slice(line).ok()?;
        let place = |sequence, hash| Some(Place { sequence, hash: Digest::from_hex(hash)? });
        (written.version == VERSION).then_some(Self {
            base: place(written.base, written.base_hash)?,
            last: place(written.last, written.last_hash)?,
            first: written.first,
            length: written.length,
        })
    }

    /// Replaces the anchor in one move. After an error the old one is in place.
    pub(super) fn store(&self, files: &Files, key: &AuditKey, sync: bool) -> io::Result<()> {
        let written = Written {
            version: VERSION,
            base: self.base.sequence,
            base_hash: &self.base.hash.to_string(),
            last: self.last.sequence,
            last_hash: &self.last.hash.to_string(),
            first: self.first,
            length: self.length,
        };
        let mut open = serde_json::to_string(&written)?;
        open.pop();
        let (mut line, _) = key.seal(Purpose::Anchor, &open);
        line.push('\n');
        let next = files.next_anchor();
        let mut file = creating(&next)?.write(true).truncate(true).open(&next)?;
        file.write_all(line.as_bytes())?;
        if sync {
            file.sync_data()?;
        }
        fs::rename(next, files.anchor())
    }
}
