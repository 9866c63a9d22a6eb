//! A snapshot in the making.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{MAGIC, NAME, Pace, Writer, drafts, gone, path, shape};
use crate::fingerprint::Fingerprint;
use crate::inverted::Generation;

/// A file of its own name beside the snapshot that is there.
///
/// The file is the permission to take that one's place. Who makes what it shows out of date, by
/// another draft or by erasing what was removed, removes it while it holds the write lock; a file that
/// is gone is not moved. Thus nothing comes back, whoever still writes and however slowly (D20).
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    scrap: Scrap,
    folder: PathBuf,
}

impl Draft {
    /// Begins a draft in the place of all others. `own` is a name that no other has had, and `create`
    /// makes a file that is not there. The caller holds the write lock of the index.
    pub(crate) fn begin(
        folder: &Path,
        own: &str,
        create: impl FnOnce(&Path) -> io::Result<File>,
    ) -> io::Result<Self> {
        remove_all(folder)?;
        let path = folder.join(format!("{NAME}-{own}"));
        let file = create(&path)?;
        let scrap = Scrap(path);
        // Goes with the process: a draft without it is nobody's.
        file.lock()?;
        Ok(Self { file, scrap, folder: folder.to_owned() })
    }

    /// Writes a generation and moves it into its place: false when the draft was removed meanwhile.
    /// `mark` tells which transaction the generation shows. Whatever fails leaves what was there.
    pub(crate) fn write(
        self,
        generation: &Generation,
        mark: &[u8],
        fingerprint: &Fingerprint,
        pace: &Pace,
    ) -> io::Result<bool> {
        let Self { mut file, scrap, folder } = self;
        file.write_all(&MAGIC)?;
        let mut writer = Writer::paced(file, pace.clone());
        writer.block(mark)?;
        writer.block(&shape(fingerprint))?;
        generation.encode(&mut writer)?;
        // Kept locked until it is in its place.
        let _file = writer.finish()?;
        pace.step()?;
        match fs::rename(&scrap.0, path(&folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            moved => moved.map(|()| true),
        }
    }
}

/// Removes all drafts.
pub(super) fn remove_all(folder: &Path) -> io::Result<()> {
    drafts(folder).into_iter().try_for_each(|(path, _)| gone(fs::remove_file(path)))
}

/// The file of a draft; it goes unless it was moved.
#[derive(Debug)]
struct Scrap(PathBuf);

impl Drop for Scrap {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
