//! The chain: how a line is sealed to the one before it, and how a run of lines is checked.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::anchor::Place;
use super::key::{AuditKey, Digest, Purpose};
use super::lines::Line;
use super::record::AuditRecord;
use crate::Timestamp;

/// How many findings are kept; a file of line ends alone would have millions.
const MAX_FINDINGS: usize = 1000;

/// What is wrong at a line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditDamage {
    /// The line is no record: cut, joined to another, or foreign.
    Malformed,
    /// The line is a record, and its seal is not right: it was changed.
    Altered,
    /// Records are missing before this line: `missing` of them, from number `from` on.
    Missing {
        /// The number of the first one.
        from: u64,
        /// How many.
        missing: u64,
    },
    /// The record stands behind a later one, or is here a second time.
    OutOfOrder,
    /// The record is genuine and does not follow the one before it.
    Unlinked,
    /// The chain begins anew: somebody had removed or changed the anchor before this was written.
    Restarted,
    /// The anchor has later records than the log: its end was cut off.
    Truncated {
        /// The number of the first record that is missing.
        from: u64,
        /// How many are.
        missing: u64,
    },
    /// There are records and no anchor. Whether the end was cut off cannot be told.
    AnchorMissing,
    /// The anchor was changed, or belongs to another key.
    AnchorAltered,
}

impl AuditDamage {
    /// A stable name: `altered`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Altered => "altered",
            Self::Missing { .. } => "missing",
            Self::OutOfOrder => "out_of_order",
            Self::Unlinked => "unlinked",
            Self::Restarted => "restarted",
            Self::Truncated { .. } => "truncated",
            Self::AnchorMissing => "anchor_missing",
            Self::AnchorAltered => "anchor_altered",
        }
    }
}

impl fmt::Display for AuditDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "this is no record: a line was cut, joined to another, or put in",
            Self::Altered => "this record was changed",
            Self::Missing { from, missing } => {
                return write!(
                    f,
                    "records are missing before this line: {missing}, from {from} on"
                );
            }
            Self::OutOfOrder => "this record stands too late, or twice",
            Self::Unlinked => "this record does not follow the one before it",
            Self::Restarted => "the anchor was removed or changed before this was written",
            Self::Truncated { from, missing } => {
                return write!(f, "the end is missing: {missing} records, from {from} on");
            }
            Self::AnchorMissing => "there are records and no anchor",
            Self::AnchorAltered => "the anchor was changed, or belongs to another key",
        })
    }
}

/// Damage and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditFinding {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; for what is missing, the line before which, or the one that would be next.
    pub line: u64,
    /// What is wrong there.
    pub damage: AuditDamage,
}

/// The line of a record that follows `previous`, with its line end, and its place.
pub(super) fn link(
    record: &AuditRecord,
    previous: Place,
    key: &AuditKey,
) -> serde_json::Result<(String, Place)> {
    let mut open = serde_json::to_string(record)?;
    open.pop();
    let sequence = previous.sequence + 1;
    open.push_str(&format!(",\"sequence\":{sequence},\"previous\":\"{}\"", previous.hash));
    let (mut line, hash) = key.seal(Purpose::Line, &open);
    line.push('\n');
    Ok((line, Place { sequence, hash }))
}

/// What the chain needs to know of a line.
#[derive(Deserialize)]
struct Header<'a> {
    time: Timestamp,
    sequence: u64,
    #[serde(borrow)]
    previous: &'a str,
}

/// A line whose seal is right.
#[derive(Clone, Copy, Debug)]
pub struct AuditLink {
    pub(super) time: Timestamp,
    pub(super) previous: Digest,
    pub(super) place: Place,
}

impl AuditLink {
    /// Reads a line, without its line end.
    ///
    /// # Errors
    /// What is wrong with it by itself.
    pub fn read(line: &[u8], key: &AuditKey) -> Result<Self, AuditDamage> {
        let header: Option<Header<'_>> = serde_json::from_slice(line).ok();
        let header = header.ok_or(AuditDamage::Malformed)?;
        let hash = key.check(Purpose::Line, line).ok_or(AuditDamage::Altered)?;
        let previous = Digest::from_hex(header.previous).ok_or(AuditDamage::Malformed)?;
        let place = Place { sequence: header.sequence, hash };
        Ok(Self { time: header.time, previous, place })
    }

