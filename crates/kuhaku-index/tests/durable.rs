//! The engine on disk: what persists, who may write, and what is refused.
#![cfg(feature = "sqlite")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::path::Path;

use kuhaku_core::{ChunkId, DocumentId, Masked, Runtime, Scope};
use kuhaku_index::{
    Batch, Bm25, ChangeOutcome, ChunkIndex, ChunkRecord, DocumentRecord, Error, Fingerprint,
    FingerprintParts, IdKey, Language, OpenOptions, SparseHit, SparseQuery, SqliteIndex, Tokenizer,
};

fn options(folder: &Path) -> OpenOptions {
    OpenOptions::new(folder, Runtime::system())
}

async fn made(folder: &Path) -> SqliteIndex {
    SqliteIndex::open(options(folder).create(true)).await.unwrap()
}

async fn refused(options: OpenOptions) -> Error {
    SqliteIndex::open(options).await.unwrap_err()
}

fn document(id: &str, text: &str) -> DocumentRecord {
    let canonical = Masked::replacing(text, Vec::new()).canonical();
    let content = IdKey::from_bytes([1; 32]).content_hash(&[text.as_bytes()]);
    let mut record = DocumentRecord::new(DocumentId::new(id).unwrap(), content, canonical);
    record.chunks = vec![ChunkRecord::new(0..text.len())];
    record
}

async fn hits(index: &SqliteIndex, query: SparseQuery) -> Vec<SparseHit> {
    index.reader(&Scope::anonymous()).await.unwrap().sparse(&query).await.unwrap()
}

/// FAC-05: the part of the index. RK-36
#[tokio::test]
async fn what_was_stored_is_there_after_re_opening_with_the_same_settings() {
    let folder = tempfile::tempdir().unwrap();
    let query = || SparseQuery::new("refunds in spring", 3).bm25(Bm25::new(1.2, 0.5));
    let fingerprint = Fingerprint::new(Tokenizer::Porter, Language::En, "pii-1", "500/80");
    let (before, key) = {
        let wanted = options(folder.path()).create(true).fingerprint(fingerprint.clone());
        let index = SqliteIndex::open(wanted).await.unwrap();
        let batch = Batch::new()
            .upsert(document("a", "Refunds are paid within thirty days."))
            .upsert(document("b", "The spring sale has no refunds."));
        index.apply(batch).await.unwrap();
        let found = hits(&index, query()).await;
        index.close().await;
        (found, index.id_key())
    };
    assert_eq!(before.len(), 2);
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    assert_eq!(index.fingerprint(), fingerprint);
    assert!(index.id_key() == key);
    let after = hits(&index, query()).await;
    assert_eq!(after, before);
    let bits = |hits: &[SparseHit]| hits.iter().map(|hit| hit.bm25.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&after), bits(&before));
}

/// RK-36: another tokenizer is an error, not other results.
#[tokio::test]
async fn other_settings_than_the_stored_ones_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let index = made(folder.path()).await;
    index.close().await;
    let mut parts = FingerprintParts::default();
    parts.tokenizer = Some(Tokenizer::Simple);
    parts.chunker = Some("900/90".into());
    let error = refused(options(folder.path()).fingerprint(parts)).await;
    assert_eq!(error.code(), "index.fingerprint_mismatch");
    assert!(error.wrong().contains("tokenizer") && error.wrong().contains("chunker"), "{error}");
    let next = error.next_step().unwrap();
    for name in ["rag.tokenizer", "rag.chunk_size", "rag.chunk_overlap", "rag.chunk_unit"] {
        assert!(next.contains(&format!("`{name}`")), "{next}");
    }
    assert!(!next.contains("rag.language"), "{next}");
    assert!(next.contains("kuhaku ingest … --reindex"));

    let mut parts = FingerprintParts::default();
    parts.masker = Some("pii-9".into());
    let error = refused(options(folder.path()).fingerprint(parts)).await;
    assert!(!error.to_string().contains("rag."), "{error}");

    let mut parts = FingerprintParts::default();
    parts.tokenizer = Some(Tokenizer::Default);
    assert!(SqliteIndex::open(options(folder.path()).fingerprint(parts)).await.is_ok());

    let key = IdKey::from_bytes([9; 32]);
    let error = refused(options(folder.path()).id_key(key)).await;
    assert_eq!(error.code(), "index.invalid_input");
}

