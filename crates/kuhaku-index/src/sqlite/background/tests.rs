//! Snapshots in the background, on a disk that is as slow or as full as a test wants it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use kuhaku_core::{Announcement, Announcer, DocumentId, Masked, Runtime, Scope};

use crate::contract::{ChunkIndex as _, Maintenance as _};
use crate::document::{ChunkRecord, DocumentRecord};
use crate::fingerprint::{Fingerprint, Language, Tokenizer};
use crate::identity::IdKey;
use crate::query::SparseQuery;
use crate::snapshot::Disk;
use crate::sqlite::{OpenOptions, SqliteIndex};
use crate::write::Batch;

/// More documents than an open index gets before its first snapshot is begun.
const MANY: usize = 4_100;
/// What erasing must leave nowhere.
const WORD: &str = "zanzibar";

fn id(name: &str) -> DocumentId {
    DocumentId::new(name).unwrap()
}

fn document(name: &str, text: &str) -> DocumentRecord {
    let canonical = Masked::replacing(text, Vec::new()).canonical();
    let content = IdKey::from_bytes([1; 32]).content_hash(&[text.as_bytes()]);
    let mut record = DocumentRecord::new(id(name), content, canonical);
    record.chunks = vec![ChunkRecord::new(0..text.len())];
    record
}

fn many(from: usize) -> Batch {
    let record =
        |n: usize| document(&format!("d{n:05}"), &format!("common w{} w{}", n % 97, n % 311));
    (from..from + MANY).map(record).fold(Batch::new(), Batch::upsert)
}

fn with_word() -> Batch {
    many(0).upsert(document("away", &format!("common {WORD}")))
}

async fn opened(folder: &Path) -> SqliteIndex {
    let options = OpenOptions::new(folder, Runtime::system()).create(true);
    SqliteIndex::open(options).await.unwrap()
}

async fn found(index: &SqliteIndex, words: &str) -> Vec<(String, u64)> {
    let reader = index.reader(&Scope::anonymous()).await.unwrap();
    let hits = reader.sparse(&SparseQuery::new(words, usize::MAX)).await.unwrap();
    hits.iter().map(|hit| (hit.id.to_string(), hit.bm25.to_bits())).collect()
}

fn place(folder: &Path) -> PathBuf {
    folder.join("index.snapshot")
}

fn drafts(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_draft = |path: &PathBuf| path.to_string_lossy().contains("index.snapshot-");
    paths.filter(is_draft).collect()
}

fn holds(path: &Path, word: &str) -> bool {
    let bytes = fs::read(path).unwrap_or_default();
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

/// Whether some file of a folder holds the word.
fn anywhere(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| holds(&entry.unwrap().path(), WORD))
}

#[track_caller]
fn until(what: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !what() {
        assert!(Instant::now() < end, "it does not come");
        thread::sleep(Duration::from_millis(2));
    }
}

/// A disk that stands still in the middle of a draft until it is let go or the draft is stopped.
#[derive(Debug, Default)]
struct Gate {
    is_reached: AtomicBool,
    is_open: AtomicBool,
    /// Drafts that were seen to be stopped.
    stopped: AtomicUsize,
}

impl Gate {
    /// Closes before the next block once the word is in the draft.
    fn before(folder: &Path, word: &'static str) -> (Arc<Self>, Disk) {
        let gate = Arc::new(Self::default());
        let (shared, folder) = (Arc::clone(&gate), folder.to_owned());
        let disk = Disk::new(move |stopped| {
            if shared.is_open.load(Ordering::SeqCst)
                || !drafts(&folder).iter().any(|draft| holds(draft, word))
            {
                return Ok(());
            }
            shared.is_reached.store(true, Ordering::SeqCst);
            while !shared.is_open.load(Ordering::SeqCst) {
                if stopped.load(Ordering::SeqCst) {
                    shared.stopped.fetch_add(1, Ordering::SeqCst);
                    shared.open();
                }
                thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        });
        (gate, disk)
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::SeqCst);
    }

    fn reached(&self) {
        until(|| self.is_reached.load(Ordering::SeqCst));
    }

    fn stopped(&self) -> usize {
        self.stopped.load(Ordering::SeqCst)
    }
}

/// An index whose first background snapshot stands still with the word in it.
async fn at_the_gate(folder: &Path) -> (SqliteIndex, Arc<Gate>) {
    let index = opened(folder).await;
    let (gate, disk) = Gate::before(folder, WORD);
    index.writer.lock().await.kept.disk = Some(disk);
    index.apply(with_word()).await.unwrap();
    gate.reached();
    (index, gate)
}

