//! The files of a log, named after it, and the lock that writers share.
//!
//! | file | what |
//! |---|---|
//! | `audit.jsonl` | the newest records |
//! | `audit.000000000001.jsonl` | older ones, named by the number of their first record |
//! | `audit.anchor` | where the chain begins and ends |
//! | `audit.lock` | empty; held while something is written |

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::error::Foreign;

/// How many digits the number in a file's name has at least, so that names sort as numbers do.
const DIGITS: usize = 12;

/// The files with records at one moment.
#[derive(Debug)]
pub(super) struct Stock {
    /// The number of their first record and their paths, oldest first. They do not change.
    pub(super) rotated: Vec<(u64, PathBuf)>,
    /// The newest file, opened since it may be put aside meanwhile, and its length.
    pub(super) newest: Option<(File, u64)>,
}

/// The paths of one log.
#[derive(Clone, Debug)]
pub(super) struct Files {
    log: PathBuf,
}

impl Files {
    pub(super) fn new(log: PathBuf) -> Self {
        Self { log }
    }

    pub(super) fn log(&self) -> &Path {
        &self.log
    }

    fn directory(&self) -> &Path {
        match self.log.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    /// The log's name without its extension, followed by `suffix`.
    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.log.file_stem().unwrap_or_default().to_owned();
        name.push(suffix);
        self.log.with_file_name(name)
    }

    pub(super) fn anchor(&self) -> PathBuf {
        self.beside(".anchor")
    }

    /// Where an anchor is written before it takes its place.
    pub(super) fn next_anchor(&self) -> PathBuf {
        self.beside(".anchor.new")
    }

    fn lock(&self) -> PathBuf {
        self.beside(".lock")
    }

    fn extension(&self) -> OsString {
        let mut dotted = OsString::new();
        if let Some(extension) = self.log.extension() {
            dotted.push(".");
            dotted.push(extension);
        }
        dotted
    }

    /// Where the records from number `first` on go when the log is rotated.
    pub(super) fn rotated(&self, first: u64) -> PathBuf {
        let mut name = self.beside(&format!(".{first:0DIGITS$}")).into_os_string();
        name.push(self.extension());
        name.into()
    }

    /// The rotated files with the number of their first record, oldest first.
    pub(super) fn all_rotated(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        let entries = match fs::read_dir(self.directory()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut rotated = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            if let Some(first) = self.first_of(&name.to_string_lossy()) {
                rotated.push((first, self.log.with_file_name(name)));
            }
        }
        rotated.sort_unstable();
        Ok(rotated)
    }

    /// The files with records. Consistent while a lock is held.
    pub(super) fn stock(&self) -> io::Result<Stock> {
        let rotated = self.all_rotated()?;
        let newest = match open_if_there(&self.log)? {
            Some(file) => {
                let length = file.metadata()?.len();
                Some((file, length))
            }
            None => None,
        };
        Ok(Stock { rotated, newest })
    }

    /// The number in the name of a rotated file of this log.
    fn first_of(&self, name: &str) -> Option<u64> {
        let stem = self.log.file_stem()?.to_string_lossy();
        let digits = name.strip_prefix(&*stem)?.strip_prefix('.')?;
        let digits = digits.strip_suffix(&*self.extension().to_string_lossy())?;
        let plain = digits.len() >= DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok())?
    }

    pub(super) fn create_directory(&self) -> io::Result<()> {
        fs::create_dir_all(self.directory())
    }

    /// Forces new names to the disk, where the system has a way to.
    pub(super) fn sync_directory(&self) -> io::Result<()> {
        if cfg!(unix) {
            File::open(self.directory())?.sync_all()?;
        }
        Ok(())
    }

    /// Waits until no other thread or process writes or takes stock. Dropping the file unlocks it.
    pub(super) fn lock_to_write(&self) -> io::Result<File> {
        self.check_names()?;
        let path = self.lock();
        let lock = creating(&path)?.truncate(false).write(true).open(path)?;
        lock.lock()?;
        Ok(lock)
    }

    /// Waits until nobody writes. `None` when nobody ever has; creates nothing.
    pub(super) fn lock_to_read(&self) -> io::Result<Option<File>> {
        let lock = open_if_there(&self.lock())?;
        if let Some(lock) = &lock {
            lock.lock_shared()?;
        }
        Ok(lock)
    }

    /// A log at the path of a file that stands beside it (`x.anchor`) would be replaced by that.
    fn check_names(&self) -> io::Result<()> {
        if [self.lock(), self.anchor(), self.next_anchor()].contains(&self.log) {
            let wrong = "a file beside the log would have the same name";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, wrong));
        }
        Ok(())
    }

    /// Whether the log could be created, judged by what is there.
    pub(super) fn check(&self) -> io::Result<()> {
        self.check_names()?;
        for path in [self.lock(), self.anchor(), self.next_anchor()] {
            is_there(&path)?;
        }
        if is_there(&self.log)? {
            // Opening without `create` changes nothing, and shows missing permissions.
            return File::options().read(true).append(true).open(&self.log).map(drop);
        }
        for ancestor in self.directory().ancestors() {
            if let Some(metadata) = metadata(ancestor)? {
                return match metadata.is_dir() {
                    true if metadata.permissions().readonly() => {
                        Err(io::ErrorKind::PermissionDenied.into())
                    }
                    true => Ok(()),
                    false => Err(io::ErrorKind::NotADirectory.into()),
                };
            }
        }
        Ok(())
    }
}

/// How the file at `path` is made: for its owner alone, for it holds excerpts of questions.
///
/// Fails as [`is_there`] does.
pub(super) fn creating(path: &Path) -> io::Result<fs::OpenOptions> {
    is_there(path)?;
    let mut options = File::options();
    // To read as well: should a pipe have taken the place meanwhile, opening it does not wait.
    options.create(true).read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    Ok(options)
}

fn metadata(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether there is a file at `path`. A folder, a pipe or a socket is refused: opening a pipe waits
/// for whoever is at its other end, for ever if need be.
fn is_there(path: &Path) -> io::Result<bool> {
    let Some(metadata) = metadata(path)? else { return Ok(false) };
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() && !is_character_device(&metadata) {
        return Err(Foreign::error("in the place of a file is a pipe, a socket or a disk"));
    }
    Ok(true)
}

/// One such, `/dev/null` say, may well stand for a log.
fn is_character_device(metadata: &fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::FileTypeExt::is_char_device(&metadata.file_type());
    #[cfg(not(unix))]
    return false;
}

/// Opens a file to read; `None` when there is none.
pub(super) fn open_if_there(path: &Path) -> io::Result<Option<File>> {
    if !is_there(path)? {
        return Ok(None);
    }
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