#[tokio::test]
async fn a_missing_index_is_not_made_unless_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let nested = folder.path().join("none");
    let error = refused(options(&nested)).await;
    assert_eq!(error.code(), "index.not_found");
    assert_eq!(error.tried(), format!("open the index `{}`", nested.display()));
    assert_eq!(error.wrong(), format!("`{}` holds no index", nested.display()));
    assert!(error.next_step().is_some());
    assert!(!nested.exists());
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_folder_is_its_owners_alone_and_one_that_is_there_keeps_its_mode() {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| metadata(path).unwrap().permissions().mode() & 0o777;
    let place = tempfile::tempdir().unwrap();
    let plain = place.path().join("plain");
    std::fs::create_dir(&plain).unwrap();
    let above = place.path().join("above");
    let new = above.join("index");
    made(&new).await.close().await;
    assert_eq!(mode(&new), 0o700);
    assert_eq!(mode(&above), mode(&plain), "folders above are ordinary");
    made(&new).await.close().await;
    assert_eq!(mode(&new), 0o700);

    set_permissions(&plain, Permissions::from_mode(0o755)).unwrap();
    made(&plain).await.close().await;
    assert_eq!(mode(&plain), 0o755);
}

#[tokio::test]
async fn folders_that_cannot_be_used_are_errors_with_a_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "words").unwrap();
    for place in [file.clone(), file.join("inside")] {
        for create in [false, true] {
            let error = refused(options(&place).create(create)).await;
            assert!(["index.storage", "index.not_found"].contains(&error.code()), "{error}");
            assert!(error.next_step().is_some());
        }
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "words");
}

#[tokio::test]
async fn files_that_are_no_index_are_refused_and_left_alone() {
    for garbage in [&b"not a database at all, but long enough to look at"[..], &[0xff; 4096]] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("index.sqlite3");
        std::fs::write(&file, garbage).unwrap();
        let error = refused(options(folder.path()).create(true)).await;
        assert_eq!(error.code(), "index.corrupt", "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), garbage);
    }
}

async fn execute(folder: &Path, statement: &'static str) {
    use sqlx::{ConnectOptions as _, Connection as _};
    let with = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join("index.sqlite3"));
    let mut connection = with.create_if_missing(true).connect().await.unwrap();
    sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn foreign_databases_and_newer_formats_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    execute(folder.path(), "CREATE TABLE notes (text TEXT)").await;
    assert_eq!(refused(options(folder.path()).create(true)).await.code(), "index.corrupt");

    let folder = tempfile::tempdir().unwrap();
    made(folder.path()).await.close().await;
    execute(folder.path(), "PRAGMA user_version = 99").await;
    assert_eq!(refused(options(folder.path())).await.code(), "index.newer_format");
}

#[tokio::test]
async fn damaged_rows_and_pages_are_errors() {
    for damage in [
        "UPDATE chunks SET terms = x'ffffffffff'",
        "UPDATE documents SET tags = 'no list'",
        "UPDATE documents SET content = x'00'",
        "UPDATE documents SET id = ''",
        "UPDATE documents SET expires = 'some day'",
        "DELETE FROM meta",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let index = made(folder.path()).await;
        index.apply(Batch::new().upsert(document("a", "alpha beta"))).await.unwrap();
        index.close().await;
        // With a snapshot nothing of this is read.
        std::fs::remove_file(folder.path().join("index.snapshot")).unwrap();
        execute(folder.path(), damage).await;
        assert_eq!(refused(options(folder.path())).await.code(), "index.corrupt", "{damage}");
    }
    let folder = tempfile::tempdir().unwrap();
    made(folder.path()).await.close().await;
    let file = folder.path().join("index.sqlite3");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.iter_mut().skip(100).for_each(|byte| *byte = 0xa5);
    std::fs::write(&file, bytes).unwrap();
    assert_eq!(refused(options(folder.path())).await.code(), "index.corrupt");
}

/// RES-04: the part of the index. A lock of another process looks the same.
#[tokio::test]
async fn a_second_writer_is_refused_until_the_first_has_finished() {
    let folder = tempfile::tempdir().unwrap();
    let index = made(folder.path()).await;
    let other = std::fs::File::open(folder.path().join("index.lock")).unwrap();
    other.lock().unwrap();
    let batch = || Batch::new().upsert(document("a", "alpha"));
    let error = index.apply(batch()).await.unwrap_err();
    assert_eq!(error.code(), "index.locked");
    assert!(error.next_step().is_some());
    assert_eq!(hits(&index, SparseQuery::new("alpha", 3)).await.len(), 0);
    assert!(SqliteIndex::open(options(folder.path())).await.is_ok(), "readers need no lock");
    drop(other);
    index.apply(batch()).await.unwrap();
    assert_eq!(hits(&index, SparseQuery::new("alpha", 3)).await.len(), 1);
}

