//! What updates cost and leave behind.
#![cfg(feature = "sqlite")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::path::Path;
use std::process::{Command, Stdio};

use kuhaku_core::{DocumentId, Masked, Runtime, Scope};
use kuhaku_index::{
    Batch, Bm25, ChangeOutcome, ChunkIndex, ChunkRecord, DocumentRecord, IdKey, OpenOptions,
    SparseQuery, SqliteIndex,
};

async fn made(folder: &Path) -> SqliteIndex {
    let options = OpenOptions::new(folder, Runtime::system()).create(true);
    SqliteIndex::open(options).await.unwrap()
}

fn id(name: &str) -> DocumentId {
    DocumentId::new(name).unwrap()
}

fn document(name: &str, text: &str) -> DocumentRecord {
    let canonical = Masked::replacing(text, Vec::new()).canonical();
    let content = IdKey::from_bytes([1; 32]).content_hash(&[text.as_bytes()]);
    let mut record = DocumentRecord::new(id(name), content, canonical);
    record.source = format!("{name}.md");
    record.chunks = vec![ChunkRecord::new(0..text.len())];
    record
}

async fn found(index: &SqliteIndex, query: SparseQuery) -> Vec<String> {
    let reader = index.reader(&Scope::anonymous()).await.unwrap();
    let hits = reader.sparse(&query).await.unwrap();
    hits.into_iter().map(|hit| hit.id.document().to_string()).collect()
}

fn three() -> Batch {
    let mut keyword = document("c", "stripes");
    keyword.chunks[0].extra = "zebra".into();
    Batch::new()
        .upsert(document("a", "alpha beta"))
        .upsert(document("b", "zebra crossing"))
        .upsert(keyword)
}

/// HY-68
#[tokio::test]
async fn an_unchanged_batch_costs_nothing_and_queries_are_words_not_syntax() {
    let folder = tempfile::tempdir().unwrap();
    let index = made(folder.path()).await;
    let outcomes = |report: kuhaku_index::ApplyReport| -> Vec<ChangeOutcome> {
        report.outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    };
    assert_eq!(outcomes(index.apply(three()).await.unwrap()), [ChangeOutcome::Added; 3]);
    let before = index.usage().await.unwrap();
    assert_eq!(outcomes(index.apply(three()).await.unwrap()), [ChangeOutcome::Unchanged; 3]);
    assert_eq!(index.usage().await.unwrap(), before, "not a byte was written");
    for words in ["\"alpha\" AND (beta", "alpha-beta", "ALPHAS", "NEAR(alpha, 2)", "body:alpha*"] {
        assert_eq!(found(&index, SparseQuery::new(words, 9)).await, ["a"], "{words}");
    }
    for words in ["...", "AND OR NOT", "", "\"", "*"] {
        assert!(found(&index, SparseQuery::new(words, 9)).await.is_empty(), "{words}");
    }
    let mut keywords = Bm25::new(1.2, 0.75);
    keywords.weights.extra = 4.0;
    assert_eq!(found(&index, SparseQuery::new("zebra", 9).bm25(keywords)).await, ["c", "b"]);
}

/// HY-69
#[tokio::test]
async fn updates_leave_one_row_per_document_and_a_change_of_metadata_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let index = made(folder.path()).await;
    index.apply(three()).await.unwrap();
    for text in ["second version", "third version"] {
        index.apply(Batch::new().upsert(document("b", text))).await.unwrap();
    }
    let usage = index.usage().await.unwrap();
    assert_eq!((usage.totals.documents, usage.totals.chunks, usage.retired), (3, 3, 0));
    assert!(found(&index, SparseQuery::new("crossing second", 9)).await.is_empty());
    assert_eq!(found(&index, SparseQuery::new("third", 9)).await, ["b"]);

    let mut changed = document("b", "third version");
    changed.metadata.insert("team".into(), "red".into());
    let report = index.apply(Batch::new().upsert(changed)).await.unwrap();
    assert_eq!(report.outcomes, [(id("b"), ChangeOutcome::Updated)]);
    let reader = index.reader(&Scope::anonymous()).await.unwrap();
    let hits = reader.sparse(&SparseQuery::new("third", 9)).await.unwrap();
    let chunks = reader.fetch(&[hits[0].id.clone()]).await.unwrap();
    assert_eq!((chunks[0].source.as_str(), chunks[0].metadata["team"].as_str()), ("b.md", "red"));
    assert!(hits[0].bm25 > 0.0);
}

