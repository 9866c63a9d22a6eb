//! Checking a log: is it all there, in order, as it was written?

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::Result;
use super::anchor::{Anchor, Found, Place};
use super::chain::{AuditDamage, AuditFinding, Chain};
use super::error::unreadable;
use super::files::Files;
use super::key::AuditKey;
use super::lines::Lines;

/// What a check of a log has found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// Genuine records.
    pub records: u64,
    /// Files that were read.
    pub files: usize,
    /// The number of the last genuine record; 0 without any. With [`last_hash`](Self::last_hash)
    /// it may be noted elsewhere: who can put back an older copy of the whole log, anchor included,
    /// leaves no other trace.
    pub last_sequence: u64,
    /// Its hash, 64 hex digits.
    pub last_hash: String,
    /// Genuine records behind the anchor, of a writer that ended before it could say so.
    pub unanchored: u64,
    /// Whether the log ends in a piece of a line that was never acknowledged. The next record
    /// replaces it.
    pub unfinished: bool,
    /// What is wrong, in the order of the log.
    pub findings: Vec<AuditFinding>,
}

impl Verification {
    /// Whether nothing is wrong.
    pub fn is_intact(&self) -> bool {
        self.findings.is_empty()
    }
}

/// The files of a log at one moment: later records are not looked at.
struct Stock {
    anchor: Found,
    files: Vec<(PathBuf, File, u64)>,
}

impl Stock {
    fn take(files: &Files, key: &AuditKey) -> io::Result<Self> {
        let _still = files.lock_to_read()?;
        let anchor = Anchor::load(files, key)?;
        let base = match &anchor {
            Found::Anchor(anchor) => anchor.base.sequence,
            Found::Nothing | Found::Altered => 0,
        };
        let rotated = files.all_rotated()?.into_iter().filter(|(first, _)| *first > base);
        let mut opened = Vec::new();
        for path in rotated.map(|(_, path)| path).chain([files.log().to_owned()]) {
            match File::open(&path) {
                Ok(file) => {
                    let length = file.metadata()?.len();
                    opened.push((path, file, length));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { anchor, files: opened })
    }
}

/// Checks the log whose newest file is at `path`: every seal, the order, and that nothing is
/// missing at either end or between files.
///
/// Writers are held up only while the files are opened. A log that is not there is intact and empty,
/// unless its anchor says otherwise.
///
/// # Errors
/// [`AuditErrorKind::Read`](super::AuditErrorKind::Read) when the files cannot be read.
pub fn verify_audit(path: impl AsRef<Path>, key: &AuditKey) -> Result<Verification> {
    let files = Files::new(path.as_ref().to_owned());
    check(&files, key).map_err(|source| unreadable("verify the audit log", source))
}

fn check(files: &Files, key: &AuditKey) -> io::Result<Verification> {
    let stock = Stock::take(files, key)?;
    let anchor = match stock.anchor {
        Found::Anchor(anchor) => Ok(anchor),
        Found::Nothing => Err(AuditDamage::AnchorMissing),
        Found::Altered => Err(AuditDamage::AnchorAltered),
    };
    let base = anchor.as_ref().map_or(Place::START, |anchor| anchor.base);
    let anchored = anchor.as_ref().map_or(u64::MAX, |anchor| anchor.length);
    let mut chain = Chain::after(Some(base), key);
    let (mut end, mut unfinished) = ((files.log().to_owned(), 0), false);
    let read = stock.files.len();
    for (path, file, length) in stock.files {
        let newest = path == files.log();
        let mut lines = Lines::new(BufReader::new(file.take(length)));
        let mut number = 0;
        while let Some(line) = lines.next_line()? {
            unfinished = newest && !line.closed && line.offset >= anchored;
            if !unfinished {
                chain.add(&path, &line);
                number = line.number;
            }
        }
        end = (path, number);
    }
    let (last, damaged) = chain.end();
    let last = last.unwrap_or(base);
    let mut unanchored = 0;
    match anchor {
        Ok(anchor) => {
            let from = last.sequence + damaged + 1;
            if from <= anchor.last.sequence {
                let missing = anchor.last.sequence - from + 1;
                chain.report(&end.0, end.1 + 1, AuditDamage::Truncated { from, missing });
            } else if last.sequence == anchor.last.sequence && last.hash != anchor.last.hash {
                chain.report(&end.0, end.1, AuditDamage::Unlinked);
            }
            unanchored = last.sequence.saturating_sub(anchor.last.sequence);
        }
        Err(AuditDamage::AnchorMissing) if read == 0 => {}
        Err(damage) => chain.report(&files.anchor(), 1, damage),
    }
    let (records, findings) = chain.finish();
    Ok(Verification {
        records,
        files: read,
        last_sequence: last.sequence,
        last_hash: last.hash.to_string(),
        unanchored,
        unfinished,
        findings,
    })
}
