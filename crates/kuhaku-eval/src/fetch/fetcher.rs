//! From a name to a folder.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use futures_util::future::FutureExt as _;
use kuhaku_core::{
    ConsentStep, Consented, Downloader, FileDownload, HttpClient, HttpRequest, Runtime, Sha256,
};
use md5::{Digest as _, Md5};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::set::PublicSet;
use super::unpack::unpack;
use crate::datasets::BeirFolder;
use crate::error::{Error, ErrorKind, Result, unreadable, unwritable};

/// Where BEIR's archives are.
const BEIR: &str = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets";

/// The longest archive that is taken, in bytes. The largest of BEIR has a third of it.
const LARGEST: u64 = 4 << 30;

/// The folder that datasets are put into where none is named; the command has the same.
const DEFAULT_FOLDER: &str = "datasets";

/// The folder beside the datasets that holds what is under way and what is remembered.
const APART: &str = ".kuhaku";

/// Fetches public sets into a folder. Its futures must be polled in a Tokio runtime.
#[derive(Clone, Debug)]
#[must_use]
pub struct SetFetcher {
    into: PathBuf,
    from: String,
    http: HttpClient,
    downloader: Downloader,
}

/// What a fetch would do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FetchPlan {
    /// The set.
    pub set: &'static PublicSet,
    /// The folder that there will be.
    pub folder: PathBuf,
    /// The length of the archive in bytes, as far as the server says it.
    pub bytes: Option<u64>,
    host: String,
    /// How a person fetches the same from the same place.
    command: String,
}

/// A set that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchedSet {
    /// Its folder, in BEIR's layout.
    pub folder: PathBuf,
    /// The names of its splits.
    pub splits: Vec<String>,
    /// How many bytes were received.
    pub received: u64,
    /// The sum of its archive.
    pub sha256: Sha256,
    /// Whether the archive was held against a published sum; else its own is recorded, and held
    /// against the archive if it is fetched again.
    pub published: bool,
}

/// What is remembered of an archive.
#[derive(Serialize, Deserialize)]
struct Record {
    version: u32,
    /// Host and path: an address may hold what nobody else should read.
    #[serde(alias = "url")]
    from: String,
    sha256: Sha256,
}

impl FetchPlan {
    /// The step to be consented to.
    pub fn step(&self) -> ConsentStep {
        let bound = format!(", at most {} MB", LARGEST.div_ceil(1_000_000));
        let bound = if self.bytes.is_none() { bound } else { String::new() };
        let what = format!("download the dataset {}{bound}", self.set.name);
        ConsentStep::new(what, self.command.clone()).download(self.host.clone(), self.bytes)
    }
}

impl SetFetcher {
    /// Fetches BEIR's archives into folders of this folder.
    pub fn new(into: impl Into<PathBuf>, http: HttpClient, runtime: Runtime) -> Self {
        let downloader = Downloader::new(http.clone(), runtime);
        Self { into: into.into(), from: BEIR.into(), http, downloader }
    }

    /// Takes the archives from a mirror: the address that stands before `/NAME.zip`, without a name,
    /// a password or a query.
    pub fn mirror(mut self, address: impl Into<String>) -> Self {
        self.from = address.into();
        self
    }

    /// Downloads in another way, for example telling how far it is.
    pub fn downloader(mut self, downloader: Downloader) -> Self {
        self.downloader = downloader;
        self
    }

    /// The folder of a set, if it is there already. The network is not asked.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSet`].
    pub fn find(&self, name: &str) -> Result<Option<PathBuf>> {
        let folder = self.into.join(PublicSet::find(name)?.name);
        Ok(BeirFolder::open(&folder).is_ok().then_some(folder))
    }

    /// What fetching a set would do. The server is asked for the length of the archive.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSet`]; [`ErrorKind::InvalidInput`] when the mirror's address is none or
    /// holds a secret; [`ErrorKind::Core`] with what the server or the network says, also when the
    /// archive is longer than any that is taken.
    pub async fn plan(&self, name: &str) -> Result<FetchPlan> {
        let set = PublicSet::find(name)?;
        let folder = self.into.join(set.name);
        self.check_address()?;
        let request = HttpRequest::get(self.url(set)).follow_redirects(5);
        let address = request.address().map_err(of_core)?;
        let host = address.split('/').nth(2).unwrap_or_default().to_owned();
        // Only the head is waited for; what is wrong with the reply, the fetch will say.
        let reply = self.http.open(request).await.map_err(of_core)?;
        let length = reply.header("content-length").filter(|_| reply.is_success());
        let bytes = length.and_then(|length| length.parse().ok());
        // With the reply goes its connection, and what was on its way.
        drop(reply);
        if let Some(bytes) = bytes.filter(|bytes| *bytes > LARGEST) {
            let wrong = format!("it is {bytes} bytes long, and at most {LARGEST} are taken");
            let kind = ErrorKind::Core(kuhaku_core::ErrorKind::ResponseTooLarge);
            return Err(Error::new(kind, format!("fetch the dataset {}", set.name), wrong)
                .next("check the address of the mirror"));
        }
        Ok(FetchPlan { set, folder, bytes, host, command: self.command(set) })
    }