#[tokio::test]
async fn batches_are_acknowledged_and_readers_read_while_a_snapshot_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let (index, gate) = at_the_gate(folder.path()).await;
    assert!(!place(folder.path()).exists());
    assert_eq!(found(&index, WORD).await.len(), 1);
    // As many again: another one would be due, were there not one already.
    index.apply(many(MANY)).await.unwrap();
    index.apply(many(2 * MANY)).await.unwrap();
    assert_eq!(found(&index, "common").await.len(), 3 * MANY + 1);
    assert_eq!(drafts(folder.path()).len(), 1);
    assert!(!place(folder.path()).exists());
    gate.open();
    // Nothing more has to be called.
    until(|| place(folder.path()).exists() && drafts(folder.path()).is_empty());
    let before = found(&index, "common w3 zanzibar").await;
    // As if it were killed: what came after the snapshot is taken from the log of changes.
    drop(index);
    let again = opened(folder.path()).await;
    assert_eq!(again.writer.lock().await.kept.shown.as_ref().unwrap().number(), MANY as i64 + 1);
    assert_eq!(found(&again, "common w3 zanzibar").await, before);
}

#[tokio::test]
async fn a_snapshot_that_is_being_written_keeps_no_rows_of_what_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (index, gate) = at_the_gate(folder.path()).await;
    index.apply(Batch::new().remove(id("away"))).await.unwrap();
    assert_eq!(index.usage().await.unwrap().retired, 0);
    gate.open();
    index.close().await;
}

/// D20
#[tokio::test]
async fn compaction_stops_a_snapshot_that_is_being_written_and_leaves_no_erased_byte() {
    let folder = tempfile::tempdir().unwrap();
    let (index, gate) = at_the_gate(folder.path()).await;
    index.apply(Batch::new().remove(id("away"))).await.unwrap();
    assert!(drafts(folder.path()).iter().any(|draft| holds(draft, WORD)));
    assert!(index.compact().await.unwrap().is_complete());
    assert_eq!((gate.stopped(), drafts(folder.path()).len()), (1, 0));
    assert!(place(folder.path()).exists() && !anywhere(folder.path()));
    let before = found(&index, "common w3").await;
    index.close().await;
    assert!(!anywhere(folder.path()));
    assert_eq!(found(&opened(folder.path()).await, "common w3").await, before);
}

/// D20: nobody can stop what another process writes, so its file is taken away.
#[tokio::test]
async fn what_another_handle_has_compacted_does_not_come_back_with_a_snapshot_of_this_one() {
    let folder = tempfile::tempdir().unwrap();
    let (index, gate) = at_the_gate(folder.path()).await;
    index.apply(Batch::new().remove(id("away"))).await.unwrap();
    let other = opened(folder.path()).await;
    assert_eq!(drafts(folder.path()).len(), 1, "who opens the index leaves it alone");
    assert!(other.compact().await.unwrap().is_complete());
    assert!(!anywhere(folder.path()));
    let compacted = fs::read(place(folder.path())).unwrap();
    gate.open();
    until(|| index.writer.try_lock().unwrap().kept.is_idle());
    assert!(fs::read(place(folder.path())).unwrap() == compacted);
    // This handle has the word in memory still, as a dead one.
    other.close().await;
    index.apply(many(MANY)).await.unwrap();
    until(|| index.writer.try_lock().unwrap().kept.is_idle());
    index.apply(many(2 * MANY)).await.unwrap();
    index.close().await;
    assert!(fs::read(place(folder.path())).unwrap() != compacted);
    assert!(!anywhere(folder.path()));
}

/// D20: what this handle has not heard of yet.
#[tokio::test]
async fn closing_takes_over_what_others_have_removed_before_it_leaves_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let behind = opened(folder.path()).await;
    behind.apply(Batch::new().upsert(document("away", WORD))).await.unwrap();
    let other = opened(folder.path()).await;
    other.apply(Batch::new().remove(id("away"))).await.unwrap();
    other.apply(many(0)).await.unwrap();
    other.close().await;
    behind.close().await;
    assert!(place(folder.path()).exists() && !holds(&place(folder.path()), WORD));
}

#[tokio::test]
async fn closing_waits_for_a_snapshot_that_will_do() {
    let folder = tempfile::tempdir().unwrap();
    let (index, gate) = at_the_gate(folder.path()).await;
    let later = Arc::clone(&gate);
    let opening = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        later.open();
    });
    index.close().await;
    opening.join().unwrap();
    assert_eq!((gate.stopped(), drafts(folder.path()).len()), (0, 0));
    assert_eq!(index.writer.lock().await.kept.shown, Some(index.shown()));
    assert!(place(folder.path()).exists());
}

