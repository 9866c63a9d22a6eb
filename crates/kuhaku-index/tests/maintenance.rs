//! Verifying, repairing, copying and compacting an index in a folder.
#![cfg(feature = "sqlite")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::path::Path;

use kuhaku_core::{AccessTags, ChunkId, DocumentId, Masked, Roles, Runtime, Scope};
use kuhaku_index::{
    Batch, ChunkIndex, ChunkRecord, Depth, DocumentRecord, FindingKind, IdKey, OpenOptions, Repair,
    SparseQuery, SqliteIndex, Verification,
};

fn options(folder: &Path) -> OpenOptions {
    OpenOptions::new(folder, Runtime::system())
}

async fn made(folder: &Path) -> SqliteIndex {
    SqliteIndex::open(options(folder).create(true)).await.unwrap()
}

fn id(name: &str) -> DocumentId {
    DocumentId::new(name).unwrap()
}

fn document(name: &str, text: &str, tags: &[&str]) -> DocumentRecord {
    let canonical = Masked::replacing(text, Vec::new()).canonical();
    let content = IdKey::from_bytes([1; 32]).content_hash(&[text.as_bytes()]);
    let mut record = DocumentRecord::new(id(name), content, canonical);
    record.tags = AccessTags::new(tags).unwrap();
    record.title = "Heights".into();
    record.chunks = vec![ChunkRecord::new(0..5), ChunkRecord::new(6..text.len())];
    record.chunks[1].extra = "summit".into();
    record
}

/// An open document, a restricted one and one with a held-back chunk.
async fn filled(folder: &Path) {
    let index = made(folder).await;
    let mut held = document("c", "third wombat", &[]);
    held.chunks[0].quarantine = Some("special_token".into());
    let batch = Batch::new()
        .upsert(document("a", "first quokka", &[]))
        .upsert(document("b", "secnd numbat", &["hr"]))
        .upsert(held);
    index.apply(batch).await.unwrap();
    index.close().await;
}

async fn execute(folder: &Path, statement: &'static str) {
    use sqlx::{ConnectOptions as _, Connection as _};
    let with = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(folder.join("index.sqlite3"))
        .foreign_keys(false);
    let mut connection = with.connect().await.unwrap();
    sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

async fn number(folder: &Path, query: &'static str) -> i64 {
    use sqlx::{ConnectOptions as _, Connection as _};
    let with = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join("index.sqlite3"));
    let mut connection = with.connect().await.unwrap();
    let number = sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    number
}

async fn verified(folder: &Path) -> Verification {
    SqliteIndex::verify(&options(folder), Depth::Full).await.unwrap()
}

async fn repaired(folder: &Path) -> Repair {
    SqliteIndex::repair(&options(folder)).await.unwrap()
}

/// Everything that a caller of all roles gets, to the last bit.
async fn seen(folder: &Path) -> (u64, Vec<(ChunkId, u64)>, Vec<String>) {
    let index = SqliteIndex::open(options(folder)).await.unwrap();
    let reader = index.reader(&Scope::with_roles(Roles::new(["hr"]))).await.unwrap();
    let query = SparseQuery::new("first secnd third quokka numbat wombat heights summit", 99);
    let hits = reader.sparse(&query).await.unwrap();
    let ids: Vec<_> = hits.iter().map(|hit| hit.id.clone()).collect();
    let texts = reader.fetch(&ids).await.unwrap().into_iter().map(|chunk| chunk.text).collect();
    let bits = hits.into_iter().map(|hit| (hit.id, hit.bm25.to_bits())).collect();
    let visible = reader.visible_chunks();
    index.close().await;
    (visible, bits, texts)
}

/// Whether some file under a folder holds a word.
fn holds(folder: &Path, word: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return holds(&path, word);
        }
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    })
}

#[tokio::test]
async fn a_sound_index_has_no_findings_and_repairing_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    for depth in [Depth::Quick, Depth::Full] {
        let found = SqliteIndex::verify(&options(folder.path()), depth).await.unwrap();
        assert!(found.is_sound(), "{:?}", found.findings);
        let counts = (found.documents, found.chunks, found.quarantined, found.retired);
        assert_eq!(counts, (3, 6, 1, 0));
    }
    let before = std::fs::read(folder.path().join("index.sqlite3")).unwrap();
    let repair = repaired(folder.path()).await;
    assert_eq!((repair.kept, repair.rebuilt, repair.aside), (3, 0, None));
    assert_eq!(std::fs::read(folder.path().join("index.sqlite3")).unwrap(), before);
}

