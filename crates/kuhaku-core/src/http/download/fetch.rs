//! The download itself.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Mutex;

use super::super::client::HttpClient;
use super::super::request::HttpRequest;
use super::super::stream::HttpStream;
use super::consented::Consented;
use super::disk::{apart, failed};
use super::file_download::{DownloadProgress, Downloaded, FileDownload};
use super::lock::DownloadLock;
use super::part::Part;
use super::reply::{self, Place};
use crate::error::{Error, ErrorKind, Result, Status};
use crate::resilience::Resilience;
use crate::runtime::Runtime;
use crate::sha256::Sha256;

/// How much is received before it is written, in bytes.
const BATCH: usize = 256 << 10;

/// How often a download that comes on goes on after it broke.
const ROUNDS: u32 = 100;

const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

type OnProgress = Arc<dyn Fn(DownloadProgress) + Send + Sync>;

/// Downloads files. Cheap to clone.
///
/// The future of [`fetch`](Self::fetch) must be polled in a Tokio runtime. Dropping it ends the
/// download and keeps what has come.
///
/// ```no_run
/// use kuhaku_core::{Consented, Downloader, FileDownload, HttpClient, Runtime};
/// # async fn get() -> kuhaku_core::Result<()> {
/// let downloader = Downloader::new(HttpClient::builder().build()?, Runtime::system());
/// let file = FileDownload::new("https://host.example/model.onnx", "models/model.onnx")
///     .sha256("6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452".parse()?)
///     .bytes(90_405_214);
/// let downloaded = downloader.fetch(&file, Consented::given()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Downloader {
    http: HttpClient,
    runtime: Runtime,
    resilience: Resilience,
    idle_timeout: Duration,
    on_progress: OnProgress,
}

impl fmt::Debug for Downloader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Downloader")
            .field("http", &self.http)
            .field("resilience", &self.resilience)
            .field("idle_timeout", &self.idle_timeout)
            .finish_non_exhaustive()
    }
}

/// What the attempts of one download share.
struct Session<'a> {
    file: &'a FileDownload,
    lock: Arc<DownloadLock>,
    part: Mutex<Option<Part>>,
}

impl Downloader {
    /// A downloader that tries four times, with waits in between, before it gives up on a server
    /// that sends nothing new. No breaker counts, since a download that comes on may break often.
    pub fn new(http: HttpClient, runtime: Runtime) -> Self {
        let resilience = Resilience::new(runtime.clone(), "download");
        let resilience = resilience.attempts(4).without_breaker();
        let on_progress: OnProgress = Arc::new(|_| {});
        Self { http, runtime, resilience, idle_timeout: IDLE_TIMEOUT, on_progress }
    }

    /// Tries again in another way.
    pub fn resilience(mut self, resilience: Resilience) -> Self {
        self.resilience = resilience;
        self
    }

    /// How long a server may send nothing; 60 s unless set.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Hears how far a download is, some times a second at most. Must not block.
    pub fn on_progress(mut self, hear: impl Fn(DownloadProgress) + Send + Sync + 'static) -> Self {
        self.on_progress = Arc::new(hear);
        self
    }

    /// Downloads a file, goes on with what has come of it before, or finds it there.
    ///
    /// A file that is there is kept when it has the expected sum, and replaced when it has not. When
    /// no sum and no length is expected, it is kept as it is. While another process downloads the
    /// same file, this waits for it, and takes over if that one fails.
    ///
    /// # Errors
    /// - [`ErrorKind::ChecksumMismatch`], with both sums: another file came. It is not kept.
    /// - [`ErrorKind::MalformedResponse`]: what came is no file, or not of the expected length.
    /// - [`ErrorKind::ResponseTooLarge`]: it is larger than allowed. Nothing of it is kept.
    /// - [`ErrorKind::Storage`]: the disk is full or refuses. What has come is kept.
    /// - Those of [`HttpClient::open`] and of the server's status, after the last attempt. What has
    ///   come is kept.
    pub async fn fetch(&self, file: &FileDownload, _consented: Consented) -> Result<Downloaded> {
        let endpoint = HttpRequest::get(file.url()).address()?;
        if let Some(bytes) = file.expected_bytes().filter(|bytes| *bytes > file.limit()) {
            return Err(too_large(file, &HttpRequest::get(file.url()).shown(), Some(bytes)));
        }
        let lock = self.lock(file.lock_path()).await?;
        if let Some(found) = existing(file).await? {
            return Ok(found);
        }
        let session = Session { file, lock: Arc::new(lock), part: Mutex::new(None) };
        let mut resumed = session.open().await?;
        let had = resumed;
        loop {
            // A process that ended just before the last step has left nothing to ask for.
            let length = session.length().await;
            if length.is_none() || length != file.expected_bytes() {
                let received = self.receive(&session, &endpoint).await;
                if matches!(&received, Err(error) if *error.kind() == ErrorKind::ResponseTooLarge) {
                    session.discard().await?;
                }
                received?;
            }
            match session.complete().await {
                // What an earlier try left may be what is wrong.
                Err(error) if resumed > 0 && *error.kind() == ErrorKind::ChecksumMismatch => {
                    resumed = 0;
                }
                outcome => {
                    let (bytes, sha256) = outcome?;
                    let received = if resumed == had { bytes.saturating_sub(had) } else { bytes };
                    return Ok(Downloaded { bytes, sha256, received });
                }
            }
        }
    }

