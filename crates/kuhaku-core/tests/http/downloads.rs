//! Verified downloads: whole or absent, gone on with, one at a time.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use kuhaku_core::{
    Consent, ConsentStep, Consented, DownloadProgress, Downloader, ErrorKind, FileDownload,
    NobodyToAsk, Resilience, Runtime, Sha256,
};
use kuhaku_testkit::transcript::{Ending, Reply, TranscriptServer};
use tempfile::TempDir;

use crate::{SHORT, SOON, client, serve};

/// A file that is longer than what is received before it is written.
pub(crate) fn content() -> Vec<u8> {
    (0..700_000_u32).map(|n| u8::try_from(n * 7 % 251).unwrap()).collect()
}

pub(crate) fn sum_of(content: &[u8]) -> Sha256 {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f"), content).unwrap();
    Sha256::of_file(&folder.path().join("f")).unwrap()
}

/// Waits little, so that what is tried again is tried soon.
pub(crate) fn downloader() -> Downloader {
    let runtime = Runtime::system();
    let resilience = Resilience::new(runtime.clone(), "download")
        .backoff(Duration::from_millis(1), Duration::from_millis(1))
        .without_breaker();
    Downloader::new(client(), runtime).resilience(resilience)
}

/// A folder to download to.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("model.onnx")
    }

    pub(crate) fn part(&self) -> PathBuf {
        self.0.path().join("model.onnx.part")
    }

    pub(crate) fn file(&self, server: &TranscriptServer) -> FileDownload {
        FileDownload::new(format!("{}/model.onnx", server.url()), self.path())
    }
}

fn all() -> Reply {
    Reply::new(200).header("etag", "\"v1\"").piece(content())
}

/// The first `length` bytes, then the end of the connection.
fn cut(length: usize) -> Reply {
    let head =
        format!("HTTP/1.1 200 OK\r\netag: \"v1\"\r\ncontent-length: {}\r\n\r\n", content().len());
    Reply::raw([head.as_bytes(), &content()[..length]].concat())
}

fn rest(from: usize) -> Reply {
    let length = content().len();
    Reply::new(206)
        .header("etag", "\"v1\"")
        .header("content-range", format!("bytes {from}-{}/{length}", length - 1))
        .piece(&content()[from..])
}

fn is_whole(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|found| found == content())
}

/// RES-06: checked, and never downloaded twice.
#[tokio::test]
async fn a_file_is_downloaded_once_and_checked() {
    let server = serve([all()]).await;
    let place = Place::new();
    let heard: Arc<Mutex<Vec<DownloadProgress>>> = Arc::default();
    let downloader = downloader().on_progress({
        let heard = heard.clone();
        move |progress| heard.lock().unwrap().push(progress)
    });
    let file = place.file(&server).sha256(sum_of(&content())).bytes(content().len() as u64);
    let first = downloader.fetch(&file, Consented::given()).await.unwrap();
    assert_eq!(first.received, content().len() as u64);
    assert!(is_whole(&place.path()) && !place.part().exists());
    let heard = heard.lock().unwrap().clone();
    assert!(heard.windows(2).all(|pair| pair[0].done <= pair[1].done), "{heard:?}");
    assert_eq!(heard.last().map(|last| (last.done, last.total)), Some((700_000, Some(700_000))));
    let second = downloader.fetch(&file, Consented::given()).await.unwrap();
    assert_eq!((second.received, second.sha256), (0, first.sha256));
    assert_eq!(server.requests().len(), 1);
}

/// RES-06: a damaged file is replaced.
#[tokio::test]
async fn a_file_that_is_not_the_one_is_replaced() {
    let server = serve([all()]).await;
    let place = Place::new();
    for wrong in [b"short".to_vec(), vec![0; content().len()]] {
        std::fs::write(place.path(), wrong).unwrap();
        let file = place.file(&server).sha256(sum_of(&content()));
        downloader().fetch(&file, Consented::given()).await.unwrap();
        assert!(is_whole(&place.path()));
    }
    let unknown = place.file(&server);
    std::fs::write(place.path(), "anything").unwrap();
    assert_eq!(downloader().fetch(&unknown, Consented::given()).await.unwrap().bytes, 8);
}

/// RES-06: gone on with where it broke.
#[tokio::test]
async fn a_cut_connection_is_gone_on_with_where_it_broke() {
    let server = serve([cut(300_000), rest(300_000)]).await;
    let place = Place::new();
    let file = place.file(&server).sha256(sum_of(&content()));
    downloader().fetch(&file, Consented::given()).await.unwrap();
    assert!(is_whole(&place.path()));
    let requests = server.requests();
    assert_eq!(requests[0].header("range"), None);
    assert_eq!(requests[1].header("range"), Some("bytes=300000-"));
    assert_eq!(requests[1].header("if-range"), Some("\"v1\""));
}

