//! What has come of a file, and from where.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use super::disk::regular_or_none;
use super::lock::DownloadLock;
use crate::sha256::Sha256;

/// The part of a file that has come, open for more. Dropping it keeps it on the disk.
pub(super) struct Part {
    file: File,
    path: PathBuf,
    hasher: sha2::Sha256,
    length: u64,
    origin: Origin,
    /// Work on the disk may outlive the download that began it.
    _lock: Arc<DownloadLock>,
}

/// Where a part comes from: only more of the very same may be added to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// The SHA-256 of the address, which itself may be long.
    pub(super) address: String,
    /// What the server calls this version of the file: a strong entity tag or a date.
    pub(super) version: Option<String>,
}

impl Part {
    /// Opens the part, and reads what is there to go on with its sum. A part of another origin, or
    /// of none, is emptied.
    pub(super) fn open(path: &Path, address: &str, lock: Arc<DownloadLock>) -> io::Result<Self> {
        let address = Sha256::finish(sha2::Sha256::new_with_prefix(address)).to_string();
        regular_or_none(path)?;
        regular_or_none(&beside(path))?;
        let known = read_origin(path).filter(|origin| origin.address == address);
        let resumable = known.as_ref().is_some_and(|origin| origin.version.is_some());
        let file =
            File::options().create(true).truncate(false).read(true).write(true).open(path)?;
        let origin = known.unwrap_or(Origin { address, version: None });
        let hasher = sha2::Sha256::new();
        let mut part = Self { file, path: path.into(), hasher, length: 0, origin, _lock: lock };
        if resumable {
            part.read_again()?;
        } else {
            part.begin(None)?;
        }
        Ok(part)
    }

    fn read_again(&mut self) -> io::Result<()> {
        let mut piece = vec![0; 1 << 20];
        loop {
            let read = self.file.read(&mut piece)?;
            let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else {
                return Ok(());
            };
            self.hasher.update(bytes);
            self.length += read as u64;
        }
    }

    /// How many bytes have come.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// What the server called the version that these bytes are of.
    pub(super) fn version(&self) -> Option<&str> {
        self.origin.version.as_deref()
    }

    /// Empties the part, for bytes of this version.
    pub(super) fn begin(&mut self, version: Option<String>) -> io::Result<()> {
        // In this order, a part never goes by a name that it does not deserve.
        remove(&beside(&self.path))?;
        self.file.set_len(0)?;
        io::Seek::rewind(&mut self.file)?;
        self.hasher = sha2::Sha256::new();
        self.length = 0;
        self.origin.version = version;
        if self.origin.version.is_some() {
            let note = serde_json::to_vec(&self.origin)?;
            let mut file = File::options().write(true).create_new(true).open(beside(&self.path))?;
            file.write_all(&note)?;
        }
        Ok(())
    }

    /// Adds bytes.
    pub(super) fn append(&mut self, pieces: &[Bytes]) -> io::Result<()> {
        for piece in pieces {
            self.file.write_all(piece)?;
            self.hasher.update(piece);
            self.length += piece.len() as u64;
        }
        Ok(())
    }

    /// The sum of what has come.
    pub(super) fn sum(&self) -> Sha256 {
        Sha256::finish(self.hasher.clone())
    }

    /// The first bytes that have come, as text.
    pub(super) fn beginning(&mut self) -> io::Result<String> {
        io::Seek::rewind(&mut self.file)?;
        let mut bytes = Vec::new();
        (&mut self.file).take(512).read_to_end(&mut bytes)?;
        io::Seek::seek(&mut self.file, io::SeekFrom::End(0))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Makes the part the file, which is whole and on the disk from that instant on.
    pub(super) fn finish(self, to: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, to)?;
        if let Some(folder) = to.parent() {
            // Not every system can do this for folders, and the rename holds without it.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        remove(&beside(&self.path))
    }

    /// Removes the part.
    pub(super) fn discard(self) -> io::Result<()> {
        remove(&beside(&self.path))?;
        remove(&self.path)
    }
}

fn beside(part: &Path) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(".origin");
    name.into()
}

fn read_origin(part: &Path) -> Option<Origin> {
    serde_json::from_slice(&fs::read(beside(part)).ok()?).ok()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn part(path: &Path) -> Part {
        let lock = DownloadLock::acquire(&path.with_extension("lock"), || {}).await.unwrap();
        Part::open(path, "https://a.example/f", Arc::new(lock)).unwrap()
    }

    #[tokio::test]
    async fn a_part_goes_on_with_the_bytes_and_the_sum_that_it_had() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.part");
        let mut first = part(&path).await;
        first.begin(Some("\"v1\"".into())).unwrap();
        first.append(&[Bytes::from_static(b"ab")]).unwrap();
        drop(first);
        let mut second = part(&path).await;
        assert_eq!((second.length(), second.version()), (2, Some("\"v1\"")));
        second.append(&[Bytes::from_static(b"c")]).unwrap();
        assert_eq!(second.beginning().unwrap(), "abc");
        let sum = second.sum();
        second.finish(&folder.path().join("f")).unwrap();
        assert_eq!(Sha256::of_file(&folder.path().join("f")).unwrap(), sum);
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 2, "the file and the lock: {left:?}");
    }

    #[tokio::test]
    async fn bytes_of_unknown_origin_are_not_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.part");
        for origin in
            [None, Some("{}"), Some("not JSON"), Some("{\"address\":\"0\",\"version\":\"v\"}")]
        {
            fs::write(&path, "left over").unwrap();
            remove(&beside(&path)).unwrap();
            if let Some(origin) = origin {
                fs::write(beside(&path), origin).unwrap();
            }
            let found = part(&path).await;
            assert_eq!((found.length(), found.version()), (0, None), "{origin:?}");
            assert_eq!(fs::metadata(&path).unwrap().len(), 0);
        }
    }
}
