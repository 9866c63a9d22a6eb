//! What is to be downloaded, and what is told of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;

use super::super::request::HttpRequest;
use crate::sha256::Sha256;

/// The largest file that is taken unless said otherwise, in bytes: 16 GiB.
const LARGEST: u64 = 16 << 30;

/// How often a download is sent elsewhere at most.
const REDIRECTS: u8 = 5;

/// How long the head of a reply may take.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// One file to download. `Debug` shows no token.
///
/// What has come lies beside the file under its name and `.part`, the lock under its name and
/// `.lock`, unless other places are set; all three must be on one file system. The lock stays.
#[derive(Clone)]
#[must_use]
pub struct FileDownload {
    url: String,
    to: PathBuf,
    part: PathBuf,
    lock: PathBuf,
    sha256: Option<Sha256>,
    bytes: Option<u64>,
    largest: u64,
    token: Option<SecretString>,
}

impl FileDownload {
    /// The file at an address, which becomes the file at a path.
    pub fn new(url: impl Into<String>, to: impl Into<PathBuf>) -> Self {
        let to = to.into();
        let (part, lock) = (with_ending(&to, ".part"), with_ending(&to, ".lock"));
        let url = url.into();
        Self { url, to, part, lock, sha256: None, bytes: None, largest: LARGEST, token: None }
    }

    /// Keeps what has come in another place.
    pub fn part(mut self, path: impl Into<PathBuf>) -> Self {
        self.part = path.into();
        self
    }

    /// Locks in another place. Downloads that write one file must share it.
    pub fn lock(mut self, path: impl Into<PathBuf>) -> Self {
        self.lock = path.into();
        self
    }

    /// The sum that the file must have. Without it, what was sent is what is kept.
    pub fn sha256(mut self, sum: Sha256) -> Self {
        self.sha256 = Some(sum);
        self
    }

    /// The length that the file must have, in bytes. One beyond the largest is refused.
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// The largest length that is taken, in bytes; 16 GiB unless set.
    pub fn largest(mut self, bytes: u64) -> Self {
        self.largest = bytes;
        self
    }

    /// A token for the host of the address, which no other host sees.
    pub fn bearer(mut self, token: SecretString) -> Self {
        self.token = Some(token);
        self
    }

    pub(super) fn to(&self) -> &Path {
        &self.to
    }

    pub(super) fn part_path(&self) -> &Path {
        &self.part
    }

    pub(super) fn lock_path(&self) -> &Path {
        &self.lock
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn expected_sum(&self) -> Option<Sha256> {
        self.sha256
    }

    pub(super) fn expected_bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// The most bytes that are written.
    pub(super) fn limit(&self) -> u64 {
        self.bytes.map_or(self.largest, |bytes| bytes.min(self.largest))
    }

    pub(super) fn request(&self, idle_timeout: Duration) -> HttpRequest {
        let request = HttpRequest::get(&self.url)
            .header("accept-encoding", "identity")
            .attempt_timeout(HEAD_TIMEOUT)
            .idle_timeout(idle_timeout)
            .follow_redirects(REDIRECTS);
        match &self.token {
            Some(token) => request.bearer(token),
            None => request,
        }
    }
}

impl fmt::Debug for FileDownload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileDownload")
            .field("to", &self.to)
            .field("sha256", &self.sha256)
            .field("bytes", &self.bytes)
            .field("largest", &self.largest)
            .field("token", &self.token.is_some())
            .finish_non_exhaustive()
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// How far a download is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DownloadProgress {
    /// How many bytes are there, those of an earlier try included.
    pub done: u64,
    /// How many there will be, as far as is known.
    pub total: Option<u64>,
    /// Whether another download of the same file is waited for.
    pub waiting: bool,
}

impl DownloadProgress {
    pub(super) fn new(done: u64, total: Option<u64>) -> Self {
        Self { done, total, waiting: false }
    }

    pub(super) fn waiting() -> Self {
        Self { done: 0, total: None, waiting: true }
    }
}

/// A file that is there, whole and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Downloaded {
    /// Its length.
    pub bytes: u64,
    /// Its sum. When none was expected, this is what came.
    pub sha256: Sha256,
    /// How many bytes this call received; 0 when the file was there already.
    pub received: u64,
}
