//! What opens: the format as it was first written, and files of all kinds that are no whole index.
#![cfg(feature = "sqlite")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::fs;
use std::path::Path;

use kuhaku_core::{ChunkId, DocumentId, Masked, Roles, Runtime, Scope};
use kuhaku_index::{
    Batch, ChunkIndex, ChunkRecord, DenseQuery, Depth, DocumentRecord, IdKey, OpenOptions,
    SparseQuery, SqliteIndex, Vector, VectorSpace,
};
use sqlx::{ConnectOptions as _, Connection as _};

fn options(folder: &Path) -> OpenOptions {
    OpenOptions::new(folder, Runtime::system())
}

fn document(name: &str, text: &str) -> Batch {
    let canonical = Masked::replacing(text, Vec::new()).canonical();
    let content = IdKey::from_bytes([1; 32]).content_hash(&[text.as_bytes()]);
    let mut record = DocumentRecord::new(DocumentId::new(name).unwrap(), content, canonical);
    record.chunks = vec![ChunkRecord::new(0..text.len())];
    Batch::new().upsert(record)
}

async fn filled(folder: &Path) {
    let index = SqliteIndex::open(options(folder).create(true)).await.unwrap();
    index.apply(document("a", "alpha beta")).await.unwrap();
    index.close().await;
}

async fn execute(folder: &Path, statement: &'static str) {
    let with = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join("index.sqlite3"));
    let mut connection = with.create_if_missing(true).connect().await.unwrap();
    sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// An index as version 1 wrote it: never to be changed.
const VERSION_1: &str = include_str!("version_1.sql");
/// The same as version 2 wrote it: never to be changed.
const VERSION_2: &str = include_str!("version_2.sql");
/// The same as version 3 wrote it: never to be changed.
const VERSION_3: &str = include_str!("version_3.sql");

/// D25
#[tokio::test]
async fn an_index_of_each_earlier_version_is_migrated_with_all_that_it_holds() {
    for version in [VERSION_1, VERSION_2, VERSION_3] {
        migrated(version).await;
    }
}

async fn migrated(version: &'static str) {
    let folder = tempfile::tempdir().unwrap();
    execute(folder.path(), version).await;
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    let insider = Scope::with_roles(Roles::new(["hr"]));
    let reader = index.reader(&insider).await.unwrap();
    let hits = reader.sparse(&SparseQuery::new("alpha gamma", 9)).await.unwrap();
    let ids: Vec<_> = hits.iter().map(|hit| hit.id.to_string()).collect();
    let chunk = |name, ordinal| ChunkId::new(DocumentId::new(name).unwrap(), ordinal).to_string();
    assert_eq!(ids, [chunk("open", 0), chunk("secret", 0)]);
    let chunks = reader.fetch(&[hits[1].id.clone(), hits[0].id.clone()]).await.unwrap();
    assert_eq!(chunks[0].text, "gamma");
    assert_eq!(chunks[1].text, "alpha beta");
    assert_eq!(chunks[1].page, Some(3));
    assert_eq!(chunks[1].metadata["team"], "red");
    let stranger = index.reader(&Scope::anonymous()).await.unwrap();
    assert_eq!(stranger.visible_chunks(), 1);
    let maintenance = index.maintenance();
    assert_eq!(maintenance.documents().await.unwrap().len(), 2, "a retired one is none");
    assert_eq!(maintenance.quarantined().await.unwrap()[0].text, "delta");
    let usage = index.usage().await.unwrap();
    assert!(usage.format == 4 && usage.last_commit.is_some(), "it was migrated");
    index.apply(document("new", "alpha")).await.unwrap();
    // A quarantined chunk is embedded too, for when it is released.
    let space = VectorSpace::new("e", 2);
    let chunks = maintenance.without_vector(&space, 9).await.unwrap();
    assert_eq!(chunks.len(), 4);
    let vector = Vector::new(vec![1.0, 2.0]).unwrap();
    let vectors = chunks.into_iter().map(|chunk| (chunk.id, chunk.hash, vector.clone())).collect();
    assert_eq!(maintenance.stage_vectors(&space, vectors).await.unwrap(), 4);
    assert_eq!(maintenance.adopt_embedder(Some(space)).await.unwrap(), 4);
    let hits = index.reader(&insider).await.unwrap().dense(&DenseQuery::new(vector, 9)).await;
    assert_eq!(hits.unwrap().len(), 3);
    index.close().await;
    let found = SqliteIndex::verify(&options(folder.path()), Depth::Full).await.unwrap();
    assert!(found.is_sound(), "{:?}", found.findings);
}