#[tokio::test]
async fn closing_replaces_a_snapshot_that_lacks_much() {
    let folder = tempfile::tempdir().unwrap();
    let (index, gate) = at_the_gate(folder.path()).await;
    index.apply(many(MANY)).await.unwrap();
    let before = found(&index, "common w3 zanzibar").await;
    index.close().await;
    assert_eq!((gate.stopped(), drafts(folder.path()).len()), (1, 0));
    assert_eq!(index.writer.lock().await.kept.shown, Some(index.shown()));
    let again = opened(folder.path()).await;
    assert_eq!(again.writer.lock().await.kept.shown, Some(again.shown()));
    assert_eq!(found(&again, "common w3 zanzibar").await, before);
}

#[tokio::test]
async fn a_handle_that_is_dropped_leaves_no_work_and_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (index, gate) = at_the_gate(folder.path()).await;
    drop(index);
    until(|| gate.stopped() == 1 && drafts(folder.path()).is_empty());
    assert!(!place(folder.path()).exists());
}

#[tokio::test]
async fn a_replacement_stops_the_snapshot_of_what_it_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let (index, gate) = at_the_gate(folder.path()).await;
    let other = Fingerprint::new(Tokenizer::Simple, Language::None, "none", "none");
    index.replace(other, many(0)).await.unwrap();
    assert_eq!(gate.stopped(), 1);
    index.close().await;
    assert!(!holds(&place(folder.path()), WORD));
}

#[derive(Debug, Default, Clone)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Announcer for Heard {
    fn announce(&self, announcement: &Announcement) {
        self.0.lock().unwrap().push(announcement.text.clone());
    }
}

#[tokio::test]
async fn snapshots_that_cannot_be_written_leave_the_earlier_one_and_are_announced_once() {
    let folder = tempfile::tempdir().unwrap();
    let index = opened(folder.path()).await;
    index.apply(Batch::new().upsert(document("first", "common"))).await.unwrap();
    index.close().await;
    let earlier = fs::read(place(folder.path())).unwrap();
    let heard = Heard::default();
    let runtime = Runtime::builder().announcer(heard.clone()).build();
    let index = SqliteIndex::open(OpenOptions::new(folder.path(), runtime)).await.unwrap();
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let full = Disk::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Err(io::ErrorKind::StorageFull.into())
    });
    index.writer.lock().await.kept.disk = Some(full);
    for batch in [many(0), many(MANY), many(2 * MANY)] {
        index.apply(batch).await.unwrap();
        until(|| index.writer.try_lock().unwrap().kept.is_idle());
    }
    assert_eq!(tries.load(Ordering::SeqCst), 2, "not with each batch");
    assert!(fs::read(place(folder.path())).unwrap() == earlier);
    assert!(drafts(folder.path()).is_empty());
    {
        let heard = heard.0.lock().unwrap();
        assert_eq!(heard.len(), 1, "{heard:?}");
        assert!(heard.iter().all(|text| text.contains("snapshot")), "{heard:?}");
    }
    index.writer.lock().await.kept.disk = None;
    let before = found(&index, "common w3").await;
    index.close().await;
    let again = opened(folder.path()).await;
    assert_eq!(again.writer.lock().await.kept.shown, Some(again.shown()));
    assert_eq!(found(&again, "common w3").await, before);
}

/// The test runs itself as the process that is killed.
#[tokio::test]
async fn what_a_killed_process_leaves_of_a_snapshot_goes_when_the_index_is_opened() {
    const NAME: &str = "sqlite::background::tests::\
                        what_a_killed_process_leaves_of_a_snapshot_goes_when_the_index_is_opened";
    if let Some(folder) = std::env::var_os("KUHAKU_TEST_KILLED_FOLDER") {
        let folder = PathBuf::from(folder);
        let (_index, _gate) = at_the_gate(&folder.join("index")).await;
        fs::write(folder.join("reached"), "").unwrap();
        loop {
            thread::park();
        }
    }
    let place_of_both = tempfile::tempdir().unwrap();
    let folder = place_of_both.path().join("index");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME])
        .env("KUHAKU_TEST_KILLED_FOLDER", place_of_both.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until(|| place_of_both.path().join("reached").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(drafts(&folder).iter().any(|draft| holds(draft, WORD)));
    let index = opened(&folder).await;
    assert!(drafts(&folder).is_empty() && !place(&folder).exists());
    assert_eq!(found(&index, "common").await.len(), MANY + 1);
    assert_eq!(found(&index, WORD).await.len(), 1);
}
