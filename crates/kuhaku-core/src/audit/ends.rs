//! The ends of a chain in a store other than files: what its sink notes beside the lines.

use serde::{Deserialize, Serialize};

use super::Result;
use super::anchor::Place;
use super::chain::{AuditLink, link};
use super::error::unwritable;
use super::key::{AuditKey, Digest, Purpose};
use super::record::AuditRecord;

const TRIED: &str = "write to the audit log";

const VERSION: u32 = 1;

/// Where a chain begins and ends. A sink stores it, sealed, with every line that it adds or removes;
/// without it a log whose last lines were cut off would verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEnds {
    /// The last record that retention has removed.
    pub(super) base: Place,
    /// The last record that was written.
    pub(super) last: Place,
}

/// The ends as they are stored.
#[derive(Serialize, Deserialize)]
struct Written<'a> {
    version: u32,
    base: u64,
    base_hash: &'a str,
    last: u64,
    last_hash: &'a str,
}

impl AuditEnds {
    /// Those of a log that has lost its own, and whose last genuine record has this number; 0 for a
    /// log without records. Where there are records, the chain begins anew after them, which does
    /// not verify: the loss must stay visible.
    pub fn after(sequence: u64) -> Self {
        Self { base: Place::START, last: Place { sequence, ..Place::START } }
    }

    /// Reads what [`seal`](Self::seal) has made; `None` for anything that the key has not sealed.
    pub fn open(sealed: &[u8], key: &AuditKey) -> Option<Self> {
        key.check(Purpose::Ends, sealed)?;
        let written: Written<'_> = serde_json::from_slice(sealed).ok()?;
        let place = |sequence, hash| Some(Place { sequence, hash: Digest::from_hex(hash)? });
        (written.version == VERSION).then_some(Self {
            base: place(written.base, written.base_hash)?,
            last: place(written.last, written.last_hash)?,
        })
    }

    /// A JSON object in one line that says where the ends are, under the key.
    ///
    /// # Errors
    /// None today.
    pub fn seal(&self, key: &AuditKey) -> Result<String> {
        let written = Written {
            version: VERSION,
            base: self.base.sequence,
            base_hash: &self.base.hash.to_string(),
            last: self.last.sequence,
            last_hash: &self.last.hash.to_string(),
        };
        let mut open =
            serde_json::to_string(&written).map_err(|source| unwritable(TRIED, source.into()))?;
        open.pop();
        Ok(key.seal(Purpose::Ends, &open).0)
    }

    /// The line of the next record, without a line end, exactly as a file would have it. From then on
    /// it is the last one.
    ///
    /// # Errors
    /// [`AuditErrorKind::Write`](super::AuditErrorKind::Write) when the record cannot be written as JSON.
    pub fn append(&mut self, record: &AuditRecord, key: &AuditKey) -> Result<String> {
        let linked = link(record, self.last, key);
        let (mut line, place) = linked.map_err(|source| unwritable(TRIED, source.into()))?;
        line.pop();
        self.last = place;
        Ok(line)
    }

    /// Moves the beginning behind a record that is removed, with all before it.
    pub fn remove_through(&mut self, last_removed: &AuditLink) {
        self.base = last_removed.place;
    }
}
