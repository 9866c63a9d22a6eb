//! What is remembered of files: their sums, where the sums come from, and when they were checked.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::Path;
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    version: u32,
    pub(super) source: String,
    pub(super) revision: String,
    /// Whether the files were pulled by this store, and are its to remove.
    pub(super) pulled: bool,
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
            files: BTreeMap::new(),
        }
    }

    /// The record, if there is one that can be read.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let record: Self = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (record.version == VERSION).then_some(record)
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
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let mut file = File::create(&name)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&name, path)
}

/// What the system says of a path of the store.
pub(super) fn storage(tried: &'static str, path: &Path, source: io::Error) -> Error {
    let tried = format!("{tried} ({})", path.display());
    Error::new(ErrorKind::Storage, tried, "the system refused")
        .next("check the folder, its rights and the free space")
        .caused_by(source)
}
