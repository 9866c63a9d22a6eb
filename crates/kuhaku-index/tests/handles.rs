//! Several handles and processes on one index folder.
#![cfg(feature = "sqlite")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::future::{Future, poll_fn};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::task::Poll;

use kuhaku_core::{AccessTags, ChunkId, DocumentId, Masked, Roles, Runtime, Scope};
use kuhaku_index::{
    Batch, ChangeOutcome, ChunkIndex, ChunkReader, ChunkRecord, DocumentRecord, Fingerprint, IdKey,
    Language, OpenOptions, SparseQuery, SqliteIndex, Tokenizer,
};

async fn handle(folder: &Path) -> SqliteIndex {
    at(folder, Runtime::system()).await
}

async fn at(folder: &Path, runtime: Runtime) -> SqliteIndex {
    SqliteIndex::open(OpenOptions::new(folder, runtime).create(true)).await.unwrap()
}

/// A clock that stands at so many seconds past noon.
fn clock(seconds: u32) -> Runtime {
    let time = format!("2026-03-01T12:{:02}:{:02}Z", seconds / 60, seconds % 60);
    kuhaku_testkit::fixed_runtime(time.parse().unwrap())
}

fn id(name: &str) -> DocumentId {
    DocumentId::new(name).unwrap()
}

fn document(name: &str, text: &str, tags: &[&str]) -> DocumentRecord {
    let canonical = Masked::replacing(text, Vec::new()).canonical();
    let content = IdKey::from_bytes([1; 32]).content_hash(&[text.as_bytes()]);
    let mut record = DocumentRecord::new(id(name), content, canonical);
    record.tags = AccessTags::new(tags).unwrap();
    record.chunks = vec![ChunkRecord::new(0..text.len())];
    record
}

fn open_document(name: &str, text: &str) -> Batch {
    Batch::new().upsert(document(name, text, &[]))
}

async fn everybody(index: &SqliteIndex) -> Arc<dyn ChunkReader> {
    index.reader(&Scope::anonymous()).await.unwrap()
}

async fn found(reader: &Arc<dyn ChunkReader>, words: &str) -> Vec<String> {
    let hits = reader.sparse(&SparseQuery::new(words, 99)).await.unwrap();
    hits.into_iter().map(|hit| hit.id.document().to_string()).collect()
}

async fn texts(reader: &Arc<dyn ChunkReader>, name: &str) -> Vec<String> {
    let chunks = reader.fetch(&[ChunkId::new(id(name), 0)]).await.unwrap();
    chunks.into_iter().map(|chunk| chunk.text).collect()
}

/// Whether the bytes of the folder hold a word.
fn holds(folder: &Path, word: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    })
}

#[tokio::test]
async fn what_one_handle_commits_another_shows_in_all_that_it_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (handle(folder.path()).await, handle(folder.path()).await);
    two.apply(open_document("a", "alpha")).await.unwrap();
    let stored = one.maintenance().stored(&id("a")).await.unwrap().unwrap();
    assert!(stored.tags.is_empty());
    // A restriction: what decides that a document is unchanged must not be of yesterday.
    two.apply(Batch::new().upsert(document("a", "alpha", &["hr"]))).await.unwrap();
    let stored = one.maintenance().stored(&id("a")).await.unwrap().unwrap();
    assert_eq!(stored.tags, AccessTags::new(["hr"]).unwrap());
    two.apply(Batch::new().upsert(document("a", "alpha", &[]))).await.unwrap();
    let report = one.apply(Batch::new().upsert(document("a", "alpha", &["hr"]))).await.unwrap();
    assert_eq!(report.outcomes, [(id("a"), ChangeOutcome::Updated)]);
    for index in [&one, &two] {
        assert!(found(&everybody(index).await, "alpha").await.is_empty());
        let insider = Scope::with_roles(Roles::new(["hr"]));
        let reader = index.reader(&insider).await.unwrap();
        assert_eq!(found(&reader, "alpha").await, ["a"]);
        assert_eq!(texts(&reader, "a").await, ["alpha"]);
    }

    let mut held = document("b", "beta", &[]);
    held.chunks[0].quarantine = Some("special_token".into());
    two.apply(Batch::new().upsert(held)).await.unwrap();
    let maintenance = one.maintenance();
    assert_eq!(maintenance.documents().await.unwrap().len(), 2);
    assert_eq!(maintenance.quarantined().await.unwrap().len(), 1);
    let totals = maintenance.statistics().await.unwrap();
    assert_eq!((totals.documents, totals.chunks, totals.quarantined), (2, 1, 1));
    assert!(two.maintenance().release(&ChunkId::new(id("b"), 0)).await.unwrap());
    assert_eq!(found(&everybody(&one).await, "beta").await, ["b"]);
    assert_eq!(one.maintenance().statistics().await.unwrap().quarantined, 0);
    two.apply(Batch::new().remove(id("b"))).await.unwrap();
    assert!(one.maintenance().stored(&id("b")).await.unwrap().is_none());
}

