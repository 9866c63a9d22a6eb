//! Making a new index: all of it or none, and never over what is there.
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

use kuhaku_core::{Runtime, Scope};
use kuhaku_index::{ChunkIndex, IdKey, OpenOptions, SqliteIndex};

fn options(folder: &Path) -> OpenOptions {
    OpenOptions::new(folder, Runtime::system())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Polls a future so often at most, then drops it.
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

#[tokio::test]
async fn creation_that_is_cut_anywhere_leaves_no_index_or_a_whole_one() {
    let (mut without, mut whole) = (0, 0);
    for polls in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let key = IdKey::from_bytes([3; 32]);
        let opening = SqliteIndex::open(options(folder.path()).create(true).id_key(key.clone()));
        let index = cut(polls, opening).await;
        let there = folder.path().join("index.sqlite3").exists();
        match SqliteIndex::open(options(folder.path())).await {
            Ok(again) => {
                assert!(there && again.id_key() == key);
                assert_eq!(again.reader(&Scope::anonymous()).await.unwrap().visible_chunks(), 0);
                whole += 1;
            }
            Err(error) => {
                assert_eq!(error.code(), "index.not_found", "after {polls} polls: {error}");
                assert!(!there);
                without += 1;
                let made = SqliteIndex::open(options(folder.path()).create(true)).await.unwrap();
                made.close().await;
                assert_eq!(names(folder.path()), ["index.lock", "index.open", "index.sqlite3"]);
            }
        }
        if let Some(index) = index {
            index.unwrap();
            break;
        }
    }
    assert!(without > 5 && whole > 1, "{without} cuts before the index was there, {whole} after");
}

#[tokio::test]
async fn what_a_killed_attempt_left_is_removed_and_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("index.new-0123456789abcdef");
    std::fs::create_dir(&site).unwrap();
    std::fs::write(site.join("index.sqlite3"), [0x11; 512]).unwrap();
    let error = SqliteIndex::open(options(folder.path())).await.unwrap_err();
    assert_eq!(error.code(), "index.not_found");
    SqliteIndex::open(options(folder.path()).create(true)).await.unwrap().close().await;
    assert_eq!(names(folder.path()), ["index.lock", "index.open", "index.sqlite3"]);
}

#[tokio::test]
async fn the_log_of_a_removed_index_is_not_replayed_into_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let old = SqliteIndex::open(options(folder.path()).create(true)).await.unwrap();
    old.maintenance().replace(old.fingerprint(), kuhaku_index::Batch::new()).await.unwrap();
    let log = std::fs::read(path("index.sqlite3-wal")).unwrap();
    assert!(!log.is_empty());
    let key = old.id_key();
    old.close().await;
    std::fs::remove_file(path("index.sqlite3")).unwrap();
    std::fs::write(path("index.sqlite3-wal"), log).unwrap();
    let new = SqliteIndex::open(options(folder.path()).create(true)).await.unwrap();
    assert!(new.id_key() != key);
    assert_eq!(new.maintenance().statistics().await.unwrap().documents, 0);
}

#[tokio::test]
async fn a_file_without_the_marks_of_an_index_is_refused_and_left_alone() {
    let header = |bytes: &mut Vec<u8>| bytes.resize(4096, 0);
    let mut blank = b"SQLite format 3\0".to_vec();
    header(&mut blank);
    for content in [Vec::new(), vec![0], vec![0; 4096], blank] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("index.sqlite3");
        std::fs::write(&file, &content).unwrap();
        std::fs::write(folder.path().join("index.sqlite3-wal"), "of use").unwrap();
        for create in [true, false] {
            let refused = SqliteIndex::open(options(folder.path()).create(create)).await;
            let error = refused.unwrap_err();
            assert_eq!(error.code(), "index.corrupt", "{error}");
            let next = error.next_step().unwrap();
            assert!(next.contains("backup") && next.contains("remove"), "{next}");
        }
        assert_eq!(std::fs::read(&file).unwrap(), content);
    }
}

/// A database in which nothing was ever made has no marks either.
#[tokio::test]
async fn an_empty_database_is_no_index() {
    use sqlx::{ConnectOptions as _, Connection as _};
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("index.sqlite3");
    let with = sqlx::sqlite::SqliteConnectOptions::new().filename(&file).create_if_missing(true);
    let mut connection = with.connect().await.unwrap();
    sqlx::raw_sql("VACUUM").execute(&mut connection).await.unwrap();
    sqlx::raw_sql("PRAGMA user_version = 1").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let before = std::fs::read(&file).unwrap();
    assert!(!before.is_empty());
    let error = SqliteIndex::open(options(folder.path()).create(true)).await.unwrap_err();
    assert_eq!(error.code(), "index.corrupt");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}