#[tokio::test]
async fn each_kind_of_damage_is_found_by_code_and_place_without_content() {
    for (damage, kind, place) in [
        (
            "UPDATE documents SET text = 'x' WHERE id = 'a'",
            FindingKind::Chunk,
            "document a, chunk 0",
        ),
        ("UPDATE documents SET title = 'Depths'", FindingKind::Terms, "document a, chunk 0"),
        ("UPDATE chunks SET terms = x'ff'", FindingKind::Terms, "document a, chunk 0"),
        ("UPDATE documents SET tags = 'no list'", FindingKind::Document, "document in row 1"),
        ("UPDATE documents SET tags = '[\"z\",\"a\"]'", FindingKind::Tags, "document a"),
        ("UPDATE documents SET id = 'a'", FindingKind::Duplicate, "document a"),
        ("UPDATE chunks SET headings = ''", FindingKind::Document, "document in row 1"),
        ("UPDATE chunks SET ordinal = 7 WHERE ordinal = 0", FindingKind::Chunk, "document a"),
        ("DELETE FROM documents WHERE id = 'b'", FindingKind::Reference, "table chunks, row 3"),
        ("DELETE FROM meta WHERE key = 'id_key'", FindingKind::Settings, "table meta"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path()).await;
        execute(folder.path(), damage).await;
        let found = verified(folder.path()).await;
        let hit = found.findings.iter().any(|f| f.kind == kind && f.place == place);
        assert!(hit, "{damage}: {:?}", found.findings);
        let said = format!("{found:?}");
        assert!(
            !["quokka", "numbat", "Heights", "summit"].iter().any(|w| said.contains(w)),
            "{said}"
        );
    }
}

#[tokio::test]
async fn what_is_made_from_text_is_made_anew_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    let before = seen(folder.path()).await;
    execute(folder.path(), "UPDATE chunks SET terms = x'ffffffffff' WHERE document <> 2").await;
    let repair = repaired(folder.path()).await;
    assert_eq!((repair.kept, repair.rebuilt, repair.lost.len()), (3, 2, 0));
    assert!(repair.aside.unwrap().join("index.sqlite3").is_file());
    assert!(verified(folder.path()).await.is_sound());
    assert_eq!(seen(folder.path()).await, before);
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    assert_eq!(index.maintenance().quarantined().await.unwrap().len(), 1);
    let report = index.apply(Batch::new().upsert(document("d", "forth bilby", &[]))).await.unwrap();
    assert_eq!(report.outcomes.len(), 1);
}

#[tokio::test]
async fn documents_that_cannot_be_read_whole_are_left_out_named_and_kept_aside() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    execute(folder.path(), "UPDATE documents SET tags = 'no list' WHERE id = 'b'").await;
    let repair = repaired(folder.path()).await;
    assert_eq!(repair.kept, 2);
    assert_eq!(repair.lost.len(), 1);
    assert_eq!(repair.lost[0].to_string(), "verify.document: document in row 2");
    assert!(verified(folder.path()).await.is_sound());
    // Unreadable tags are never read as none.
    let (_, hits, _) = seen(folder.path()).await;
    assert!(hits.iter().all(|(chunk, _)| chunk.document() != &id("b")));
    let aside = repair.aside.unwrap();
    assert!(holds(&aside, "numbat"));
    assert_eq!(verified(&aside).await.documents, 3);
}

#[tokio::test]
async fn removed_documents_do_not_come_back_and_rows_are_not_used_again() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    let pinned = index.reader(&Scope::anonymous()).await.unwrap();
    index.apply(Batch::new().remove(id("c"))).await.unwrap();
    drop((pinned, index));
    execute(folder.path(), "UPDATE chunks SET terms = x'ff'").await;
    assert_eq!(verified(folder.path()).await.retired, 1);
    assert_eq!(repaired(folder.path()).await.kept, 2);
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    assert!(index.maintenance().stored(&id("c")).await.unwrap().is_none());
    index.apply(Batch::new().upsert(document("d", "forth bilby", &[]))).await.unwrap();
    index.close().await;
    assert_eq!(number(folder.path(), "SELECT row FROM documents WHERE id = 'd'").await, 4);
}