#[tokio::test]
async fn a_reader_stays_as_it_was_whichever_handle_writes() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (handle(folder.path()).await, handle(folder.path()).await);
    one.apply(open_document("a", "alpha")).await.unwrap();
    let pinned = everybody(&one).await;
    for round in 0..4 {
        let text = format!("alpha {round}");
        two.apply(open_document("a", &text)).await.unwrap();
        two.apply(open_document("b", &text)).await.unwrap();
        two.apply(Batch::new().remove(id("b"))).await.unwrap();
        one.apply(open_document("c", &text)).await.unwrap();
        assert_eq!(found(&pinned, "alpha").await, ["a"]);
        assert_eq!(pinned.visible_chunks(), 1);
        assert_eq!(texts(&pinned, "a").await, ["alpha"]);
        assert_eq!(texts(&everybody(&one).await, "a").await, [text]);
    }
}

#[tokio::test]
async fn texts_stay_for_readers_whose_handle_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (handle(folder.path()).await, handle(folder.path()).await);
    one.apply(open_document("a", "alpha")).await.unwrap();
    let pinned = everybody(&one).await;
    drop(one);
    two.apply(Batch::new().remove(id("a"))).await.unwrap();
    two.close().await;
    assert_eq!(texts(&pinned, "a").await, ["alpha"]);
}

#[tokio::test]
async fn after_the_grace_time_texts_go_and_their_readers_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (at(folder.path(), clock(0)).await, at(folder.path(), clock(0)).await);
    one.apply(open_document("a", "quokka").upsert(document("b", "wombat", &[]))).await.unwrap();
    let pinned = everybody(&one).await;
    two.apply(Batch::new().remove(id("a"))).await.unwrap();

    let early = at(folder.path(), clock(599)).await;
    early.apply(open_document("c", "numbat")).await.unwrap();
    assert_eq!(texts(&pinned, "a").await, ["quokka"]);

    let late = at(folder.path(), clock(600)).await;
    late.apply(open_document("c", "bilby")).await.unwrap();
    let ids = [ChunkId::new(id("b"), 0), ChunkId::new(id("a"), 0)];
    let error = pinned.fetch(&ids).await.unwrap_err();
    assert_eq!(error.code(), "index.storage");
    assert!(error.next_step().unwrap().contains("ask again"), "{error}");
    assert_eq!(texts(&pinned, "b").await, ["wombat"]);
    assert!(texts(&everybody(&one).await, "a").await.is_empty());
}

/// The own readers of a handle are known, and waited for without end.
#[tokio::test]
async fn a_handle_keeps_what_its_own_readers_need_beyond_the_grace_time() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (at(folder.path(), clock(900)).await, at(folder.path(), clock(0)).await);
    one.apply(open_document("a", "quokka")).await.unwrap();
    let pinned = everybody(&one).await;
    two.apply(Batch::new().remove(id("a"))).await.unwrap();
    for text in ["numbat", "bilby"] {
        one.apply(open_document("b", text)).await.unwrap();
        assert_eq!(texts(&pinned, "a").await, ["quokka"]);
    }
    drop(pinned);
    one.apply(open_document("b", "potoroo")).await.unwrap();
    let mut left = one.maintenance().documents().await.unwrap();
    assert_eq!(left.remove(0).id, id("b"));
}

#[tokio::test]
async fn the_last_to_close_leaves_no_bytes_of_what_was_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (handle(folder.path()).await, handle(folder.path()).await);
    one.apply(open_document("a", "quokka").upsert(document("b", "wombat", &[]))).await.unwrap();
    one.apply(Batch::new().remove(id("a"))).await.unwrap();
    one.close().await;
    assert!(holds(folder.path(), "quokka"), "another handle may read it");
    two.close().await;
    assert!(!holds(folder.path(), "quokka"));
    assert!(holds(folder.path(), "wombat"));
}

#[tokio::test]
async fn a_replacement_is_followed_and_batches_made_for_the_old_settings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (handle(folder.path()).await, handle(folder.path()).await);
    one.apply(open_document("a", "mutations")).await.unwrap();
    let pinned = everybody(&one).await;
    let porter = Fingerprint::new(Tokenizer::Porter, Language::En, "none", "900/90");
    let batch = open_document("b", "mutations");
    two.maintenance().replace(porter.clone(), batch).await.unwrap();
    assert_eq!(found(&everybody(&one).await, "mutation").await, ["b"]);
    assert_eq!(one.fingerprint(), porter);
    assert_eq!(texts(&pinned, "a").await, ["mutations"]);
    let error = one.apply(open_document("c", "mutations")).await.unwrap_err();
    assert_eq!(error.code(), "index.fingerprint_mismatch");
    assert!(error.next_step().is_some());
    two.apply(open_document("c", "mutations")).await.unwrap();
    assert_eq!(found(&everybody(&one).await, "mutation").await, ["b", "c"]);
    one.maintenance().replace(porter, Batch::new()).await.unwrap();
    one.apply(open_document("d", "mutations")).await.unwrap();
    assert_eq!(found(&everybody(&two).await, "mutation").await, ["d"]);
}