    /// Downloads, checks and unpacks a set. The folder is there only when all of it is. What has
    /// come is kept when this fails or is dropped, and gone on with.
    ///
    /// # Errors
    /// [`ErrorKind::Core`] with those of [`Downloader::fetch`]; [`ErrorKind::Mismatch`] when the
    /// archive is another than the one that was published or came before;
    /// [`ErrorKind::InvalidDataset`] when it is broken, leads elsewhere or holds no dataset;
    /// [`ErrorKind::Unwritable`].
    pub async fn fetch(&self, plan: &FetchPlan, consented: Consented) -> Result<FetchedSet> {
        let set = plan.set;
        self.check_address()?;
        let apart = self.into.join(APART);
        // One process at a time downloads, checks, unpacks and removes.
        let lock = self.downloader.lock(&apart.join(format!("{}.lock", set.name))).await;
        let lock = lock.map_err(of_core)?;
        let archive = apart.join(format!("{}.zip", set.name));
        let record_at = apart.join(format!("{}.json", set.name));
        if let Some(there) = already(set, &plan.folder, &record_at) {
            return Ok(there);
        }
        let url = self.url(set);
        let from = HttpRequest::get(&url).address().map_err(of_core)?;
        // What was agreed to, and a little more: the server may have said it of another version.
        let most = plan.bytes.map_or(LARGEST, |bytes| bytes.saturating_add(1 << 20).min(LARGEST));
        let file = FileDownload::new(&url, &archive).largest(most);
        let came = self.downloader.fetch(&file, consented).await.map_err(of_core)?;
        let folder = plan.folder.clone();
        let work = spawn_blocking(move || {
            // Held to the end of this work, which goes on when nobody waits for it any longer.
            let _lock = lock;
            let checked = check(set, &archive, &record_at, came.sha256);
            if checked.is_err() {
                // The next try shall not find what is known to be wrong.
                let _ = fs::remove_file(&archive);
            }
            let published = checked?;
            remove_leftovers(set, &apart);
            let unpacking = apart.join(format!("{}.{}", set.name, std::process::id()));
            let outcome = place(set, &archive, &unpacking, &folder);
            let _ = fs::remove_dir_all(&unpacking);
            if matches!(&outcome, Err(error) if *error.kind() == ErrorKind::InvalidDataset) {
                let _ = fs::remove_file(&archive);
            }
            let splits = outcome?;
            let record = Record { version: 1, from, sha256: came.sha256 };
            write(&record_at, &record)?;
            let _ = fs::remove_file(&archive);
            let (received, sha256) = (came.received, came.sha256);
            Ok(FetchedSet { folder, splits, received, sha256, published })
        });
        work.map(|done| {
            done.unwrap_or_else(|stopped| {
                let kind = ErrorKind::Core(kuhaku_core::ErrorKind::Cancelled);
                Err(Error::new(kind, "unpack a dataset", "the work on the disk was stopped")
                    .next("try again")
                    .caused_by(stopped))
            })
        })
        .await
    }

    /// What is wrong with an address, none of which is shown: the wrong part may be a secret.
    fn check_address(&self) -> Result<()> {
        let rest = ["https://", "http://"].iter().find_map(|start| self.from.strip_prefix(start));
        let plain = |rest: &str| !rest.is_empty() && !rest.contains(['@', '?', '#', ' ']);
        if rest.is_some_and(plain) {
            return Ok(());
        }
        let wrong = "its address must begin with http:// or https://, and hold no name, password or \
                     query";
        Err(Error::new(ErrorKind::InvalidInput, "fetch a dataset from a mirror", wrong)
            .next("give the address that stands before /NAME.zip"))
    }

    fn command(&self, set: &PublicSet) -> String {
        let mut command = format!("run `kuhaku eval fetch {}", set.name);
        if self.into != Path::new(DEFAULT_FOLDER) {
            command += &format!(" --into {}", quoted(&self.into.display().to_string()));
        }
        if self.from != BEIR {
            command += &format!(" --mirror {}", quoted(&self.from));
        }
        command + " --yes`"
    }

