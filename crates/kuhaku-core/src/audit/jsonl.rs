//! The sink that appends lines to a file, chained by keyed hashes, shared by processes.

use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Result;
use super::anchor::{Anchor, Found};
use super::chain::{AuditLink, link};
use super::error::{Foreign, unwritable};
use super::files::{Files, Stock, creating, open_if_there};
use super::key::AuditKey;
use super::lines::Lines;
use super::prune::{Pruned, prune};
use super::record::AuditRecord;
use super::retention::AuditRetention;
use super::sink::AuditSink;
use crate::Timestamp;

const TRIED: &str = "write to the audit log";

/// Choices of a [`JsonlSink`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JsonlOptions {
    /// The length in bytes that a file shall not exceed; 64 MiB unless set. A record that does not
    /// fit begins a new file; one that is longer has a file to itself.
    pub max_bytes: u64,
    /// Whether each record is forced to the disk before it counts as written. Off unless set:
    /// records then survive `kill -9` and a crash of the process, not a loss of power.
    pub sync: bool,
    /// How long rotated files are kept after their last record; for ever unless set. The log's thread
    /// looks with its first record and then once an hour.
    pub keep: Option<Duration>,
}

impl Default for JsonlOptions {
    fn default() -> Self {
        Self { max_bytes: 64 * 1024 * 1024, sync: false, keep: None }
    }
}

impl JsonlOptions {
    /// Rotates at another length, in bytes.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Forces each record to the disk, or not.
    #[must_use]
    pub fn sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    /// Removes rotated files that are older.
    #[must_use]
    pub fn keep(mut self, keep: Duration) -> Self {
        self.keep = Some(keep);
        self
    }
}

/// Appends records to a file, one JSON object per line.
///
/// Each line carries its number, the hash of the line before and its own, under the key; an anchor
/// file holds the last of them. Any number of threads and processes may write to one log: a lock of
/// the operating system makes them take turns, and each line is one write at the end of the file.
/// Nothing is created before the first record, the folder included.
#[derive(Clone, Debug)]
pub struct JsonlSink {
    files: Files,
    key: AuditKey,
    options: JsonlOptions,
    retention: AuditRetention,
}

impl JsonlSink {
    /// A sink for the log at `path`. Touches no file.
    pub fn new(path: impl Into<PathBuf>, key: AuditKey, options: JsonlOptions) -> Self {
        let retention = AuditRetention::new(options.keep);
        Self { files: Files::new(path.into()), key, options, retention }
    }

    /// The path of the newest file.
    pub fn path(&self) -> &Path {
        self.files.log()
    }

    /// Removes rotated files, oldest first, whose last record ended before `before`. The anchor
    /// remembers where the chain now begins, so that the log still verifies.
    ///
    /// # Errors
    /// [`AuditErrorKind::Damaged`](super::AuditErrorKind::Damaged) at a file that does not verify, which is kept;
    /// [`AuditErrorKind::Write`](super::AuditErrorKind::Write) when the file system fails.
    pub fn prune(&self, before: Timestamp) -> Result<Pruned> {
        prune(&self.files, &self.key, before, self.options.sync)
    }

    fn append(&self, record: &AuditRecord) -> io::Result<()> {
        self.files.create_directory()?;
        let _turn = self.files.lock_to_write()?;
        let mut anchor = match Anchor::load(&self.files, &self.key)? {
            Found::Anchor(anchor) => anchor,
            Found::Nothing | Found::Altered => self.begin()?,
        };
        let mut log = self.open(anchor.length > 0)?;
        self.reconcile(&mut log, &mut anchor)?;
        let (line, place) = link(record, anchor.last, &self.key)?;
        let length = line.len() as u64;
        if anchor.length > 0 && anchor.length.saturating_add(length) > self.options.max_bytes {
            log = self.rotate(log, &mut anchor)?;
        }
        let before = anchor.length;
        anchor.last = place;
        anchor.length += length;
        let written = self.write(&mut log, &line, &anchor);
        if written.is_err() {
            // The failure is what counts; what stays behind is seen to by the next append.
            let _ = log.set_len(before);
            return written;
        }
        if self.options.sync {
            // Names of new files; the record itself stays, whatever comes of this.
            self.files.sync_directory()?;
        }
        Ok(())
    }

    /// Opens the newest file, which has lines if it has `begun`.
    fn open(&self, begun: bool) -> io::Result<File> {
        let log = creating(self.path())?.append(true).open(self.path())?;
        refuse_foreign(&log, begun)?;
        Ok(log)
    }

    fn write(&self, log: &mut File, line: &str, anchor: &Anchor) -> io::Result<()> {
        log.write_all(line.as_bytes())?;
        if self.options.sync {
            log.sync_data()?;
        }
        anchor.store(&self.files, &self.key, self.options.sync)
    }

    /// The anchor of a log that has none. Where records are, the chain begins anew after them, which
    /// does not verify: a lost anchor must stay visible.
    fn begin(&self) -> io::Result<Anchor> {
        let mut anchor = Anchor::fresh();
        let Stock { rotated, newest } = self.files.stock()?;
        for (_, path) in rotated {
            if let Some(file) = open_if_there(&path)? {
                self.count_on(&mut anchor, file)?;
            }
        }
        anchor.first = anchor.last.sequence + 1;
        if let Some((file, length)) = newest {
            refuse_foreign(&file, false)?;
            anchor.length = length;
            // Bounded, since a device in the place of a log may give bytes for ever.
            self.count_on(&mut anchor, file.take(length))?;
        }
        // Before the first line, so that a crash in between does not look like a lost anchor.
        anchor.store(&self.files, &self.key, self.options.sync)?;
        Ok(anchor)
    }