#[tokio::test]
async fn a_newer_format_is_refused_by_all_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    execute(folder.path(), "PRAGMA user_version = 99").await;
    let before = fs::read(folder.path().join("index.sqlite3")).unwrap();
    let opened = SqliteIndex::open(options(folder.path()).create(true)).await.map(drop);
    let verified = SqliteIndex::verify(&options(folder.path()), Depth::Quick).await.map(drop);
    let repaired = SqliteIndex::repair(&options(folder.path())).await.map(drop);
    for outcome in [opened, verified, repaired] {
        let error = outcome.unwrap_err();
        assert_eq!(error.code(), "index.newer_format");
        assert!(error.to_string().contains("version 99"), "{error}");
        assert!(error.next_step().is_some());
    }
    assert_eq!(fs::read(folder.path().join("index.sqlite3")).unwrap(), before);
}

/// RK-51: no panic, no fresh index over what is there, and what is left of it stays as it is.
#[tokio::test]
async fn files_that_are_no_whole_index_are_errors_for_all_who_open_them() {
    let cut = |bytes: &[u8], at: usize| bytes[..at].to_vec();
    type Damage<'a> = (&'a str, &'a dyn Fn(&[u8]) -> Vec<u8>);
    let damages: &[Damage<'_>] = &[
        ("empty", &|_| Vec::new()),
        ("one byte", &|bytes| cut(bytes, 1)),
        ("cut in half", &|bytes| cut(bytes, bytes.len() / 2)),
        ("cut within the first page", &|bytes| cut(bytes, 1000)),
        ("header of noise", &|bytes| [&[0x5a; 100], &bytes[100..]].concat()),
        ("pages of noise", &|bytes| [&bytes[..100], &vec![0x5a; bytes.len() - 100][..]].concat()),
        ("zeros", &|bytes| vec![0; bytes.len()]),
        ("a text", &|_| b"words, and more words, but no database, for some time".to_vec()),
    ];
    for (name, damage) in damages {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path()).await;
        let file = folder.path().join("index.sqlite3");
        let damaged = damage(&fs::read(&file).unwrap());
        fs::write(&file, &damaged).unwrap();
        for create in [false, true] {
            let opened = SqliteIndex::open(options(folder.path()).create(create)).await;
            let error = opened.expect_err(name);
            assert_eq!(error.code(), "index.corrupt", "{name}: {error}");
            assert!(error.next_step().is_some(), "{name}");
        }
        if let Ok(found) = SqliteIndex::verify(&options(folder.path()), Depth::Full).await {
            assert!(!found.is_sound(), "{name}");
        }
        let error = SqliteIndex::repair(&options(folder.path())).await.map(|repair| repair.aside);
        assert!(matches!(&error, Err(_) | Ok(Some(_))), "{name}: {error:?}");
        if error.is_err() {
            assert_eq!(fs::read(&file).unwrap(), damaged, "{name}");
        }
    }
}

#[tokio::test]
async fn a_folder_in_the_place_of_a_file_is_an_error() {
    for name in ["index.sqlite3", "index.lock"] {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(name)).unwrap();
        let error = SqliteIndex::open(options(folder.path()).create(true)).await.unwrap_err();
        assert!(["index.corrupt", "index.storage"].contains(&error.code()), "{name}: {error}");
        assert!(error.next_step().is_some());
    }
}

