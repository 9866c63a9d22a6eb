//! Snapshots are caches: with one, without one, or with a broken one, an index is the same.
#![cfg(feature = "sqlite")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::fs;
use std::path::{Path, PathBuf};

use kuhaku_core::{AccessTags, DocumentId, Masked, Roles, Runtime, Scope};
use kuhaku_index::{
    Batch, ChunkIndex, ChunkRecord, DocumentRecord, IdKey, OpenOptions, SparseQuery, SqliteIndex,
};
use proptest::prelude::*;

const DOCUMENTS: usize = 150;

fn options(folder: &Path) -> OpenOptions {
    OpenOptions::new(folder, Runtime::system()).create(true)
}

fn snapshot(folder: &Path) -> PathBuf {
    folder.join("index.snapshot")
}

fn document(number: usize, word: &str) -> DocumentRecord {
    let text = format!("common {word} word{} word{}", number % 7, number % 31);
    let content = IdKey::from_bytes([1; 32]).content_hash(&[text.as_bytes()]);
    let id = DocumentId::new(format!("document-{number:04}")).unwrap();
    let canonical = Masked::replacing(&text, Vec::new()).canonical();
    let mut record = DocumentRecord::new(id, content, canonical);
    record.chunks = vec![ChunkRecord::new(0..text.len())];
    if number.is_multiple_of(3) {
        record.tags = AccessTags::new(["hr"]).unwrap();
    }
    record.metadata.insert("team".into(), format!("team{}", number % 2));
    record
}

fn batch(numbers: std::ops::Range<usize>, word: &str) -> Batch {
    numbers.map(|number| document(number, word)).fold(Batch::new(), Batch::upsert)
}

type Seen = Vec<(String, u64)>;

async fn seen(index: &SqliteIndex) -> Vec<Seen> {
    let mut all = Vec::new();
    for roles in [&[][..], &["hr"]] {
        let scope = Scope::with_roles(Roles::new(roles.iter().copied()));
        let reader = index.reader(&scope).await.unwrap();
        for query in ["common", "word3 word30", "first second third"] {
            let hits = reader.sparse(&SparseQuery::new(query, usize::MAX)).await.unwrap();
            all.push(hits.iter().map(|hit| (hit.id.to_string(), hit.bm25.to_bits())).collect());
        }
    }
    all
}

async fn made(folder: &Path) -> Vec<Seen> {
    let index = SqliteIndex::open(options(folder)).await.unwrap();
    index.apply(batch(0..DOCUMENTS, "first")).await.unwrap();
    let seen = seen(&index).await;
    index.close().await;
    seen
}

async fn reopened(folder: &Path) -> Vec<Seen> {
    let index = SqliteIndex::open(options(folder)).await.unwrap();
    seen(&index).await
}

/// What the database alone says.
async fn rebuilt(folder: &Path) -> Vec<Seen> {
    let alone = tempfile::tempdir().unwrap();
    for name in ["index.sqlite3", "index.sqlite3-wal"] {
        if folder.join(name).exists() {
            fs::copy(folder.join(name), alone.path().join(name)).unwrap();
        }
    }
    reopened(alone.path()).await
}

#[tokio::test]
async fn closing_leaves_a_snapshot_and_opening_gives_the_same_with_and_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let before = made(folder.path()).await;
    assert!(snapshot(folder.path()).exists());
    assert_eq!(reopened(folder.path()).await, before);
    fs::remove_file(snapshot(folder.path())).unwrap();
    assert_eq!(reopened(folder.path()).await, before);
}