    /// Reads a line of a file, which must be whole.
    pub(super) fn of(line: &Line, key: &AuditKey) -> Result<Self, AuditDamage> {
        match line {
            Line { cut: false, closed: true, bytes, .. } => Self::read(bytes, key),
            _ => Err(AuditDamage::Malformed),
        }
    }

    /// When its request ended.
    pub fn time(&self) -> Timestamp {
        self.time
    }

    /// Its number in the chain, from 1.
    pub fn sequence(&self) -> u64 {
        self.place.sequence
    }
}

/// Checks lines in the order of the log.
#[derive(Debug)]
pub(super) struct Chain<'a> {
    key: &'a AuditKey,
    /// The furthest genuine record; none when any may be the first.
    at: Option<Place>,
    /// Lines since then that were no genuine record.
    damaged: u64,
    records: u64,
    findings: Vec<AuditFinding>,
    /// Findings that were not kept.
    omitted: u64,
}

impl<'a> Chain<'a> {
    /// A chain that must begin after `base`, or anywhere.
    pub(super) fn after(base: Option<Place>, key: &'a AuditKey) -> Self {
        Self { key, at: base, damaged: 0, records: 0, findings: Vec::new(), omitted: 0 }
    }

    /// Checks one more line of `file`.
    pub(super) fn add(&mut self, file: &Path, line: &Line) -> Option<AuditLink> {
        self.take(file, line.number, AuditLink::of(line, self.key))
    }

    /// Checks one more line that stands at `number`.
    pub(super) fn add_bytes(&mut self, file: &Path, number: u64, line: &[u8]) -> Option<AuditLink> {
        self.take(file, number, AuditLink::read(line, self.key))
    }

    fn take(
        &mut self,
        file: &Path,
        number: u64,
        read: Result<AuditLink, AuditDamage>,
    ) -> Option<AuditLink> {
        match read {
            Ok(link) => {
                self.records += 1;
                if let Some(damage) = self.follow(&link) {
                    self.report(file, number, damage);
                }
                Some(link)
            }
            Err(damage) => {
                self.damaged += 1;
                self.report(file, number, damage);
                None
            }
        }
    }

    /// Goes on to a genuine record, or says why it does not belong here.
    fn follow(&mut self, link: &AuditLink) -> Option<AuditDamage> {
        let Some(at) = self.at else {
            self.at = Some(link.place);
            return None;
        };
        if link.place.sequence <= at.sequence {
            return Some(AuditDamage::OutOfOrder);
        }
        let begins = link.previous == Digest::GENESIS && at != Place::START;
        // A damaged line may have been one of the records in between, or one too many.
        let damaged = std::mem::take(&mut self.damaged);
        self.at = Some(link.place);
        let between = link.place.sequence.saturating_sub(at.sequence).saturating_sub(1);
        if begins {
            Some(AuditDamage::Restarted)
        } else if between > damaged {
            let from = at.sequence + damaged + 1;
            Some(AuditDamage::Missing { from, missing: between - damaged })
        } else if between == 0 && link.previous != at.hash {
            Some(AuditDamage::Unlinked)
        } else {
            None
        }
    }

    pub(super) fn report(&mut self, file: &Path, line: u64, damage: AuditDamage) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(AuditFinding { file: file.to_owned(), line, damage });
        } else {
            self.omitted += 1;
        }
    }

    /// The furthest genuine record, and how many lines behind it were none.
    pub(super) fn end(&self) -> (Option<Place>, u64) {
        (self.at, self.damaged)
    }

    /// Whether nothing was found.
    pub(super) fn is_intact(&self) -> bool {
        self.findings.is_empty()
    }

    /// How many genuine records there were.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// What was found, and how much more.
    pub(super) fn into_findings(self) -> (Vec<AuditFinding>, u64) {
        (self.findings, self.omitted)
    }
}