/// A copy without its log is the last state that the database itself has.
#[tokio::test]
async fn a_database_whose_log_is_missing_opens_as_it_was_before_that_log() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    filled(folder.path()).await;
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    index.apply(document("b", "alpha gamma")).await.unwrap();
    assert!(folder.path().join("index.sqlite3-wal").metadata().unwrap().len() > 0);
    fs::copy(folder.path().join("index.sqlite3"), copy.path().join("index.sqlite3")).unwrap();
    let copied = SqliteIndex::open(options(copy.path())).await.unwrap();
    assert_eq!(copied.maintenance().documents().await.unwrap().len(), 1);
    copied.close().await;
    let found = SqliteIndex::verify(&options(copy.path()), Depth::Full).await.unwrap();
    assert!(found.is_sound());
}

#[cfg(unix)]
#[tokio::test]
async fn every_file_of_an_index_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("index");
    let index = SqliteIndex::open(options(&folder).create(true)).await.unwrap();
    index.apply(document("a", "alpha")).await.unwrap();
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    let mut files = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.file_name());
        files += 1;
    }
    assert!(files >= 4, "with the log, the shared memory and the lock");
}

#[cfg(unix)]
mod rights {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::*;

    const FOLDER: &str = "KUHAKU_TEST_FOLDER";
    /// A user without rights: `nobody` on most systems.
    const NOBODY: u32 = 65_534;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Runs one of the tests below as a user whom the rights of files bind, which they do not the
    /// system's owner. A copy of the program is made where that user can read it.
    fn as_a_user(name: &str, folder: &Path) {
        let place = tempfile::tempdir().unwrap();
        set(place.path(), 0o755);
        let program = place.path().join("test");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let mut command = Command::new(&program);
        if fs::metadata(folder).unwrap().uid() == 0 {
            for entry in fs::read_dir(folder).unwrap() {
                chown(entry.unwrap().path(), Some(NOBODY), None).unwrap();
            }
            chown(folder, Some(NOBODY), None).unwrap();
            command.uid(NOBODY);
        }
        let name = format!("rights::{name}");
        command.args(["--exact", &name, "--nocapture"]).env(FOLDER, folder);
        let output = command.current_dir("/").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    async fn reads_and_does_not_write(folder: &Path) {
        let index = SqliteIndex::open(options(folder)).await.unwrap();
        let reader = index.reader(&Scope::anonymous()).await.unwrap();
        let hits = reader.sparse(&SparseQuery::new("alpha", 9)).await.unwrap();
        assert_eq!(reader.fetch(&[hits[0].id.clone()]).await.unwrap()[0].text, "alpha beta");
        let error = index.apply(document("b", "beta")).await.unwrap_err();
        assert_eq!(error.code(), "index.storage");
        assert!(error.next_step().is_some());
        index.reader(&Scope::anonymous()).await.unwrap();
        index.close().await;
    }

    #[tokio::test]
    async fn a_folder_that_may_only_be_read_is_read() {
        if let Some(folder) = std::env::var_os(FOLDER) {
            return reads_and_does_not_write(Path::new(&folder)).await;
        }
        for without_marker in [false, true] {
            let place = tempfile::tempdir().unwrap();
            set(place.path(), 0o755);
            let folder = place.path().join("index");
            filled(&folder).await;
            if without_marker {
                fs::remove_file(folder.join("index.open")).unwrap();
            }
            for entry in fs::read_dir(&folder).unwrap() {
                set(&entry.unwrap().path(), 0o400);
            }
            set(&folder, 0o500);
            as_a_user("a_folder_that_may_only_be_read_is_read", &folder);
            set(&folder, 0o700);
        }
    }

    #[tokio::test]
    async fn files_that_may_not_be_read_are_an_error() {
        if let Some(folder) = std::env::var_os(FOLDER) {
            for create in [false, true] {
                let wanted = options(Path::new(&folder)).create(create);
                let error = SqliteIndex::open(wanted).await.unwrap_err();
                assert_eq!(error.code(), "index.storage", "{error}");
                assert!(error.next_step().is_some());
            }
            return;
        }
        for (file, folder_mode) in [(0o000, 0o700), (0o600, 0o000)] {
            let place = tempfile::tempdir().unwrap();
            set(place.path(), 0o755);
            let folder = place.path().join("index");
            filled(&folder).await;
            set(&folder.join("index.sqlite3"), file);
            set(&folder, folder_mode);
            as_a_user("files_that_may_not_be_read_are_an_error", &folder);
            set(&folder, 0o700);
        }
    }
}
