//! What is remembered of files: their sums, where the sums come from, and when they were checked.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use kuhaku_core::Sha256;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};

const VERSION: u32 = 1;

/// Where the sum of a file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SumSource {
    /// It was published: with this program, or by the hub.
    Published,
    /// It is what came when the file was first pulled or found, since none was published.
    Recorded,
}

impl SumSource {
    /// The source in a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Recorded => "recorded",
        }
    }
}

/// What is remembered of one commit of a model, or of a runtime library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    version: u32,
    pub(super) source: String,
    pub(super) revision: String,
    /// Whether the files were pulled by this store, and are its to remove.
    pub(super) pulled: bool,
    /// Every path of the model as the hub listed them, noted before the first file comes; empty when
    /// nobody has asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) paths: Vec<String>,
    pub(super) files: BTreeMap<String, RecordedFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordedFile {
    pub(super) sha256: Sha256,
    pub(super) sum: SumSource,
    /// What the file looked like when it was checked.
    checked: Option<Stamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    bytes: u64,
    /// Nanoseconds since 1970, as text since JSON's numbers end before.
    modified: String,
}

impl Stamp {
    fn of(found: &Metadata) -> Option<Self> {
        let modified = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self { bytes: found.len(), modified: modified.as_nanos().to_string() })
    }
}

impl RecordedFile {
    /// A file that was just checked.
    pub(super) fn checked(sha256: Sha256, sum: SumSource, found: &Metadata) -> Self {
        Self { sha256, sum, checked: Stamp::of(found) }
    }

    /// Whether the file is still the one that was checked, as far as length and time tell.
    pub(super) fn still_is(&self, found: &Metadata) -> bool {
        self.checked.is_some() && self.checked == Stamp::of(found)
    }
}

impl Record {
    pub(super) fn new(source: impl Into<String>, revision: impl Into<String>) -> Self {
        Self {
            version: VERSION,
            source: source.into(),
            revision: revision.into(),
            pulled: false,
            paths: Vec::new(),
            files: BTreeMap::new(),
        }
    }

    /// The record, if there is one that can be read.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let record: Self = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (record.version == VERSION).then_some(record)
    }

    /// Changes what is recorded now, which other processes change too.
    pub(super) fn update(
        path: &Path,
        fresh: impl FnOnce() -> Self,
        change: impl FnOnce(&mut Self),
    ) -> Result<Self> {
        let failed = |source| storage("write a record of the store", path, source);
        let _lock = lock(path).map_err(failed)?;
        let before = Self::read(path);
        let mut record = before.clone().unwrap_or_else(fresh);
        change(&mut record);
        if before.as_ref() != Some(&record) {
            record.write(path)?;
        }
        Ok(record)
    }

    /// Writes the record in one step.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let write = || -> io::Result<()> {
            let mut json = serde_json::to_vec_pretty(self)?;
            json.push(b'\n');
            replace(path, &json)
        };
        write().map_err(|source| storage("write a record of the store", path, source))
    }
}

/// Writes a small file whole or not at all.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let new = beside(path, &format!(".{}.new", std::process::id()));
    // What is in its place may be a link to somewhere else.
    let _ = fs::remove_file(&new);
    let write = || {
        let mut file = File::options().write(true).create_new(true).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&new);
    })
}

/// Held while a record is read, changed and written. The file stays, as that of a download does.
fn lock(record: &Path) -> io::Result<File> {
    if let Some(folder) = record.parent() {
        fs::create_dir_all(folder)?;
    }
    let path = beside(record, ".lock");
    if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("a link or no file is in the place of its lock"));
    }
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    file.lock()?;
    Ok(file)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// What the system says of a path of the store.
pub(super) fn storage(tried: &'static str, path: &Path, source: io::Error) -> Error {
    let tried = format!("{tried} ({})", path.display());
    Error::new(ErrorKind::Storage, tried, format!("the system refused: {}", source.kind()))
        .next("check the folder, its rights and the free space")
        .caused_by(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two that change a record at once lose nothing of each other.
    #[test]
    fn changes_at_once_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("models/record.json");
        let found = fs::metadata(folder.path()).unwrap();
        let sum: Sha256 = "0".repeat(64).parse().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (path, found) = (&path, &found);
                scope.spawn(move || {
                    for file in 0..10 {
                        let fresh = || Record::new("a/b", "c");
                        let change = |record: &mut Record| {
                            record.pulled |= thread == 0;
                            let checked = RecordedFile::checked(sum, SumSource::Recorded, found);
                            record.files.insert(format!("{thread}-{file}"), checked);
                        };
                        Record::update(path, fresh, change).unwrap();
                    }
                });
            }
        });
        let record = Record::read(&path).unwrap();
        assert_eq!((record.files.len(), record.pulled), (80, true));
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (path, outside) = (folder.path().join("r"), folder.path().join("outside"));
        fs::write(&outside, "kept").unwrap();
        let link = |ending: &str| {
            std::os::unix::fs::symlink(&outside, beside(&path, ending)).unwrap();
        };
        link(&format!(".{}.new", std::process::id()));
        replace(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        link(".lock");
        assert!(Record::update(&path, || Record::new("a", "b"), |_| {}).is_err());
        assert_eq!(fs::read(&outside).unwrap(), b"kept");
    }
}
