//! Checking the lines of a store other than files.

use std::path::Path;

use super::anchor::Place;
use super::chain::{AuditDamage, AuditLink, Chain};
use super::ends::AuditEnds;
use super::key::AuditKey;
use super::verify::{End, Verification, conclude};

/// Checks lines in the order of the log: every seal, that none is missing in between or at either
/// end, and that none is too many.
#[derive(Debug)]
pub struct AuditCheck<'a> {
    path: &'a Path,
    ends: Result<AuditEnds, AuditDamage>,
    chain: Chain<'a>,
    /// How many lines there were.
    lines: u64,
    /// Where the last one stands.
    number: u64,
}

impl<'a> AuditCheck<'a> {
    /// A check of the log at `path`, which is what findings name; `sealed` are its [`AuditEnds`] as
    /// they were found, if they were.
    pub fn new(path: &'a Path, sealed: Option<&[u8]>, key: &'a AuditKey) -> Self {
        let ends = match sealed {
            Some(sealed) => AuditEnds::open(sealed, key).ok_or(AuditDamage::AnchorAltered),
            None => Err(AuditDamage::AnchorMissing),
        };
        let base = ends.as_ref().map_or(Place::START, |ends| ends.base);
        Self { path, ends, chain: Chain::after(Some(base), key), lines: 0, number: 0 }
    }

    /// Checks one more line, without its line end; `number` is what findings name. Gives its link in
    /// the chain when it is genuine, wherever it belongs.
    pub fn add(&mut self, number: u64, line: &[u8]) -> Option<AuditLink> {
        self.lines += 1;
        self.number = number;
        self.chain.add_bytes(self.path, number, line)
    }

    /// Whether nothing is wrong so far.
    pub fn is_intact(&self) -> bool {
        self.ends.is_ok() && self.chain.is_intact()
    }

    /// What was found, when all lines were seen. Counts the store as one file, unless it has neither
    /// lines nor ends.
    pub fn finish(self) -> Verification {
        let Self { path, ends, chain, lines, number } = self;
        let base = ends.as_ref().map_or(Place::START, |ends| ends.base);
        let end = End { file: path, line: number, anchor: path, empty: lines == 0 };
        let nothing = lines == 0 && matches!(ends, Err(AuditDamage::AnchorMissing));
        let found = conclude(chain, base, ends.map(|ends| ends.last), end);
        Verification { files: usize::from(!nothing), ..found }
    }
}