    fn url(&self, set: &PublicSet) -> String {
        format!("{}/{}.zip", self.from.trim_end_matches('/'), set.name)
    }
}

/// As one word of a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-:+,=".contains(c);
    if word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// The set that another process has fetched while this one waited.
fn already(set: &PublicSet, folder: &Path, record: &Path) -> Option<FetchedSet> {
    let splits = BeirFolder::open(folder).ok()?.splits().ok()?;
    let sha256 = read(record)?.sha256;
    let (folder, published) = (folder.to_owned(), set.md5.is_some());
    Some(FetchedSet { folder, splits, received: 0, sha256, published })
}

/// Removes what processes that were killed have left half unpacked. Only under the lock.
fn remove_leftovers(set: &PublicSet, apart: &Path) {
    for entry in fs::read_dir(apart).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(set.name)?.strip_prefix('.'));
        let of_process = process.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
        // A link is not followed: only folders are folders here.
        if of_process && entry.file_type().is_ok_and(|found| found.is_dir()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn of_core(error: kuhaku_core::Error) -> Error {
    error.map_kind(ErrorKind::Core)
}

/// Holds an archive against what is published or remembered; says whether something was published.
fn check(set: &PublicSet, archive: &Path, record: &Path, sha256: Sha256) -> Result<bool> {
    let other = |sum: &str, found: &str, expected: &str| {
        let wrong = format!("the {sum} of its archive is {found}, and {expected} was expected");
        Error::new(ErrorKind::Mismatch, format!("fetch the dataset {}", set.name), wrong)
            .next("try again; if it stays, the archive there is not the one that was published")
    };
    if let Some(expected) = set.md5 {
        let found = md5_of(archive).map_err(|source| unreadable(archive, source))?;
        if found != expected {
            return Err(other("MD5", &found, expected));
        }
    }
    match read(record) {
        Some(known) if known.sha256 != sha256 => {
            Err(other("SHA-256", &sha256.to_string(), &known.sha256.to_string()))
        }
        _ => Ok(set.md5.is_some()),
    }
}

fn md5_of(path: &Path) -> io::Result<String> {
    let (mut hasher, mut file) = (Md5::new(), File::open(path)?);
    let mut piece = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut piece)?;
        let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else {
            let digits = hasher.finalize();
            return Ok(digits.iter().map(|byte| format!("{byte:02x}")).collect());
        };
        hasher.update(bytes);
    }
}

/// Unpacks beside, looks whether it is a dataset, and puts it into its place in one step.
fn place(set: &PublicSet, archive: &Path, unpacking: &Path, folder: &Path) -> Result<Vec<String>> {
    if let Ok(there) = BeirFolder::open(folder) {
        // Another process was first.
        return there.splits();
    }
    let _ = fs::remove_dir_all(unpacking);
    let invalid = |wrong: String| {
        Error::new(ErrorKind::InvalidDataset, format!("unpack the dataset {}", set.name), wrong)
            .next("try again; if it stays, the archive there is not the one that was published")
    };
    unpack(archive, unpacking).map_err(|source| match source.kind() {
        io::ErrorKind::InvalidData => invalid(format!("the archive is broken: {source}")),
        _ => unwritable(unpacking, source),
    })?;
    let lacking = |error: Error| invalid("the archive holds no dataset".into()).caused_by(error);
    let found = BeirFolder::open(unpacking).map_err(lacking)?;
    found.corpus().map_err(lacking)?;
    let splits = found.splits().map_err(lacking)?;
    if folder.exists() {
        let wrong = "there is a folder of that name which is no dataset";
        return Err(Error::new(
            ErrorKind::Unwritable,
            format!("write {}", folder.display()),
            wrong,
        )
        .next("move it away, or fetch into another folder"));
    }
    fs::rename(unpacking, folder).map_err(|source| unwritable(folder, source))?;
    Ok(splits)
}

fn read(record: &Path) -> Option<Record> {
    serde_json::from_slice(&fs::read(record).ok()?).ok()
}