#[tokio::test]
async fn what_was_committed_after_the_snapshot_is_there_with_its_tags() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path()).await;
    let old = fs::read(snapshot(folder.path())).unwrap();
    {
        let index = SqliteIndex::open(options(folder.path())).await.unwrap();
        index.apply(batch(DOCUMENTS..DOCUMENTS + 3, "second")).await.unwrap();
        index.apply(batch(0..2, "third")).await.unwrap();
        let gone = DocumentId::new("document-0009").unwrap();
        index.apply(Batch::new().remove(gone)).await.unwrap();
        // As if the process were killed here: nothing is closed.
    }
    assert!(fs::read(snapshot(folder.path())).unwrap() == old);
    let expected = rebuilt(folder.path()).await;
    assert_eq!(reopened(folder.path()).await, expected);
    assert!(expected.iter().flatten().any(|(id, _)| id.contains("0150")), "{expected:?}");
}

#[tokio::test]
async fn a_snapshot_of_another_history_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path()).await;
    let backup = fs::read(folder.path().join("index.sqlite3")).unwrap();
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    index.apply(batch(200..220, "second")).await.unwrap();
    index.close().await;
    let of_then = fs::read(snapshot(folder.path())).unwrap();
    fs::write(folder.path().join("index.sqlite3"), backup).unwrap();
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    index.apply(batch(300..360, "third")).await.unwrap();
    index.close().await;
    fs::write(snapshot(folder.path()), of_then).unwrap();
    assert_eq!(reopened(folder.path()).await, rebuilt(folder.path()).await);
}

/// D20, for the snapshot.
#[tokio::test]
async fn after_compaction_nothing_of_a_removed_document_is_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path()).await;
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    // So many that the snapshot is written anew.
    index.apply(batch(900..901, "zanzibar")).await.unwrap();
    index.apply(batch(400..420, "second")).await.unwrap();
    index.close().await;
    let holds = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.contains("zanzibar") || text.contains("document-0900")
    };
    assert!(holds(&fs::read(snapshot(folder.path())).unwrap()));
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    let gone = DocumentId::new("document-0900").unwrap();
    index.apply(Batch::new().remove(gone)).await.unwrap();
    assert!(index.compact().await.unwrap().is_complete());
    let expected = seen(&index).await;
    index.close().await;
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        assert!(!holds(&fs::read(&path).unwrap()), "{}", path.display());
    }
    assert!(snapshot(folder.path()).exists());
    assert_eq!(reopened(folder.path()).await, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_snapshot_that_is_damaged_anywhere_changes_nothing(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
        tail in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let before = made(folder.path()).await;
            let mut bytes = fs::read(snapshot(folder.path())).unwrap();
            for (at, by) in &flips {
                let at = at.index(bytes.len());
                bytes[at] ^= by;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            bytes.extend(&tail);
            fs::write(snapshot(folder.path()), &bytes).unwrap();
            assert_eq!(reopened(folder.path()).await, before);
        });
    }

    #[test]
    fn a_foreign_file_in_its_place_changes_nothing(bytes in prop::collection::vec(any::<u8>(), 0..99)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let before = made(folder.path()).await;
            for start in [&b""[..], b"kuhakuS\x01", b"kuhakuS\x02"] {
                fs::write(snapshot(folder.path()), [start, &bytes].concat()).unwrap();
                assert_eq!(reopened(folder.path()).await, before);
            }
        });
    }
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_no_regular_file_is_no_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let before = made(folder.path()).await;
    let place = snapshot(folder.path());
    let kept = folder.path().join("kept");
    fs::rename(&place, &kept).unwrap();

    let piped = std::process::Command::new("mkfifo").arg(&place).status().unwrap();
    assert!(piped.success());
    assert_eq!(reopened(folder.path()).await, before, "a pipe");
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    index.compact().await.unwrap();
    index.close().await;
    assert!(
        fs::symlink_metadata(&place).unwrap().is_file(),
        "a snapshot takes the place of a pipe"
    );

    fs::remove_file(&place).unwrap();
    std::os::unix::fs::symlink(&kept, &place).unwrap();
    assert_eq!(reopened(folder.path()).await, before, "a link");

    fs::remove_file(&place).unwrap();
    fs::create_dir(&place).unwrap();
    assert_eq!(reopened(folder.path()).await, before, "a folder");
}