#[tokio::test]
async fn a_download_that_comes_on_outlasts_many_cuts() {
    let script = (0..20).map(|at| {
        let from = at * 10_000;
        let head = format!(
            "HTTP/1.1 206 Partial\r\netag: \"v1\"\r\ncontent-range: bytes {from}-699999/700000\r\n\
             content-length: {}\r\n\r\n",
            700_000 - from
        );
        Reply::raw([head.as_bytes(), &content()[from..from + 10_000]].concat())
    });
    let server = serve(script.chain([rest(200_000)])).await;
    let place = Place::new();
    let file = place.file(&server).sha256(sum_of(&content()));
    downloader().fetch(&file, Consented::given()).await.unwrap();
    assert!(is_whole(&place.path()));
    assert_eq!(server.requests().len(), 21);
}

/// RES-06: gone on with by a later call, which is what a process does that comes after.
#[tokio::test]
async fn a_later_call_goes_on_with_what_was_left() {
    let server = serve([cut(300_000), Reply::new(404)]).await;
    let place = Place::new();
    let file = place.file(&server).sha256(sum_of(&content()));
    downloader().fetch(&file, Consented::given()).await.unwrap_err();
    assert!(place.part().exists() && !place.path().exists());
    drop(server);

    // The address is another one: what came from elsewhere is not gone on with.
    let other = serve([all()]).await;
    let elsewhere = place.file(&other).sha256(sum_of(&content()));
    let found = downloader().fetch(&elsewhere, Consented::given()).await.unwrap();
    assert_eq!(found.received, content().len() as u64);
    assert_eq!(other.requests()[0].header("range"), None);
}

#[tokio::test]
async fn a_server_without_ranges_is_asked_for_all_again() {
    let server = serve([cut(300_000), all()]).await;
    let place = Place::new();
    let file = place.file(&server).sha256(sum_of(&content()));
    downloader().fetch(&file, Consented::given()).await.unwrap();
    assert!(is_whole(&place.path()));
}

#[tokio::test]
async fn parts_of_two_versions_are_never_joined() {
    let old = |bytes: &[u8]| {
        let head = "HTTP/1.1 200 OK\r\netag: \"v0\"\r\ncontent-length: 700000\r\n\r\n";
        Reply::raw([head.as_bytes(), bytes].concat())
    };
    // A server that overlooks `if-range`, one that gives another range, and one that has no more.
    for second in [rest(300_000), rest(299_999), Reply::new(416)] {
        let server = serve([old(&vec![9; 300_000]), second, all()]).await;
        let place = Place::new();
        downloader().fetch(&place.file(&server), Consented::given()).await.unwrap();
        assert!(is_whole(&place.path()));
        assert_eq!(server.requests()[2].header("range"), None);
    }
}

#[tokio::test]
async fn without_a_name_for_its_version_a_part_is_begun_anew() {
    let head = "HTTP/1.1 200 OK\r\netag: W/\"weak\"\r\ncontent-length: 700000\r\n\r\n";
    let weak = Reply::raw([head.as_bytes(), &content()[..300_000]].concat());
    let server = serve([weak, Reply::new(404)]).await;
    let place = Place::new();
    downloader().fetch(&place.file(&server), Consented::given()).await.unwrap_err();
    let again = serve([all()]).await;
    downloader().fetch(&place.file(&again), Consented::given()).await.unwrap();
    assert_eq!(again.requests()[0].header("range"), None);
    assert!(is_whole(&place.path()));
}

/// A process can end after the last byte and before the rename.
#[tokio::test]
async fn a_part_that_is_whole_already_is_only_checked() {
    let length = content().len();
    let beyond = Reply::new(416).header("content-range", format!("bytes */{length}"));
    for (known, requests) in [(true, 2), (false, 3)] {
        let server = serve([cut(length - 1), Reply::new(404), beyond.clone()]).await;
        let place = Place::new();
        let file = place.file(&server).sha256(sum_of(&content()));
        downloader().fetch(&file, Consented::given()).await.unwrap_err();
        let mut part = std::fs::OpenOptions::new().append(true).open(place.part()).unwrap();
        std::io::Write::write_all(&mut part, &content()[length - 1..]).unwrap();
        let file = if known { file.bytes(length as u64) } else { file };
        downloader().fetch(&file, Consented::given()).await.unwrap();
        assert!(is_whole(&place.path()));
        assert_eq!(server.requests().len(), requests);
    }
}

/// RES-06: what is not the file is not kept.
#[tokio::test]
async fn a_file_of_another_sum_is_not_kept_and_both_sums_are_named() {
    let server = serve([Reply::new(200).piece("another file")]).await;
    let place = Place::new();
    let file = place.file(&server).sha256(sum_of(&content()));
    let error = downloader().fetch(&file, Consented::given()).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::ChecksumMismatch);
    for sum in [sum_of(b"another file"), sum_of(&content())] {
        assert!(error.wrong().contains(&sum.to_string()), "{error}");
    }
    assert!(!place.path().exists() && !place.part().exists());
    assert_eq!(server.requests().len(), 1, "the same again would not help");
}

