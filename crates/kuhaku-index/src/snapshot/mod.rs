//! The in-memory form in a file beside the database: a cache, from which an index opens at once (R10).
//!
//! It says of which transaction it is. What is missing, of another version, damaged or cut off is as
//! if it were not there.

mod blocks;
mod draft;
mod pace;
mod values;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::fingerprint::Fingerprint;
use crate::inverted::Generation;

pub(crate) use blocks::{Reader, Writer, checksum};
pub(crate) use draft::Draft;
#[cfg(test)]
pub(crate) use pace::Disk;
pub(crate) use pace::Pace;
pub(crate) use values::{array, number, put_number, put_word, word};

/// What the file begins with; the last byte is the version of the format.
const MAGIC: [u8; 8] = *b"kuhakuS\x02";
/// The name of the file.
const NAME: &str = "index.snapshot";

/// Where the snapshot of the index in a folder is.
pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// Removes what killed processes have left of drafts. Those of processes that live are locked.
pub(crate) fn sweep(folder: &Path) {
    for (path, is_file) in drafts(folder) {
        // Opening a pipe waits for a writer, perhaps for ever.
        if is_file && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes the snapshot of the index in a folder, and all drafts.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    draft::remove_all(folder)?;
    gone(fs::remove_file(path(folder)))
}

/// The files of drafts in a folder, and whether each is a regular one.
fn drafts(folder: &Path) -> Vec<(PathBuf, bool)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_draft = |name: &str| name.strip_prefix(NAME).is_some_and(|rest| rest.starts_with('-'));
    let files = entries.flatten().filter_map(|entry| {
        let kind = entry.file_type().ok().filter(|kind| !kind.is_dir())?;
        entry.file_name().to_str().is_some_and(is_draft).then(|| (entry.path(), kind.is_file()))
    });
    files.collect()
}

/// What is not there needs no removing.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// What a look for a snapshot has found.
#[derive(Debug)]
pub(crate) enum Opened {
    /// A generation, and the mark of the transaction that it shows.
    Whole(Generation, Vec<u8>),
    /// Of another index, of a transaction that is not trusted, or of another version.
    Foreign,
    /// Not what was written.
    Damaged,
    /// There is none.
    Missing,
}

impl Opened {
    /// Says that a snapshot is of this transaction, whatever it shows: a seeded fault.
    pub(crate) fn current(self, mark: Option<&[u8]>) -> Self {
        match (self, mark) {
            (Self::Whole(generation, _), Some(mark)) => Self::Whole(generation, mark.to_vec()),
            (other, _) => other,
        }
    }
}

/// Reads the snapshot of the index in a folder, if `trusted` says so of its mark.
pub(crate) fn open(
    folder: &Path,
    fingerprint: &Fingerprint,
    trusted: impl FnOnce(&[u8]) -> bool,
) -> Opened {
    let path = path(folder);
    // Opening a pipe waits for a writer, perhaps for ever.
    if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
        return Opened::Missing;
    }
    let Ok(mut file) = File::open(path) else { return Opened::Missing };
    let mut magic = [0; MAGIC.len()];
    if file.read_exact(&mut magic).is_err() {
        return Opened::Damaged;
    }
    if magic != MAGIC {
        return Opened::Foreign;
    }
    let Some(mut reader) = Reader::new(file) else { return Opened::Damaged };
    let Some(mark) = reader.block().map(<[u8]>::to_vec) else { return Opened::Damaged };
    match reader.block() {
        None => return Opened::Damaged,
        Some(found) if found != shape(fingerprint) || !trusted(&mark) => return Opened::Foreign,
        Some(_) => {}
    }
    let generation = Generation::decode(&mut reader, fingerprint.space());
    match generation.zip(reader.finished()) {
        Some((generation, ())) => Opened::Whole(generation, mark),
        None => Opened::Damaged,
    }
}

/// A fingerprint as bytes that differ when it differs.
fn shape(fingerprint: &Fingerprint) -> Vec<u8> {
    let Fingerprint { tokenizer, language, masker, chunker, embedder, dimension } = fingerprint;
    let mut bytes = Vec::new();
    let words = [tokenizer.as_str(), language.as_str(), masker, chunker];
    for part in words.into_iter().chain(embedder.as_deref()) {
        put_word(part, &mut bytes);
    }
    let dimension = dimension.unwrap_or_default() as u64;
    bytes.extend_from_slice(&dimension.to_le_bytes());
    bytes
}
