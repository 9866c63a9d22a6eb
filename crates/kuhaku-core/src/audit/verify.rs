//! Checking a log: is it all there, in order, as it was written?

use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::anchor::{Anchor, Found, Place};
use super::chain::{AuditDamage, AuditFinding, Chain};
use super::error::unreadable;
use super::files::{Files, open_if_there};
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
    /// What is wrong, in the order of the log; the first 1000 findings.
    pub findings: Vec<AuditFinding>,
    /// How many more there are.
    pub omitted: u64,
}

impl Verification {
    /// Whether nothing is wrong.
    pub fn is_intact(&self) -> bool {
        self.findings.is_empty()
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
pub fn verify_audit(path: impl AsRef<Path>, key: &AuditKey) -> super::Result<Verification> {
    let files = Files::new(path.as_ref().to_owned());
    loop {
        // Retention may remove a file between the look at the folder and the look at the file; it
        // is not in the folder the next time.
        match check(&files, key) {
            Ok(Some(verification)) => return Ok(verification),
            Ok(None) => {}
            Err(source) => return Err(unreadable("verify the audit log", source)),
        }
    }
}

/// Checks the files; `None` when one of them went away.
fn check(files: &Files, key: &AuditKey) -> io::Result<Option<Verification>> {
    let (anchor, stock) = {
        let _still = files.lock_to_read()?;
        (Anchor::load(files, key)?, files.stock()?)
    };
    let anchor = match anchor {
        Found::Anchor(anchor) => Ok(anchor),
        Found::Nothing => Err(AuditDamage::AnchorMissing),
        Found::Altered => Err(AuditDamage::AnchorAltered),
    };
    let base = anchor.as_ref().map_or(Place::START, |anchor| anchor.base);
    let mut walk = Walk { chain: Chain::after(Some(base), key), files: 0, end: None };
    for (first, path) in stock.rotated {
        if first > base.sequence {
            let Some(file) = open_if_there(&path)? else { return Ok(None) };
            walk.read(&path, file, u64::MAX)?;
        }
    }
    let mut unfinished = false;
    if let Some((file, length)) = stock.newest {
        let anchored = anchor.as_ref().map_or(u64::MAX, |anchor| anchor.length);
        unfinished = walk.read(files.log(), file.take(length), anchored)?;
    }
    let Walk { chain, files: read, end } = walk;
    let (file, line) = end.unwrap_or_else(|| (files.log().to_owned(), 0));
    let end = End { file: &file, line, anchor: &files.anchor(), empty: read == 0 };
    let found = conclude(chain, base, anchor.map(|anchor| anchor.last), end);
    Ok(Some(Verification { files: read, unfinished, ..found }))
}

/// Where a check has ended.
pub(super) struct End<'a> {
    /// The last file.
    pub(super) file: &'a Path,
    /// The number of its last line; 0 without any.
    pub(super) line: u64,
    /// Where the anchor is, or should be.
    pub(super) anchor: &'a Path,
    /// Whether there was nothing to check, for which nobody misses an anchor.
    pub(super) empty: bool,
}

/// Compares the end of the lines with what the anchor says of the last one. Leaves what only the
/// caller knows: files, and whether the last line was finished.
pub(super) fn conclude(
    mut chain: Chain<'_>,
    base: Place,
    anchored: Result<Place, AuditDamage>,
    end: End<'_>,
) -> Verification {
    let (last, damaged) = chain.end();
    let last = last.unwrap_or(base);
    let mut unanchored = 0;
    match anchored {
        Ok(anchored) => {
            let from = last.sequence + damaged + 1;
            if from <= anchored.sequence {
                let missing = anchored.sequence - from + 1;
                chain.report(end.file, end.line + 1, AuditDamage::Truncated { from, missing });
            } else if last.sequence == anchored.sequence && last.hash != anchored.hash {
                chain.report(end.file, end.line, AuditDamage::Unlinked);
            }
            unanchored = last.sequence.saturating_sub(anchored.sequence);
        }
        Err(AuditDamage::AnchorMissing) if end.empty => {}
        Err(damage) => chain.report(end.anchor, 1, damage),
    }
    let records = chain.records();
    let (findings, omitted) = chain.into_findings();
    Verification {
        records,
        files: 0,
        last_sequence: last.sequence,
        last_hash: last.hash.to_string(),
        unanchored,
        unfinished: false,
        findings,
        omitted,
    }
}

/// The way through the files.
struct Walk<'a> {
    chain: Chain<'a>,
    files: usize,
    /// The last file and how many lines of it were read.
    end: Option<(PathBuf, u64)>,
}

impl Walk<'_> {
    /// Reads a file; true when it ends in a piece of a line from `anchored` on, which is no damage.
    fn read(&mut self, path: &Path, file: impl io::Read, anchored: u64) -> io::Result<bool> {
        let mut lines = Lines::new(BufReader::new(file));
        let (mut number, mut unfinished) = (0, false);
        while let Some(line) = lines.next_line()? {
            unfinished = !line.closed && line.offset >= anchored;
            if !unfinished {
                self.chain.add(path, &line);
                number = line.number;
            }
        }
        self.files += 1;
        self.end = Some((path.to_owned(), number));
        Ok(unfinished)
    }
}