    /// Waits for the lock at a path, for work around downloads that one process at a time may do. That
    /// somebody else has it is told as progress is. The path must not be that of a download's own.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub async fn lock(&self, path: &std::path::Path) -> Result<DownloadLock> {
        DownloadLock::acquire(path, || (self.on_progress)(DownloadProgress::waiting())).await
    }

    /// Receives all that is missing, as often as it takes while something comes.
    async fn receive(&self, session: &Session<'_>, endpoint: &str) -> Result<()> {
        let mut reached = session.length().await;
        for _ in 0..ROUNDS {
            let attempt = |_| self.attempt(session);
            let Err(error) = self.resilience.call(endpoint, None, attempt).await else {
                return Ok(());
            };
            let length = session.length().await;
            if error.status() == Status::Permanent || length.unwrap_or(0) <= reached.unwrap_or(0) {
                return Err(error);
            }
            reached = length;
        }
        let wrong = format!("the connection broke {ROUNDS} times");
        Err(Error::new(ErrorKind::Unavailable, format!("download from {endpoint}"), wrong)
            .next("try again later; what has come is kept"))
    }

    async fn attempt(&self, session: &Session<'_>) -> Result<()> {
        let mut slot = session.part.lock().await;
        let mut part = session.take(&mut slot).await?;
        let had = part.length();
        let mut request = session.file.request(self.idle_timeout);
        let version = part.version().map(str::to_owned).filter(|_| had > 0);
        if let Some(version) = &version {
            let range = format!("bytes={had}-");
            request = request.header("range", range).header("if-range", version);
        }
        *slot = Some(part);
        let mut reply = self.http.open(request).await?;
        let from = reply.to().to_owned();
        let place = reply::place(&reply);
        if place == Place::Other {
            return Err(self.status(reply, &from));
        }
        let known = reply::version(&reply);
        let same = known.is_none() || known == version || had == 0;
        let (start, total) = match place {
            Place::Whole { length } => (0, length),
            Place::Rest { from, length } if from == had && same => (had, length),
            Place::Beyond { length } if had > 0 && length == Some(had) => return Ok(()),
            _ => {
                part = session.take(&mut slot).await?;
                *slot = Some(session.on(part, |part| part.begin(None)).await?);
                let wrong = "the server sent another part of the file than it was asked for";
                return Err(reply::not_the_file(&from, wrong).with_status(Status::Temporary));
            }
        };
        if let Some(wrong) = reply::refusal(&reply) {
            return Err(reply::not_the_file(&from, wrong));
        }
        check_length(session.file, total, &from)?;
        if start == 0 {
            part = session.take(&mut slot).await?;
            *slot = Some(session.on(part, move |part| part.begin(known)).await?);
        }
        let total = total.or(session.file.expected_bytes());
        self.stream(session, &mut slot, &mut reply, (start, total)).await
    }

    async fn stream(
        &self,
        session: &Session<'_>,
        slot: &mut Option<Part>,
        reply: &mut HttpStream,
        (start, total): (u64, Option<u64>),
    ) -> Result<()> {
        let (mut done, mut held) = (start, 0);
        let mut batch: Vec<Bytes> = Vec::new();
        (self.on_progress)(DownloadProgress::new(done, total));
        loop {
            let next = reply.next_bytes().await;
            if let Ok(Some(bytes)) = &next {
                done += bytes.len() as u64;
                held += bytes.len();
                batch.push(bytes.clone());
                if done > session.file.limit() {
                    return Err(too_large(session.file, reply.to(), None));
                }
                if held < BATCH {
                    continue;
                }
            }
            let pieces = std::mem::take(&mut batch);
            held = 0;
            let part = session.take(slot).await?;
            *slot = Some(session.on(part, move |part| part.append(&pieces)).await?);
            (self.on_progress)(DownloadProgress::new(done, total));
            if next?.is_none() {
                break;
            }
        }
        match total {
            Some(total) if done < total => Err(Error::new(
                ErrorKind::Unavailable,
                format!("download from {}", reply.to()),
                format!("it ended after {done} of {total} bytes"),
            )
            .next("try again later; what has come is kept")),
            _ => Ok(()),
        }
    }

    fn status(&self, reply: HttpStream, from: &str) -> Error {
        let head = reply.into_head();
        let tried = format!("download from {from}");
        head.failure(tried, &self.runtime).unwrap_or_else(|| {
            let wrong = format!("the server answered with status {}", head.status());
            reply::not_the_file(from, wrong)
        })
    }
}