#[tokio::test]
async fn handles_that_write_in_turn_lose_nothing_of_each_other() {
    let folder = tempfile::tempdir().unwrap();
    // Random bytes that repeat: the handles must tell their transactions apart all the same.
    let runtime = kuhaku_testkit::fixed_runtime("2026-03-01T12:00:00Z".parse().unwrap());
    let open = || OpenOptions::new(folder.path(), runtime.clone()).create(true);
    let one = SqliteIndex::open(open()).await.unwrap();
    let two = SqliteIndex::open(open()).await.unwrap();
    one.apply(Batch::new().upsert(document("a", "alpha"))).await.unwrap();
    two.apply(Batch::new().upsert(document("b", "alpha"))).await.unwrap();
    let report = one.apply(Batch::new().upsert(document("b", "alpha"))).await.unwrap();
    assert_eq!(report.outcomes[0].1, ChangeOutcome::Unchanged);
    for index in [one, two] {
        assert_eq!(hits(&index, SparseQuery::new("alpha", 3)).await.len(), 2);
    }
}

#[tokio::test]
async fn a_pinned_reader_fetches_what_was_removed_and_the_rows_go_when_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let index = made(folder.path()).await;
    index.apply(Batch::new().upsert(document("a", "quokka"))).await.unwrap();
    let pinned = index.reader(&Scope::anonymous()).await.unwrap();
    index.apply(Batch::new().remove(DocumentId::new("a").unwrap())).await.unwrap();
    let ids = [ChunkId::new(DocumentId::new("a").unwrap(), 0)];
    assert_eq!(pinned.fetch(&ids).await.unwrap()[0].text, "quokka");
    assert_eq!(pinned.visible_chunks(), 1);
    assert!(hits(&index, SparseQuery::new("quokka", 3)).await.is_empty());
    drop(pinned);
    index.apply(Batch::new().upsert(document("b", "wombat"))).await.unwrap();
    index.close().await;
    execute(folder.path(), "PRAGMA wal_checkpoint(TRUNCATE)").await;
    let bytes = std::fs::read(folder.path().join("index.sqlite3")).unwrap();
    let holds = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
    assert!(holds(b"wombat"));
    assert!(!holds(b"quokka"));
}

#[tokio::test]
async fn rows_that_a_dead_process_left_behind_go_with_the_next_batch() {
    let folder = tempfile::tempdir().unwrap();
    let index = made(folder.path()).await;
    index.apply(Batch::new().upsert(document("a", "quokka"))).await.unwrap();
    let pinned = index.reader(&Scope::anonymous()).await.unwrap();
    index.apply(Batch::new().remove(DocumentId::new("a").unwrap())).await.unwrap();
    // Without closing, as one that is killed.
    drop((pinned, index));
    let again = SqliteIndex::open(options(folder.path())).await.unwrap();
    assert_eq!(again.maintenance().documents().await.unwrap().len(), 0);
    again.apply(Batch::new().upsert(document("b", "wombat"))).await.unwrap();
    again.close().await;
    execute(folder.path(), "PRAGMA wal_checkpoint(TRUNCATE)").await;
    let bytes = std::fs::read(folder.path().join("index.sqlite3")).unwrap();
    assert!(!bytes.windows(6).any(|window| window == b"quokka"));
}

#[tokio::test]
async fn a_chunk_whose_range_does_not_lie_in_its_text_is_corrupt() {
    use sqlx::{ConnectOptions as _, Connection as _};
    // The text is 13 bytes long, and the fourth and fifth are one character.
    let text = "caf\u{e9} au lait";
    for (own, damage) in [
        (None, "UPDATE chunks SET start = 9223372036854775807"),
        (None, "UPDATE chunks SET start = 9223372036854775807, length = 0"),
        (None, "UPDATE chunks SET start = 13"),
        (None, "UPDATE chunks SET start = 14, length = 0"),
        (None, "UPDATE chunks SET start = 1"),
        (None, "UPDATE chunks SET start = -1"),
        (None, "UPDATE chunks SET length = 9223372036854775807"),
        (None, "UPDATE chunks SET length = -1"),
        (None, "UPDATE chunks SET start = 4, length = 2"),
        (None, "UPDATE chunks SET length = 4"),
        (Some("own words"), "UPDATE chunks SET length = 4"),
        (Some("own words"), "UPDATE chunks SET start = 13"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let index = made(folder.path()).await;
        let mut record = document("a", text);
        record.chunks[0].text = own.map(Into::into);
        index.apply(Batch::new().upsert(record)).await.unwrap();
        let reader = index.reader(&Scope::anonymous()).await.unwrap();
        let chunk = [ChunkId::new(DocumentId::new("a").unwrap(), 0)];
        assert_eq!(reader.fetch(&chunk).await.unwrap()[0].text, own.unwrap_or(text));
        let with = sqlx::sqlite::SqliteConnectOptions::new();
        let with = with.filename(folder.path().join("index.sqlite3"));
        let mut connection = with.connect().await.unwrap();
        sqlx::raw_sql(damage).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        let error = reader.fetch(&chunk).await.unwrap_err();
        assert_eq!(error.code(), "index.corrupt", "{damage}");
    }
}