/// Pages full of noise: what lies on others is kept.
#[tokio::test]
async fn damaged_pages_cost_the_documents_on_them_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let index = made(folder.path()).await;
    let text = |n: usize| format!("first {}", format!("word{n} ").repeat(400));
    let mut batch = Batch::new();
    for number in 0..200 {
        batch = batch.upsert(document(&format!("d{number}"), &text(number), &[]));
    }
    index.apply(batch).await.unwrap();
    index.close().await;
    let file = folder.path().join("index.sqlite3");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xa5);
    std::fs::write(&file, bytes).unwrap();
    assert!(!verified(folder.path()).await.is_sound());
    let repair = repaired(folder.path()).await;
    assert!(verified(folder.path()).await.is_sound());
    assert!((100..200).contains(&repair.kept) || repair.rebuilt > 0, "{repair:?}");
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    let documents = index.maintenance().documents().await.unwrap();
    assert_eq!(documents.len() as u64, repair.kept);
    assert!(documents.iter().all(|document| document.chunks == 2));
}

#[tokio::test]
async fn repairing_needs_the_index_for_itself_and_never_guesses_settings() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    execute(folder.path(), "UPDATE chunks SET terms = x'ff'").await;
    let file = std::fs::File::open(folder.path().join("index.open")).unwrap();
    file.lock_shared().unwrap();
    let error = SqliteIndex::repair(&options(folder.path())).await.unwrap_err();
    assert_eq!(error.code(), "index.locked");
    drop(file);
    execute(folder.path(), "DELETE FROM meta WHERE key = 'id_key'").await;
    let before = std::fs::read(folder.path().join("index.sqlite3")).unwrap();
    let error = SqliteIndex::repair(&options(folder.path())).await.unwrap_err();
    assert_eq!(error.code(), "index.corrupt");
    assert!(error.next_step().is_some());
    assert_eq!(std::fs::read(folder.path().join("index.sqlite3")).unwrap(), before);
}

#[tokio::test]
async fn a_backup_is_an_index_of_its_own_without_what_was_removed() {
    let place = tempfile::tempdir().unwrap();
    let (folder, copy) = (place.path().join("index"), place.path().join("copy"));
    filled(&folder).await;
    let index = SqliteIndex::open(options(&folder)).await.unwrap();
    let pinned = index.reader(&Scope::anonymous()).await.unwrap();
    index.apply(Batch::new().remove(id("a"))).await.unwrap();
    let backup = index.backup(&copy).await.unwrap();
    assert_eq!((backup.documents, backup.chunks), (2, 4));
    assert!(holds(&folder, "quokka"), "a reader needs it still");
    assert!(!holds(&copy, "quokka"));
    index.apply(Batch::new().upsert(document("e", "fifth bilby", &[]))).await.unwrap();
    drop(pinned);
    index.apply(Batch::new().remove(id("e"))).await.unwrap();
    index.close().await;
    assert!(verified(&copy).await.is_sound());
    assert_eq!(seen(&copy).await, seen(&folder).await);
    let names = std::fs::read_dir(place.path()).unwrap().count();
    assert_eq!(names, 2, "nothing unfinished is left");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&copy), mode(&copy.join("index.sqlite3"))), (0o700, 0o600));
    }
}

#[tokio::test]
async fn a_backup_never_goes_over_what_is_there() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("index");
    filled(&folder).await;
    let index = SqliteIndex::open(options(&folder)).await.unwrap();
    let there = place.path().join("there");
    std::fs::write(&there, "words").unwrap();
    assert_eq!(index.backup(&there).await.unwrap_err().code(), "index.invalid_input");
    assert_eq!(index.backup(&folder).await.unwrap_err().code(), "index.invalid_input");
    assert_eq!(index.backup(&there.join("x")).await.unwrap_err().code(), "index.storage");
    assert_eq!(std::fs::read_to_string(there).unwrap(), "words");
    execute(&folder, "UPDATE documents SET tags = 'no list'").await;
    let error = index.backup(&place.path().join("new")).await.unwrap_err();
    assert_eq!(error.code(), "index.corrupt");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 2);
}