/// W-57: what is written for one document, in bytes of the log, is what that document takes.
#[tokio::test]
async fn adding_and_removing_a_document_writes_as_much_in_a_large_index_as_in_a_small_one() {
    let mut costs = Vec::new();
    for size in [500, 10_000] {
        let folder = tempfile::tempdir().unwrap();
        let index = made(folder.path()).await;
        let filled = (0..size).fold(Batch::new(), |batch, number| {
            batch.upsert(document(&format!("d{number}"), &format!("alpha word{number} beta")))
        });
        index.apply(filled).await.unwrap();
        let cost = async |batch: Batch| {
            index.compact().await.unwrap();
            index.apply(batch).await.unwrap();
            index.usage().await.unwrap().log
        };
        let added = cost(Batch::new().upsert(document("new", "gamma delta"))).await;
        let removed = cost(Batch::new().remove(id("new"))).await;
        costs.push((added, removed));
    }
    let [(added, removed), (added_to_many, removed_from_many)] = costs[..] else { unreachable!() };
    assert!(added > 0 && removed > 0);
    assert!(added_to_many <= added * 3 / 2, "{costs:?}");
    assert!(removed_from_many <= removed * 3 / 2, "{costs:?}");
}

fn many(range: std::ops::Range<usize>) -> Batch {
    let names = range.map(|number| format!("d{number}"));
    names.fold(Batch::new(), |batch, name| batch.upsert(document(&name, "alpha")))
}

/// D13
#[tokio::test]
async fn the_log_of_changes_keeps_65536_and_those_of_the_last_batch() {
    let folder = tempfile::tempdir().unwrap();
    let index = made(folder.path()).await;
    let behind = made(folder.path()).await;
    index.apply(many(0..40_000)).await.unwrap();
    index.apply(many(40_000..80_000)).await.unwrap();
    assert_eq!(index.usage().await.unwrap().changes, 80_000);
    let current = made(folder.path()).await;
    index.apply(many(80_000..80_001)).await.unwrap();
    assert_eq!(index.usage().await.unwrap().changes, 65_537);
    for follower in [&behind, &current] {
        let reader = follower.reader(&Scope::anonymous()).await.unwrap();
        assert_eq!(reader.visible_chunks(), 80_001);
    }
}

/// What a large removal leaves does not hold up the next small batch.
#[tokio::test]
async fn a_batch_cleans_up_a_bounded_number_of_documents_behind_itself() {
    let folder = tempfile::tempdir().unwrap();
    let index = made(folder.path()).await;
    index.apply(many(0..2_500)).await.unwrap();
    let names = (0..2_500).map(|number| id(&format!("d{number}")));
    index.apply(names.fold(Batch::new(), Batch::remove)).await.unwrap();
    let mut left = vec![index.usage().await.unwrap().retired];
    for number in 0..2 {
        index.apply(many(number..number + 1)).await.unwrap();
        left.push(index.usage().await.unwrap().retired);
    }
    assert_eq!(left, [1_476, 452, 0]);
}

const FOLDER: &str = "KUHAKU_TEST_FOLDER";

/// RES-04
#[tokio::test]
async fn the_lock_of_a_writer_dies_with_its_process() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let lock = std::fs::File::open(Path::new(&folder).join("index.lock")).unwrap();
        lock.lock().unwrap();
        std::fs::write(Path::new(&folder).join("held"), "").unwrap();
        loop {
            std::thread::park();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let index = made(folder.path()).await;
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_lock_of_a_writer_dies_with_its_process"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !folder.path().join("held").exists() {
        assert!(holder.try_wait().unwrap().is_none(), "the holder has ended");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let refused = index.apply(three()).await.unwrap_err();
    let refused_too = index.compact().await.unwrap_err();
    assert!(found(&index, SparseQuery::new("alpha", 9)).await.is_empty(), "reading goes on");
    // As by a crash: without giving anything back.
    holder.kill().unwrap();
    holder.wait().unwrap();
    for error in [refused, refused_too] {
        assert_eq!(error.code(), "index.locked");
        assert!(error.next_step().is_some());
    }
    index.apply(three()).await.unwrap();
    assert_eq!(found(&index, SparseQuery::new("alpha", 9)).await, ["a"]);
}