    /// Takes the highest number of a file's records as the last one.
    fn count_on(&self, anchor: &mut Anchor, file: impl io::Read) -> io::Result<()> {
        let mut lines = Lines::new(BufReader::new(file));
        while let Some(line) = lines.next_line()? {
            if let Ok(link) = AuditLink::of(&line, &self.key) {
                anchor.last.sequence = anchor.last.sequence.max(link.place.sequence);
            }
        }
        Ok(())
    }

    /// Makes the anchor agree with the file after a crash, and never hides that lines are gone.
    fn reconcile(&self, log: &mut File, anchor: &mut Anchor) -> io::Result<()> {
        let length = log.metadata()?.len();
        if length == anchor.length {
            return Ok(());
        }
        if length == 0 && self.files.rotated(anchor.first).exists() {
            // The crash was within a rotation.
            anchor.first = anchor.last.sequence + 1;
            anchor.length = 0;
            return Ok(());
        }
        if length > anchor.length {
            self.adopt(log, length, anchor)?;
        } else {
            anchor.length = length;
        }
        if anchor.length > 0 {
            let mut end = [0];
            log.seek(SeekFrom::Start(anchor.length - 1))?;
            log.read_exact(&mut end)?;
            if end != *b"\n" {
                log.write_all(b"\n")?;
                anchor.length += 1;
            }
        }
        Ok(())
    }

    /// Takes over lines that were written when their writer ended before it could say so. One that
    /// was not completed was never acknowledged, and goes.
    fn adopt(&self, log: &mut File, length: u64, anchor: &mut Anchor) -> io::Result<()> {
        log.seek(SeekFrom::Start(anchor.length))?;
        let start = anchor.length;
        let mut lines = Lines::new(BufReader::new((&*log).take(length - start)));
        while let Some(line) = lines.next_line()? {
            if !line.closed {
                return log.set_len(start + line.offset);
            }
            anchor.length = start + line.offset + line.bytes.len() as u64 + 1;
            match AuditLink::of(&line, &self.key) {
                Ok(link) if link.previous == anchor.last.hash => anchor.last = link.place,
                _ => {}
            }
        }
        Ok(())
    }

    /// Puts the full file aside and begins the next one. The chain goes on.
    fn rotate(&self, log: File, anchor: &mut Anchor) -> io::Result<File> {
        let aside = self.files.rotated(anchor.first);
        if aside.exists() {
            // Whatever it is, it is not ours to overwrite.
            return Ok(log);
        }
        anchor.store(&self.files, &self.key, self.options.sync)?;
        fs::rename(self.files.log(), aside)?;
        anchor.first = anchor.last.sequence + 1;
        anchor.length = 0;
        anchor.store(&self.files, &self.key, self.options.sync)?;
        self.open(false)
    }
}

impl AuditSink for JsonlSink {
    fn write(&self, record: &AuditRecord) -> Result<()> {
        self.append(record).map_err(|source| unwritable(TRIED, source))
    }

    /// Prunes as [`JsonlOptions::keep`] says.
    ///
    /// # Errors
    /// Those of [`JsonlSink::prune`].
    fn upkeep(&self, now: Timestamp) -> Result<()> {
        match self.retention.due(now) {
            Some(before) => self.prune(before).map(drop),
            None => Ok(()),
        }
    }

    /// # Errors
    /// [`AuditErrorKind::Write`](super::AuditErrorKind::Write) when the path, or that of a file beside it, is a
    /// folder, a pipe or a socket, when what should be its folder is a file, or when permissions are missing.
    fn check(&self) -> Result<()> {
        check_audit_path(self.path())
    }
}

/// Lines are not added to what another program, or another sink, keeps at the same path. Once a log
/// has begun, any beginning but a database is a matter of verification.
fn refuse_foreign(mut file: &File, begun: bool) -> io::Result<()> {
    const DATABASE: &[u8] = b"SQLite format 3\0";
    const LINE: &[u8] = b"{\"version\":";
    // Reading from a device could wait.
    if !file.metadata()?.is_file() {
        return Ok(());
    }
    let mut head = Vec::with_capacity(DATABASE.len());
    file.take(DATABASE.len() as u64).read_to_end(&mut head)?;
    file.rewind()?;
    // A first line may have been cut short.
    let ours = head.starts_with(LINE) || LINE.starts_with(&head);
    if head == DATABASE || !(begun || ours) {
        return Err(Foreign::error("the file that is there is no audit log"));
    }
    Ok(())
}

/// Whether a log could be written at `path`, judged by what is there. Creates nothing.
///
/// # Errors
/// [`AuditErrorKind::Write`](super::AuditErrorKind::Write) when the path, or that of a file beside it, is a
/// folder, a pipe or a socket, when what should be its folder is a file, or when permissions are missing.
pub fn check_audit_path(path: impl Into<PathBuf>) -> Result<()> {
    Files::new(path.into()).check().map_err(|source| unwritable(TRIED, source))
}