#[tokio::test]
async fn compaction_gives_the_room_of_removed_documents_back() {
    let folder = tempfile::tempdir().unwrap();
    let index = made(folder.path()).await;
    let mut batch = Batch::new();
    for number in 0..300 {
        let text = format!("first {}", format!("word{number} ").repeat(300));
        batch = batch.upsert(document(&format!("d{number}"), &text, &[]));
    }
    index.apply(batch).await.unwrap();
    let mut removals = Batch::new();
    for number in 1..300 {
        removals = removals.remove(id(&format!("d{number}")));
    }
    index.apply(removals).await.unwrap();
    let usage = index.usage().await.unwrap();
    assert_eq!((usage.totals.documents, usage.totals.chunks), (1, 2));
    assert!(usage.changes > 0 && usage.last_commit.is_some() && usage.format == 4);
    let compaction = index.compact().await.unwrap();
    assert!(compaction.is_complete(), "{compaction:?}");
    assert!(compaction.after * 4 < compaction.before, "{compaction:?}");
    let after = index.usage().await.unwrap();
    let left = (after.retired, after.dead, after.log, after.changes);
    assert_eq!(left, (0, 0, 0, 0));
    assert_eq!(after.database, compaction.after);
    index.apply(Batch::new().upsert(document("e", "fifth bilby", &[]))).await.unwrap();
    assert_eq!(index.usage().await.unwrap().changes, 1);
    index.close().await;
    assert!(verified(folder.path()).await.is_sound());
}

/// D20, with a reader of this handle and another handle open until the end.
#[tokio::test]
async fn after_removal_and_compaction_no_byte_of_a_document_is_left_in_any_file() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    let pinned = index.reader(&Scope::anonymous()).await.unwrap();
    let mut titled = document("a", "first quokka", &["hr"]);
    titled.metadata.insert("owner".into(), "zarquon".into());
    index.apply(Batch::new().upsert(titled)).await.unwrap();
    index.apply(Batch::new().remove(id("a"))).await.unwrap();
    let compaction = index.compact().await.unwrap();
    assert_eq!(compaction.kept, 2, "a reader pins what was removed since it was made");
    assert!(!compaction.is_complete());
    let chunks = pinned.fetch(&[ChunkId::new(id("a"), 1)]).await.unwrap();
    assert_eq!(chunks[0].text, "quokka");
    drop(pinned);
    let other = SqliteIndex::open(options(folder.path())).await.unwrap();
    assert!(!index.compact().await.unwrap().is_complete(), "the other may need it");
    other.close().await;
    let compaction = index.compact().await.unwrap();
    assert!(compaction.is_complete(), "{compaction:?}");
    // With the index open still, so that its log and shared memory are there.
    for word in ["quokka", "zarquon", "first"] {
        assert!(!holds(folder.path(), word), "{word}");
    }
    for word in ["numbat", "wombat"] {
        assert!(holds(folder.path(), word), "{word}");
    }
}

/// D13: the log of changes is bounded, and who is further behind than it reads everything anew.
#[tokio::test]
async fn a_handle_that_is_further_behind_than_the_log_of_changes_reads_everything_anew() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    let behind = SqliteIndex::open(options(folder.path())).await.unwrap();
    let reader = behind.reader(&Scope::anonymous()).await.unwrap();
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    index.apply(Batch::new().upsert(document("d", "forth bilby", &[]))).await.unwrap();
    index.apply(Batch::new().remove(id("a"))).await.unwrap();
    execute(folder.path(), "DELETE FROM changes WHERE number <= 4").await;
    index.apply(Batch::new().remove(id("b"))).await.unwrap();
    let ids = |index: &SqliteIndex| {
        let reader = index.view(&Scope::with_roles(Roles::new(["hr"])));
        reader.visible_chunks()
    };
    behind.reader(&Scope::anonymous()).await.unwrap();
    assert_eq!(ids(&behind), ids(&index));
    assert!(behind.maintenance().stored(&id("a")).await.unwrap().is_none());
    assert!(behind.maintenance().stored(&id("d")).await.unwrap().is_some());
    let chunks = reader.fetch(&[ChunkId::new(id("a"), 1)]).await.unwrap();
    assert_eq!(chunks[0].text, "quokka", "what it showed before can be fetched still");
}

