//! Files for their owner's eyes: an index holds restricted text.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Opens a file for writing, making it for its owner alone (mode 0600 on Unix) when it is missing.
/// One that is there keeps its mode and what it holds. SQLite gives its own files beside the
/// database the database's mode. A pipe in its place is an error: opening one to write would wait.
pub(super) fn file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no file in its place"));
    }
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a file that is not there, for its owner alone.
pub(super) fn fresh(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create_new(true).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a folder for its owner alone (mode 0700 on Unix). One that is there stays as it is, and
/// those above are ordinary.
pub(super) fn folder(path: &Path) -> io::Result<()> {
    if let Some(above) = path.parent() {
        fs::create_dir_all(above)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// Forces the names in a folder to the disk, where systems know that.
pub(super) fn settle(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    let _ = folder;
    Ok(())
}

/// The size of a file in bytes; 0 when there is none.
pub(super) fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}
