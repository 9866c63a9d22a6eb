//! Retention: old files go, and the chain stays whole.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use super::Result;
use super::anchor::{Anchor, Found, Place};
use super::chain::Chain;
use super::error::{AuditError, AuditErrorKind, unreadable, unwritable};
use super::files::Files;
use super::key::AuditKey;
use super::lines::Lines;
use crate::Timestamp;

const TRIED: &str = "remove old audit files";

/// What retention has removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// How many files.
    pub files: usize,
    /// How many records were in them.
    pub records: u64,
}

pub(super) fn prune(
    files: &Files,
    key: &AuditKey,
    before: Timestamp,
    sync: bool,
) -> Result<Pruned> {
    let failed = |source| unwritable(TRIED, source);
    let rotated = files.all_rotated().map_err(failed)?;
    if rotated.is_empty() {
        return Ok(Pruned::default());
    }
    let _turn = files.lock_to_write().map_err(failed)?;
    let Found::Anchor(mut anchor) = Anchor::load(files, key).map_err(failed)? else {
        return Err(damaged("the anchor of the log is missing or was changed"));
    };
    let mut pruned = Pruned::default();
    for (first, path) in files.all_rotated().map_err(failed)? {
        // One at or before the base was left by a crash within this loop.
        if first > anchor.base.sequence {
            let (records, last, ended) = survey(&path, key)?;
            if ended >= before {
                break;
            }
            anchor.base = last;
            // The base moves first: a file too many is harmless, a record too few is not.
            anchor.store(files, key, sync).map_err(failed)?;
            pruned.records += records;
        }
        fs::remove_file(&path).map_err(failed)?;
        pruned.files += 1;
    }
    Ok(pruned)
}

/// How many records a rotated file has, which is the last, and when it ended.
fn survey(path: &Path, key: &AuditKey) -> Result<(u64, Place, Timestamp)> {
    let failed = |source| unreadable(TRIED, source);
    let mut lines = Lines::new(BufReader::new(File::open(path).map_err(failed)?));
    let mut chain = Chain::after(None, key);
    let mut last = None;
    while let Some(line) = lines.next_line().map_err(failed)? {
        last = chain.add(path, &line);
    }
    match (chain.finish(), last) {
        ((records, findings), Some(last)) if findings.is_empty() => {
            Ok((records, last.place, last.time))
        }
        _ => Err(damaged("the oldest file does not verify")),
    }
}

fn damaged(wrong: &'static str) -> AuditError {
    AuditError::new(AuditErrorKind::Damaged, TRIED, wrong)
        .next("verify the log, find out what happened, and move the damaged file away")
}
