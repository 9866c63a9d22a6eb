//! Retention: old files go, and the chain stays whole.

use std::fs;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::Deserialize;

use super::Result;
use super::anchor::{Anchor, Found, Place};
use super::chain::{AuditLink, Chain};
use super::error::{AuditError, AuditErrorKind, unreadable, unwritable};
use super::files::{Files, open_if_there};
use super::key::AuditKey;
use super::lines::Lines;
use crate::Timestamp;

const TRIED: &str = "remove old audit files";

/// How much of a file's end is read for its last line, in bytes; most records have a tenth of it.
const TAIL: u64 = 16 * 1024;

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
    let mut pruned = Pruned::default();
    for (first, path) in files.all_rotated().map_err(failed)? {
        let base = load(files, key)?.base;
        // A file at or before the base was left by a crash within this loop.
        let surveyed = match first > base.sequence {
            // Most often nothing is due, and the last line alone says so.
            true if claimed_end(&path).map_err(failed)?.is_some_and(|end| end >= before) => break,
            true => match survey(&path, key)? {
                Some(survey) if survey.ended >= before => break,
                Some(survey) => Some(survey),
                None => continue,
            },
            false => None,
        };
        // Writers wait for the change of the anchor only, not for the survey.
        let _turn = files.lock_to_write().map_err(failed)?;
        let mut anchor = load(files, key)?;
        if anchor.base != base {
            // Another process prunes as well; it has seen to this file.
            continue;
        }
        if let Some(survey) = surveyed {
            anchor.base = survey.last;
            // The base moves first: a file too many is harmless, a record too few is not.
            anchor.store(files, key, sync).map_err(failed)?;
            if sync {
                files.sync_directory().map_err(failed)?;
            }
            pruned.records += survey.records;
        }
        match fs::remove_file(&path) {
            Ok(()) => pruned.files += 1,
            Err(source) if source.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(failed(source)),
        }
    }
    Ok(pruned)
}

fn load(files: &Files, key: &AuditKey) -> Result<Anchor> {
    match Anchor::load(files, key).map_err(|source| unreadable(TRIED, source))? {
        Found::Anchor(anchor) => Ok(anchor),
        Found::Nothing | Found::Altered => {
            Err(damaged("the anchor of the log is missing or was changed"))
        }
    }
}

/// When the last record of a file ended, by its own word; `None` when it does not say.
fn claimed_end(path: &Path) -> io::Result<Option<Timestamp>> {
    #[derive(Deserialize)]
    struct Claim {
        time: Timestamp,
    }
    let Some(mut file) = open_if_there(path)? else { return Ok(None) };
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    let last = tail.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(serde_json::from_slice(last).ok().map(|Claim { time }| time))
}

/// What a rotated file holds.
struct Survey {
    records: u64,
    last: Place,
    /// When its last record ended.
    ended: Timestamp,
}

/// Reads a rotated file that must verify by itself; `None` when it is gone.
fn survey(path: &Path, key: &AuditKey) -> Result<Option<Survey>> {
    let failed = |source| unreadable(TRIED, source);
    let Some(file) = open_if_there(path).map_err(failed)? else { return Ok(None) };
    let mut lines = Lines::new(BufReader::new(file));
    let mut chain = Chain::after(None, key);
    let mut end = None;
    while let Some(line) = lines.next_line().map_err(failed)? {
        end = chain.add(path, &line);
    }
    let records = chain.records();
    match (end, chain.into_findings()) {
        (Some(AuditLink { time, place, .. }), (findings, _)) if findings.is_empty() => {
            Ok(Some(Survey { records, last: place, ended: time }))
        }
        _ => Err(damaged("the oldest file does not verify")),
    }
}

fn damaged(wrong: &'static str) -> AuditError {
    AuditError::new(AuditErrorKind::Damaged, TRIED, wrong)
        .next("verify the log, find out what happened, and move the damaged file away")
}