#[tokio::test]
async fn row_numbers_at_the_end_of_their_range_are_damage_that_repair_removes() {
    let last = "UPDATE documents SET row = 9223372036854775807 WHERE id = 'c'";
    let spent = "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'documents'";
    let both = "UPDATE documents SET row = 9223372036854775807 WHERE id = 'c'; \
                UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'documents'";
    for (damage, opens, kept) in [(last, false, 2), (spent, true, 3), (both, false, 2)] {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path()).await;
        let _ = std::fs::remove_file(folder.path().join("index.snapshot"));
        execute(folder.path(), damage).await;
        let more = || Batch::new().upsert(document("d", "forth bilby", &[]));
        match SqliteIndex::open(options(folder.path())).await {
            Ok(index) if opens => {
                assert_eq!(index.apply(more()).await.unwrap_err().code(), "index.corrupt");
            }
            opened => assert_eq!(opened.map(drop).unwrap_err().code(), "index.corrupt"),
        }
        assert!(!verified(folder.path()).await.is_sound(), "{damage}");
        let repair = repaired(folder.path()).await;
        assert_eq!(repair.kept, kept, "{damage}: {repair:?}");
        assert!(verified(folder.path()).await.is_sound(), "{damage}");
        let index = SqliteIndex::open(options(folder.path())).await.unwrap();
        assert_eq!(index.apply(more()).await.unwrap().outcomes.len(), 1);
    }
}

#[tokio::test]
async fn what_repairing_cannot_bring_back_is_said_to_need_a_backup() {
    for damage in ["DELETE FROM meta", "DROP TABLE meta", "DROP TABLE retired"] {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path()).await;
        execute(folder.path(), damage).await;
        assert!(!verified(folder.path()).await.is_sound(), "{damage}");
        let repairing = SqliteIndex::repair(&options(folder.path())).await.map(drop);
        let opening = match SqliteIndex::open(options(folder.path())).await {
            Ok(index) => index.apply(Batch::new().remove(id("a"))).await.map(drop),
            Err(error) => Err(error),
        };
        for error in [repairing.unwrap_err(), opening.unwrap_err()] {
            assert_eq!(error.code(), "index.corrupt", "{damage}: {error}");
            let next = error.next_step().unwrap();
            assert_eq!(next, "restore a backup, or ingest anew into another folder", "{damage}");
        }
    }
}

#[tokio::test]
async fn marks_of_a_document_that_are_neither_set_nor_unset_are_found_and_stored_as_set() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    execute(
        folder.path(),
        "UPDATE documents SET obsolete = 99 WHERE id = 'a'; \
         UPDATE documents SET pinned_tags = -1 WHERE id = 'b'",
    )
    .await;
    for depth in [Depth::Quick, Depth::Full] {
        let found = SqliteIndex::verify(&options(folder.path()), depth).await.unwrap();
        let found: Vec<_> = found.findings.iter().map(ToString::to_string).collect();
        let wanted = ["verify.flag: document a, obsolete", "verify.flag: document b, pinned_tags"];
        assert_eq!(found, wanted);
    }
    let repair = repaired(folder.path()).await;
    assert_eq!((repair.kept, repair.rebuilt, repair.lost.len()), (3, 2, 0));
    assert!(verified(folder.path()).await.is_sound());
    let stored = "SELECT sum(obsolete) * 10 + sum(pinned_tags) FROM documents";
    assert_eq!(number(folder.path(), stored).await, 11);
}