/// Polls a future so often at most, then drops it. True when it was ready.
async fn cut<T>(polls: usize, work: impl Future<Output = T>) -> bool {
    let mut work = Box::pin(work);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        work.as_mut().poll(context).map(|_| true)
    })
    .await
}

#[tokio::test]
async fn a_replacement_that_is_cut_anywhere_is_seen_whole_or_not_at_all() {
    let porter = Fingerprint::new(Tokenizer::Porter, Language::En, "none", "none");
    let (mut old, mut new) = (0, 0);
    for polls in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let index = handle(folder.path()).await;
        let before = index.fingerprint();
        index.apply(open_document("a", "alpha").upsert(document("b", "alpha", &[]))).await.unwrap();
        let batch = open_document("c", "alpha").upsert(document("d", "alpha", &[]));
        let ready = cut(polls, index.maintenance().replace(porter.clone(), batch)).await;
        // What was begun ends when the next writer gets its turn.
        index.maintenance().release(&ChunkId::new(id("a"), 0)).await.unwrap();
        let other = handle(folder.path()).await;
        for index in [&index, &other] {
            let reader = everybody(index).await;
            let names = found(&reader, "alpha").await;
            if names == ["a", "b"] {
                assert!(index.fingerprint() == before && !ready);
                old += 1;
            } else {
                assert_eq!(names, ["c", "d"], "after {polls} polls");
                assert_eq!(index.fingerprint(), porter);
                new += 1;
            }
            assert_eq!(texts(&reader, &names[0]).await, ["alpha"]);
        }
        if ready {
            break;
        }
    }
    assert!(old > 5 && new > 1, "{old} saw what was there, {new} what came");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handles_that_read_and_write_at_once_agree_and_miss_no_text() {
    const ROUNDS: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let handles = [handle(folder.path()).await, handle(folder.path()).await];
    let [one, two] = handles.map(Arc::new);
    let writing = tokio::spawn({
        let one = Arc::clone(&one);
        async move {
            for round in 0..ROUNDS {
                let text = format!("alpha {round}");
                let batch = open_document("a", &text).upsert(document("b", &text, &[]));
                one.apply(batch).await.unwrap();
            }
        }
    });
    let mut readings = Vec::new();
    for index in [Arc::clone(&one), two] {
        readings.push(tokio::spawn(async move {
            let last = format!("alpha {}", ROUNDS - 1);
            loop {
                let reader = everybody(&index).await;
                let texts = [texts(&reader, "a").await, texts(&reader, "b").await];
                assert_eq!(texts[0], texts[1], "half a batch was seen");
                if texts[0] == [last.as_str()] {
                    break;
                }
            }
        }));
    }
    writing.await.unwrap();
    for reading in readings {
        reading.await.unwrap();
    }
}

#[tokio::test]
async fn an_earlier_state_that_was_put_back_is_read_as_a_whole() {
    use sqlx::{ConnectOptions as _, Connection as _};
    let folder = tempfile::tempdir().unwrap();
    let index = handle(folder.path()).await;
    index.apply(open_document("a", "alpha").upsert(document("b", "alpha", &[]))).await.unwrap();
    let file = folder.path().join("index.sqlite3");
    let with = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
    let mut connection = with.connect().await.unwrap();
    let earlier =
        "BEGIN; DELETE FROM documents WHERE id = 'b'; DELETE FROM changes WHERE number > 1;
        UPDATE sqlite_sequence SET seq = 1 WHERE name = 'changes';
        UPDATE meta SET value = zeroblob(24) WHERE key = 'commit'; COMMIT";
    sqlx::raw_sql(earlier).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    assert_eq!(found(&everybody(&index).await, "alpha").await, ["a"]);
    index.apply(open_document("c", "alpha")).await.unwrap();
    assert_eq!(found(&everybody(&index).await, "alpha").await, ["a", "c"]);
}

/// The test runs itself as the other process.
#[tokio::test]
async fn another_process_is_followed_and_waits_for_the_readers_of_this_one() {
    const NAME: &str = "another_process_is_followed_and_waits_for_the_readers_of_this_one";
    if let Some(folder) = std::env::var_os("KUHAKU_TEST_INDEX_FOLDER") {
        let index = handle(Path::new(&folder)).await;
        index.apply(open_document("b", "wombat").remove(id("a"))).await.unwrap();
        index.close().await;
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let index = handle(folder.path()).await;
    index.apply(open_document("a", "quokka")).await.unwrap();
    let pinned = everybody(&index).await;
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME])
        .env("KUHAKU_TEST_INDEX_FOLDER", folder.path())
        .output()
        .unwrap()
        .status;
    assert!(status.success());
    assert_eq!(texts(&pinned, "a").await, ["quokka"]);
    assert_eq!(found(&everybody(&index).await, "quokka wombat").await, ["b"]);
    index.close().await;
    assert!(!holds(folder.path(), "quokka"));
}
