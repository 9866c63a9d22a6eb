//! The output of a batch: a file of lines that a later run goes on with, and that is never ours to
//! harm when it is something else.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{
    self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _,
};
use std::path::{Path, PathBuf};

use kuhaku_core::{ErrorKind as CoreErrorKind, Kind as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::outcome::ExtractionStatus;

/// One line of the output. [`is_torn`] knows how it begins.
#[derive(Deserialize, Serialize)]
pub(crate) struct Written<T> {
    /// Which line of the input it is about, from 1.
    pub(crate) line: usize,
    /// A fingerprint of that line, so that the output of another input is not taken for ours.
    pub(crate) of: String,
    /// A fingerprint of what was extracted, for the same reason.
    pub(crate) by: String,
    pub(crate) id: Option<Value>,
    pub(crate) result: Option<T>,
    pub(crate) error: Option<Fault>,
}

#[derive(Deserialize, Serialize)]
pub(crate) struct Fault {
    pub(crate) code: String,
    pub(crate) message: String,
}

/// What an earlier run wrote of a line of the input.
pub(crate) struct Earlier {
    pub(crate) of: String,
    /// Whether it failed for a reason outside of the text.
    pub(crate) again: bool,
    pub(crate) complete: bool,
    pub(crate) error: bool,
    /// Where its line of the output begins, and how long it is, in bytes.
    place: (u64, usize),
}

/// As much of a result as tells how it ended.
#[derive(Deserialize)]
struct Ended {
    status: ExtractionStatus,
    issues: Vec<Because>,
}

#[derive(Deserialize)]
struct Because {
    code: String,
}

impl Written<Ended> {
    fn is_to_be_done_again(&self) -> bool {
        let of_the_text = [
            ErrorKind::Batch,
            ErrorKind::Configuration,
            ErrorKind::Core(CoreErrorKind::InvalidInput),
            ErrorKind::Core(CoreErrorKind::ContextTooLong),
        ];
        let late = |result: &Ended| result.issues.iter().any(|it| it.code == "timed_out");
        self.error
            .as_ref()
            .is_some_and(|fault| !of_the_text.iter().any(|it| it.code() == fault.code))
            || self.result.as_ref().is_some_and(late)
    }
}

/// The file, open and locked.
pub(crate) struct BatchFile {
    file: File,
    path: PathBuf,
    by: String,
    /// No line of ours is longer, in bytes.
    longest: u64,
}

/// What stands in the file of each line of the input, the last that was written.
struct Scan {
    done: BTreeMap<usize, Earlier>,
    /// How many bytes whole lines take.
    whole: u64,
    /// Whether each line stands once and in order.
    ordered: bool,
}

impl BatchFile {
    /// Opens the output for more lines: whole ones stay, what an interrupted run left of one goes.
    /// Gives the lines of the input that are done. `text` is the most bytes of a text.
    pub(crate) fn resume(
        path: &Path,
        by: &str,
        text: usize,
    ) -> Result<(Self, BTreeMap<usize, Earlier>)> {
        let broken = |source| unusable(path, source);
        // Before it is opened: a device may give without end, a pipe may wait without end.
        if path.metadata().is_ok_and(|it| !it.is_file()) {
            return Err(refused(path, "it is no regular file").next(ANOTHER));
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(broken)?;
        // A result has the values of a text, and of the turns before, several times over.
        let longest = u64::try_from(text).unwrap_or(u64::MAX).saturating_mul(32);
        let longest = longest.saturating_add(64 << 20);
        let path = path.canonicalize().map_err(broken)?;
        let mut it = Self { file, path, by: by.to_owned(), longest };
        it.lock()?;
        let Scan { done, whole, .. } = it.scan()?;
        let cut = it.file.set_len(whole).and_then(|()| it.file.seek(SeekFrom::End(0)));
        cut.map_err(|source| unusable(&it.path, source))?;
        Ok((it, done))
    }

    fn lock(&self) -> Result<()> {
        let taken = match self.file.try_lock() {
            Err(TryLockError::WouldBlock) => true,
            // Where files cannot be locked, the rule is the caller's to keep.
            Ok(()) | Err(TryLockError::Error(_)) => {
                // Another run may have put its own in order, and so replaced the file, since it was
                // opened here.
                !is_at(&self.file, &self.path).map_err(|source| unusable(&self.path, source))?
            }
        };
        if taken {
            return Err(refused(&self.path, "another process writes it")
                .next("wait for it to end, or name another file for the output"));
        }
        Ok(())
    }

    pub(crate) fn append(&mut self, line: &Written<impl Serialize>) -> Result<()> {
        let bytes = serde_json::to_vec(line).map_err(io::Error::other);
        let appended = bytes.and_then(|mut bytes| {
            bytes.push(b'\n');
            self.file.write_all(&bytes)?;
            self.file.flush()
        });
        appended.map_err(|source| {
            let tried = format!("write the results of a batch to `{}`", self.path.display());
            Error::new(ErrorKind::Batch, tried, "the operating system refused")
                .next("check the room on the disk and the rights on the file")
                .caused_by(source)
        })
    }

    fn scan(&mut self) -> Result<Scan> {
        let path = &self.path;
        let mut scan = Scan { done: BTreeMap::new(), whole: 0, ordered: true };
        let begun = self.file.seek(SeekFrom::Start(0));
        begun.map_err(|source| unusable(path, source))?;
        let mut reader = BufReader::new(&mut self.file);
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let read = reader.by_ref().take(self.longest).read_until(b'\n', &mut line);
            let read = read.map_err(|source| unusable(path, source))?;
            if read == 0 {
                break;
            }
            let foreign = || {
                let wrong = format!("line {number} is not one of a batch");
                refused(path, wrong).next(ANOTHER)
            };
            if line.last() != Some(&b'\n') {
                // Not at the end of the file, it is longer than any of ours.
                let end = reader.fill_buf().map_err(|source| unusable(path, source))?.is_empty();
                if end && is_torn(&line) {
                    break;
                }
                return Err(foreign());
            }
            let written: Written<Ended> = serde_json::from_slice(&line).map_err(|_| foreign())?;
            if written.by != self.by {
                let wrong = "it has results for other fields, another schema or evidence mode";
                return Err(refused(path, wrong).next(
                    "name another file for the output, or give the same fields and evidence mode as \
                     before",
                ));
            }
            let last = scan.done.last_key_value();
            scan.ordered &= last.is_none_or(|(last, _)| *last < written.line);
            let earlier = Earlier {
                again: written.is_to_be_done_again(),
                complete: written
                    .result
                    .as_ref()
                    .is_some_and(|it| it.status == ExtractionStatus::Complete),
                error: written.error.is_some(),
                of: written.of,
                place: (scan.whole, read),
            };
            scan.done.insert(written.line, earlier);
            scan.whole += u64::try_from(read).unwrap_or_default();
        }
        Ok(scan)
    }

    /// Puts lines that were worked on again in the places of the old ones. The file is replaced at
    /// once, so that nothing is lost when that is interrupted.
    pub(crate) fn put_in_order(mut self) -> Result<()> {
        let Scan { done, ordered, .. } = self.scan()?;
        if ordered {
            return Ok(());
        }
        let mut name = self.path.clone().into_os_string();
        name.push(".ordered");
        let mut rewrite = || {
            let mut fresh = BufWriter::new(File::create(&name)?);
            let mut line = Vec::new();
            for (start, length) in done.values().map(|it| it.place) {
                line.resize(length, 0);
                self.file.seek(SeekFrom::Start(start))?;
                self.file.read_exact(&mut line)?;
                fresh.write_all(&line)?;
            }
            let fresh = fresh.into_inner().map_err(io::IntoInnerError::into_error)?;
            fresh.set_permissions(self.file.metadata()?.permissions())?;
            fresh.sync_all()?;
            drop(fresh);
            // The lock is held until then.
            std::fs::rename(&name, &self.path)
        };
        rewrite().map_err(|source| {
            let tried = format!("put the results of a batch in `{}` in order", self.path.display());
            Error::new(ErrorKind::Batch, tried, "the operating system refused")
                .next("check the file and the rights on its folder")
                .caused_by(source)
        })
    }
}

const ANOTHER: &str = "name another file for the output";

/// Whether an interrupted run may have left this of a line of ours: as far as it goes, it begins like
/// one.
fn is_torn(tail: &[u8]) -> bool {
    let hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let mut rest = tail;
    let mut meets = |expected: &[u8], class: fn(&u8) -> bool| {
        let length = expected.len().min(rest.len());
        let (begin, after) = rest.split_at(length);
        let same = expected.starts_with(begin);
        let skip = after.iter().take_while(|it| class(it)).count();
        rest = after.get(skip..).unwrap_or_default();
        same
    };
    meets(b"{\"line\":", u8::is_ascii_digit)
        && meets(b",\"of\":\"", hex)
        && meets(b"\",\"by\":\"", hex)
}

/// Whether the file is the one at the path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let (file, path) = (file.metadata()?, path.metadata()?);
    Ok((file.dev(), file.ino()) == (path.dev(), path.ino()))
}

/// Such systems keep the path for who has the file open.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

/// FNV-1a (Fowler, Noll, Vo), 64 bits: it tells inputs apart, and keeps nothing secret.
pub(crate) fn fingerprint(text: &str) -> String {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let hash = text.trim_end().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step);
    format!("{hash:016x}")
}

fn refused(path: &Path, wrong: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    let tried = format!("go on with the results of a batch in `{}`", path.display());
    Error::new(ErrorKind::Batch, tried, wrong)
}

fn unusable(path: &Path, source: io::Error) -> Error {
    refused(path, "the operating system refused")
        .next("check the file and the rights on its folder")
        .caused_by(source)
}