#[tokio::test]
async fn a_damaged_part_costs_one_more_download_and_no_more() {
    let server = serve([cut(300_000), Reply::new(404), rest(300_000), all()]).await;
    let place = Place::new();
    let file = place.file(&server).sha256(sum_of(&content()));
    downloader().fetch(&file, Consented::given()).await.unwrap_err();
    std::fs::write(place.part(), vec![1; 300_000]).unwrap();
    downloader().fetch(&file, Consented::given()).await.unwrap();
    assert!(is_whole(&place.path()));
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_silent_server_is_given_up_and_what_has_come_is_kept() {
    let start = Reply::new(200).header("etag", "\"v1\"").piece(&content()[..400_000]);
    let server = serve([start.ending(Ending::Silence)]).await;
    let place = Place::new();
    let downloader = downloader().idle_timeout(SHORT);
    // One byte is still promised, and never comes.
    let file = place.file(&server);
    let fetched = downloader.fetch(&file, Consented::given());
    let error = tokio::time::timeout(SOON, fetched).await.unwrap().unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::TimedOut);
    assert_eq!(std::fs::metadata(place.part()).unwrap().len(), 400_000);
}

#[tokio::test]
async fn two_downloads_of_one_file_make_one_request() {
    let server = serve([all().after(SHORT)]).await;
    let place = Place::new();
    let waited: Arc<Mutex<bool>> = Arc::default();
    let second = downloader().on_progress({
        let waited = waited.clone();
        move |progress| *waited.lock().unwrap() |= progress.waiting
    });
    let (first_file, second_file) = (place.file(&server), place.file(&server));
    let first_downloader = downloader();
    let (first, second) = tokio::join!(
        first_downloader.fetch(&first_file, Consented::given()),
        second.fetch(&second_file, Consented::given()),
    );
    assert_eq!(first.unwrap().received + second.unwrap().received, content().len() as u64);
    assert!(*waited.lock().unwrap() && is_whole(&place.path()));
    assert_eq!(server.requests().len(), 1);
}

/// R12: dropping ends the work, and the one who waits takes over.
#[tokio::test]
async fn who_waits_takes_over_from_who_is_dropped() {
    let start = Reply::new(200).header("etag", "\"v1\"").piece(&content()[..300_000]);
    let server = serve([start.ending(Ending::Silence), rest(300_000)]).await;
    let place = Place::new();
    let (one, other) = (place.file(&server), place.file(&server));
    let first = tokio::spawn(async move { downloader().fetch(&one, Consented::given()).await });
    let part = place.part();
    let begun = async {
        while std::fs::metadata(&part).map_or(0, |part| part.len()) < 262_144 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, begun).await.unwrap();
    let second = tokio::spawn(async move { downloader().fetch(&other, Consented::given()).await });
    tokio::time::sleep(SHORT).await;
    first.abort();
    assert!(server.abandoned(1, SOON).await);
    tokio::time::timeout(SOON, second).await.unwrap().unwrap().unwrap();
    assert!(is_whole(&place.path()));
}

#[derive(Debug)]
struct Answers(bool);

#[async_trait]
impl Consent for Answers {
    fn is_interactive(&self) -> bool {
        true
    }

    async fn choose(&self, _question: &str, _options: &[String]) -> Option<usize> {
        None
    }

    async fn confirm(&self, _step: &ConsentStep) -> bool {
        self.0
    }
}

/// RES-06: a yes is required.
#[tokio::test]
async fn only_a_clear_yes_is_consent() {
    let step = ConsentStep::new("download a model", "run a command").download("host", Some(9));
    assert!(Consented::ask(&Answers(true), &step).await.is_ok());
    for nobody in [&Answers(false) as &dyn Consent, &NobodyToAsk] {
        let error = Consented::ask(nobody, &step).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::ConsentRequired);
        assert_eq!(error.next_step(), Some("run a command"));
    }
}

/// Work around downloads is done by one at a time, and who waits is told so.
#[tokio::test]
async fn a_lock_is_had_by_one_at_a_time() {
    let place = Place::new();
    let path = place.path().with_file_name("step.lock");
    let waited = Arc::new(AtomicUsize::new(0));
    let hear = waited.clone();
    let second = downloader().on_progress(move |progress| {
        hear.fetch_add(usize::from(progress.waiting), Ordering::Relaxed);
    });
    let first = downloader().lock(&path).await.unwrap();
    let short = Duration::from_millis(50);
    assert!(tokio::time::timeout(short, second.lock(&path)).await.is_err());
    assert_eq!(waited.load(Ordering::Relaxed), 1);
    drop(first);
    let _second = second.lock(&path).await.unwrap();
    assert_eq!(waited.load(Ordering::Relaxed), 1);
}