fn write(path: &Path, record: &Record) -> Result<()> {
    let new = path.with_extension("json.new");
    // What is in its place may be a link to somewhere else.
    let _ = fs::remove_file(&new);
    let json = serde_json::to_vec_pretty(record).map_err(io::Error::from);
    json.and_then(|json| fs::write(&new, json))
        .and_then(|()| fs::rename(&new, path))
        .map_err(|source| unwritable(path, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetcher(into: &Path, mirror: &str) -> SetFetcher {
        let http = HttpClient::builder().build().unwrap();
        SetFetcher::new(into, http, Runtime::system()).mirror(mirror)
    }

    #[test]
    fn a_mirror_is_an_address_without_secrets() {
        for (mirror, taken) in [
            (BEIR, true),
            ("http://127.0.0.1:80/beir/", true),
            ("https://me:pw@host", false),
            ("https://me@host", false),
            ("https://host/?key=pw", false),
            ("https://host/#pw", false),
            ("file:///pw", false),
            ("host", false),
            ("https://", false),
            ("", false),
        ] {
            let checked = fetcher(Path::new("datasets"), mirror).check_address();
            assert_eq!(checked.is_ok(), taken, "{mirror}");
            assert!(!checked.err().is_some_and(|error| error.to_string().contains("pw")));
        }
    }

    #[test]
    fn the_command_names_what_is_not_as_usual() {
        let set = PublicSet::find("scifact").unwrap();
        for (into, mirror, command) in [
            ("datasets", BEIR, "run `kuhaku eval fetch scifact --yes`"),
            ("a/b", BEIR, "run `kuhaku eval fetch scifact --into a/b --yes`"),
            (
                "it's here",
                "http://h",
                "run `kuhaku eval fetch scifact --into 'it'\\''s here' --mirror http://h --yes`",
            ),
        ] {
            assert_eq!(fetcher(Path::new(into), mirror).command(set), command);
        }
    }

    #[test]
    fn only_what_dead_processes_left_of_this_set_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let apart = folder.path();
        for name in ["nq.12", "nq.12x", "nq.json", "fiqa.12"] {
            fs::create_dir_all(apart.join(name).join("qrels")).unwrap();
        }
        fs::write(apart.join("nq.13"), "a file").unwrap();
        remove_leftovers(PublicSet::find("nq").unwrap(), apart);
        assert!(!apart.join("nq.12").exists());
        assert_eq!(fs::read_dir(apart).unwrap().count(), 4);
    }

    /// Answers one connection after the other with these.
    fn serve(replies: Vec<Vec<u8>>) -> String {
        use std::io::{BufRead as _, BufReader, Write as _};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for reply in replies {
                let (mut stream, _) = listener.accept().unwrap();
                let head = BufReader::new(stream.try_clone().unwrap()).lines();
                let read = head.map_while(std::result::Result::ok).take_while(|it| !it.is_empty());
                assert!(read.count() > 0);
                // Who has seen enough leaves.
                let _ = stream.write_all(&reply);
            }
        });
        format!("http://{address}")
    }

    /// R3: more than was agreed to is not taken, though the server sends it.
    #[tokio::test]
    async fn what_was_agreed_to_bounds_what_is_taken() {
        let said = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n".to_vec();
        let endless = [&b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"[..], &[7; 3 << 20]];
        let folder = tempfile::tempdir().unwrap();
        let mirror = serve(vec![said, endless.concat()]);
        let fetcher = fetcher(folder.path(), &mirror);
        let plan = fetcher.plan("nq").await.unwrap();
        assert_eq!(plan.step().bytes, Some(9));
        let error = fetcher.fetch(&plan, Consented::given()).await.unwrap_err();
        let kind = ErrorKind::Core(kuhaku_core::ErrorKind::ResponseTooLarge);
        assert_eq!(*error.kind(), kind, "{error}");
        assert!(!folder.path().join(APART).join("nq.zip.part").exists());
    }

    #[tokio::test]
    async fn a_length_that_no_set_has_ends_the_plan() {
        let huge = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", u64::MAX / 2);
        let folder = tempfile::tempdir().unwrap();
        let mirror = serve(vec![huge.into_bytes()]);
        let error = fetcher(folder.path(), &mirror).plan("nq").await.unwrap_err();
        let kind = ErrorKind::Core(kuhaku_core::ErrorKind::ResponseTooLarge);
        assert_eq!(*error.kind(), kind, "{error}");
    }

    /// A record of an earlier version is read, and no longer holds an address when it is written.
    #[test]
    fn what_was_recorded_before_still_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (path, sum) = (folder.path().join("r.json"), "0".repeat(64));
        let before = format!(r#"{{"version":1,"url":"http://h/nq.zip","sha256":"{sum}"}}"#);
        fs::write(&path, before).unwrap();
        assert_eq!(read(&path).unwrap().sha256.to_string(), sum);
    }
}
