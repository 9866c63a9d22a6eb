//! Maintenance that is dropped halfway.
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
use std::task::Poll;

use kuhaku_core::{DocumentId, Masked, Runtime, Scope};
use kuhaku_index::{
    Batch, ChunkIndex, ChunkRecord, Depth, DocumentRecord, IdKey, OpenOptions, SparseQuery,
    SqliteIndex,
};

fn options(folder: &Path) -> OpenOptions {
    OpenOptions::new(folder, Runtime::system())
}

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

/// An index of two documents, from which a third was removed while a reader needed it.
async fn filled(folder: &Path) -> SqliteIndex {
    let index = SqliteIndex::open(options(folder).create(true)).await.unwrap();
    let batch = ["a", "b", "c"].iter().fold(Batch::new(), |batch, name| {
        batch.upsert(document(name, &format!("alpha {name}{name}")))
    });
    index.apply(batch).await.unwrap();
    let _pinned = index.reader(&Scope::anonymous()).await.unwrap();
    index.apply(Batch::new().remove(id("c"))).await.unwrap();
    index
}

/// Polls a future so often at most, then drops it. What it was ready with.
async fn cut<T>(polls: usize, work: impl Future<Output = T>) -> Option<T> {
    let mut work = Box::pin(work);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        work.as_mut().poll(context).map(Some)
    })
    .await
}

async fn is_whole(index: &SqliteIndex, folder: &Path) {
    let reader = index.reader(&Scope::anonymous()).await.unwrap();
    let hits = reader.sparse(&SparseQuery::new("alpha aa bb cc", 9)).await.unwrap();
    let ids: Vec<_> = hits.iter().map(|hit| hit.id.clone()).collect();
    let texts = reader.fetch(&ids).await.unwrap();
    let texts: Vec<_> = texts.iter().map(|chunk| chunk.text.as_str()).collect();
    assert_eq!(texts, ["alpha aa", "alpha bb"]);
    let found = SqliteIndex::verify(&options(folder), Depth::Full).await.unwrap();
    assert!(found.is_sound(), "{:?}", found.findings);
}

#[tokio::test]
async fn compaction_that_is_cut_anywhere_leaves_a_whole_index_that_can_be_compacted() {
    let mut cuts = 0;
    for polls in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let index = filled(folder.path()).await;
        let done = cut(polls, index.compact()).await;
        is_whole(&index, folder.path()).await;
        if done.is_some() {
            break;
        }
        cuts += 1;
        // The database ends what it was doing before it does anything else.
        let compaction = loop {
            match index.compact().await {
                Ok(compaction) if compaction.is_complete() => break compaction,
                Ok(_) => {}
                Err(error) => assert_eq!(error.code(), "index.locked", "{error}"),
            }
        };
        assert!(compaction.after > 0);
        index.apply(Batch::new().upsert(document("d", "delta"))).await.unwrap();
        index.close().await;
    }
    assert!(cuts > 5, "{cuts}");
}

#[tokio::test]
async fn a_backup_that_is_cut_anywhere_is_not_there_or_whole() {
    let mut cuts = 0;
    for polls in 0.. {
        let place = tempfile::tempdir().unwrap();
        let (folder, copy) = (place.path().join("index"), place.path().join("copy"));
        let index = filled(&folder).await;
        let done = cut(polls, index.backup(&copy)).await;
        if copy.exists() {
            let copied = SqliteIndex::open(options(&copy)).await.unwrap();
            is_whole(&copied, &copy).await;
        }
        is_whole(&index, &folder).await;
        if let Some(backup) = done {
            assert_eq!(backup.unwrap().documents, 2);
            break;
        }
        cuts += 1;
        let again = place.path().join("again");
        index.backup(&again).await.unwrap();
        index.close().await;
    }
    assert!(cuts > 5, "{cuts}");
}

#[tokio::test]
async fn a_repair_that_is_cut_anywhere_can_be_done_again_and_loses_nothing() {
    use sqlx::{ConnectOptions as _, Connection as _};
    let mut cuts = 0;
    for polls in 0.. {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path()).await.close().await;
        let file = folder.path().join("index.sqlite3");
        let with = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
        let mut connection = with.connect().await.unwrap();
        sqlx::raw_sql("UPDATE chunks SET terms = x'ff'").execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        let done = cut(polls, SqliteIndex::repair(&options(folder.path()))).await;
        let again = SqliteIndex::repair(&options(folder.path())).await.unwrap();
        assert_eq!((again.kept, again.lost.len()), (2, 0), "after {polls} polls");
        let index = SqliteIndex::open(options(folder.path())).await.unwrap();
        is_whole(&index, folder.path()).await;
        index.close().await;
        if let Some(repair) = done {
            assert_eq!((repair.unwrap().rebuilt, again.rebuilt), (2, 0));
            break;
        }
        cuts += 1;
    }
    assert!(cuts > 5, "{cuts}");
}

/// As if processes had been killed: folders that nobody removes.
#[tokio::test]
async fn a_backup_removes_what_killed_ones_have_left_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let index = filled(&place.path().join("index")).await;
    let folders = [
        ("copy.unfinished-0123456789abcdef", false),
        ("copy.unfinished-00000000000000ff", false),
        ("copy.unfinished-00000000000000aa", true),
        ("copy.unfinished-0123456789ABCDEF", true),
        ("copy.unfinished-0123", true),
        ("copy.unfinished-0123456789abcdef0", true),
        ("other.unfinished-0123456789abcdef", true),
    ];
    for (name, _) in folders {
        std::fs::create_dir(place.path().join(name)).unwrap();
        std::fs::write(place.path().join(name).join("index.sqlite3"), "half").unwrap();
    }
    let file = place.path().join("copy.unfinished-00000000000000bb");
    std::fs::write(&file, "words").unwrap();
    // The maker of this one is at work.
    let at_work = place.path().join("copy.unfinished-00000000000000aa").join("index.lock");
    let lock = std::fs::File::create(at_work).unwrap();
    lock.lock().unwrap();
    index.backup(&place.path().join("copy")).await.unwrap();
    for (name, stays) in folders {
        assert_eq!(place.path().join(name).exists(), stays, "{name}");
    }
    assert!(file.exists());
    drop(lock);
    let copied = SqliteIndex::open(options(&place.path().join("copy"))).await.unwrap();
    copied.apply(Batch::new().upsert(document("d", "delta"))).await.unwrap();
}