#[tokio::test]
async fn what_is_none_of_the_index_is_found_and_dropped_by_repairing() {
    for (damage, finding, dropped) in [
        (
            "CREATE TABLE copies (text TEXT); CREATE TRIGGER copy AFTER INSERT ON documents \
             BEGIN INSERT INTO copies VALUES (new.text); END",
            "verify.foreign: trigger copy",
            2,
        ),
        ("CREATE VIEW \"a; b\" AS SELECT 1", "verify.foreign: view of another name", 1),
        ("CREATE INDEX titles ON documents (title)", "verify.foreign: index titles", 1),
        ("ALTER TABLE documents ADD COLUMN owner TEXT", "verify.table: table documents", 0),
        ("DROP TABLE vectors", "verify.table: table vectors, which is missing", 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path()).await;
        let before = seen(folder.path()).await;
        execute(folder.path(), damage).await;
        for depth in [Depth::Quick, Depth::Full] {
            let found = SqliteIndex::verify(&options(folder.path()), depth).await.unwrap();
            let hit = found.findings.iter().find(|found| found.to_string() == finding);
            let hit = hit.unwrap_or_else(|| panic!("{damage}: {:?}", found.findings));
            assert!(hit.kind.remedy().contains("repair"), "{damage}");
        }
        let repair = repaired(folder.path()).await;
        assert_eq!((repair.kept, repair.lost.len()), (3, 0), "{damage}");
        assert_eq!(repair.dropped.len(), dropped, "{damage}: {repair:?}");
        assert!(verified(folder.path()).await.is_sound(), "{damage}");
        assert_eq!(seen(folder.path()).await, before, "{damage}");
    }
}

/// The last leaf of the table of documents is noise, and the file claims to have given any number.
#[tokio::test]
async fn a_file_that_claims_to_have_given_any_number_is_examined_in_bounded_time() {
    let folder = tempfile::tempdir().unwrap();
    let index = made(folder.path()).await;
    let text = |n: usize| format!("first {}", format!("word{n} ").repeat(400));
    let mut batch = Batch::new();
    for number in 0..60 {
        batch = batch.upsert(document(&format!("d{number}"), &text(number), &[]));
    }
    index.apply(batch).await.unwrap();
    index.close().await;
    execute(
        folder.path(),
        "UPDATE sqlite_sequence SET seq = 9223372036854775806 WHERE name = 'documents'; \
         PRAGMA wal_checkpoint(TRUNCATE)",
    )
    .await;
    let file = folder.path().join("index.sqlite3");
    let root = number(folder.path(), "SELECT rootpage FROM sqlite_schema WHERE name = 'documents'");
    let mut bytes = std::fs::read(&file).unwrap();
    let root = (root.await as usize - 1) * 4096;
    assert_eq!(bytes[root], 5, "an inner page");
    let last = u32::from_be_bytes(bytes[root + 8..root + 12].try_into().unwrap()) as usize;
    bytes[(last - 1) * 4096..last * 4096].fill(0xa5);
    std::fs::write(&file, bytes).unwrap();

    let found = verified(folder.path()).await;
    let said = |kind, part: &str| {
        found.findings.iter().any(|found| found.kind == kind && found.place.contains(part))
    };
    assert!(said(FindingKind::Document, "to 9223372036854775806"), "{:?}", found.findings);
    assert!(said(FindingKind::Settings, "sqlite_sequence"), "{:?}", found.findings);
    let repair = repaired(folder.path()).await;
    assert!((30..60).contains(&repair.kept), "{repair:?}");
    assert!(repair.lost.iter().any(|lost| lost.place.contains("to 9223372036854775806")));
    assert!(verified(folder.path()).await.is_sound());
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    index.apply(Batch::new().upsert(document("new", "forth bilby", &[]))).await.unwrap();
}

#[tokio::test]
async fn rows_beyond_the_number_that_was_given_last_are_found_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    execute(folder.path(), "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'documents'").await;
    let found = verified(folder.path()).await;
    assert_eq!(found.documents, 3);
    let found: Vec<_> = found.findings.iter().map(ToString::to_string).collect();
    assert_eq!(found, ["verify.settings: table sqlite_sequence"]);
    assert_eq!(repaired(folder.path()).await.kept, 3);
    assert!(verified(folder.path()).await.is_sound());
    let index = SqliteIndex::open(options(folder.path())).await.unwrap();
    index.apply(Batch::new().upsert(document("new", "forth bilby", &[]))).await.unwrap();
    assert_eq!(index.maintenance().documents().await.unwrap().len(), 4);
}