impl Session<'_> {
    /// Opens the part, and says how much of the file has come.
    async fn open(&self) -> Result<u64> {
        let mut slot = self.part.lock().await;
        let part = self.take(&mut slot).await?;
        let length = part.length();
        *slot = Some(part);
        Ok(length)
    }

    /// How much has come; `None` when only a look at the disk would tell.
    async fn length(&self) -> Option<u64> {
        self.part.lock().await.as_ref().map(Part::length)
    }

    async fn discard(&self) -> Result<()> {
        let part = self.take(&mut *self.part.lock().await).await?;
        let path = self.path();
        apart(move || part.discard().map_err(|source| failed("remove a part", &path, source))).await
    }

    /// The part, opened again when work on it failed or was dropped.
    async fn take(&self, slot: &mut Option<Part>) -> Result<Part> {
        if let Some(part) = slot.take() {
            return Ok(part);
        }
        let (path, url) = (self.path(), self.file.url().to_owned());
        let lock = self.lock.clone();
        apart(move || {
            let opened = parent(&path).and_then(|()| Part::open(&path, &url, lock));
            opened.map_err(|source| failed("keep a download", &path, source))
        })
        .await
    }

    /// Works on the part. A part that work has failed on is opened anew later.
    async fn on(
        &self,
        mut part: Part,
        work: impl FnOnce(&mut Part) -> io::Result<()> + Send + 'static,
    ) -> Result<Part> {
        let path = self.path();
        apart(move || {
            work(&mut part).map_err(|source| failed("keep a download", &path, source))?;
            Ok(part)
        })
        .await
    }

    fn path(&self) -> PathBuf {
        self.file.part_path().to_owned()
    }

    /// Checks the part, and makes it the file.
    async fn complete(&self) -> Result<(u64, Sha256)> {
        let mut slot = self.part.lock().await;
        let mut part = self.take(&mut slot).await?;
        let file = self.file.clone();
        apart(move || {
            let broken = |source| failed("complete a download", file.to(), source);
            let (bytes, sum) = (part.length(), part.sum());
            let from = HttpRequest::get(file.url()).shown();
            let beginning = part.beginning().map_err(broken)?;
            let wrong = if reply::is_web_page(&beginning) {
                Some(reply::not_the_file(&from, "a web page came in place of the file"))
            } else if let Err(error) = check_length(&file, Some(bytes), &from) {
                Some(error)
            } else {
                file.expected_sum().filter(|expected| *expected != sum).map(|expected| {
                    let wrong = format!("its SHA-256 is {sum}, and {expected} was expected");
                    let tried = format!("download from {from}");
                    Error::new(ErrorKind::ChecksumMismatch, tried, wrong)
                        .next("try again; if it stays, the file there is not the one that is meant")
                })
            };
            if let Some(wrong) = wrong {
                part.discard().map_err(broken)?;
                return Err(wrong);
            }
            parent(file.to()).and_then(|()| part.finish(file.to())).map_err(broken)?;
            Ok((bytes, sum))
        })
        .await
    }
}

fn parent(path: &std::path::Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)
}

/// The file that is there, if it is the one that is meant.
async fn existing(file: &FileDownload) -> Result<Option<Downloaded>> {
    let file = file.clone();
    apart(move || {
        let read = |source| failed("check a file", file.to(), source);
        let bytes = match std::fs::metadata(file.to()) {
            Ok(found) if found.is_file() => found.len(),
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(read(error)),
        };
        if file.expected_bytes().is_some_and(|expected| expected != bytes) {
            return Ok(None);
        }
        let sha256 = Sha256::of_file(file.to()).map_err(read)?;
        let meant = file.expected_sum().is_none_or(|expected| expected == sha256);
        Ok(meant.then_some(Downloaded { bytes, sha256, received: 0 }))
    })
    .await
}

fn check_length(file: &FileDownload, length: Option<u64>, from: &str) -> Result<()> {
    match (length, file.expected_bytes()) {
        (Some(length), Some(expected)) if length != expected => {
            let wrong = format!("it is {length} bytes long, and {expected} were expected");
            Err(reply::not_the_file(from, wrong))
        }
        (Some(length), None) if length > file.limit() => Err(too_large(file, from, Some(length))),
        _ => Ok(()),
    }
}

fn too_large(file: &FileDownload, from: &str, length: Option<u64>) -> Error {
    let most = file.limit();
    let wrong = match length {
        Some(length) => format!("it is {length} bytes long, and at most {most} are taken"),
        None => format!("it goes on beyond {most} bytes"),
    };
    Error::new(ErrorKind::ResponseTooLarge, format!("download from {from}"), wrong)
        .next("check that the address belongs to the file that you mean")
}
