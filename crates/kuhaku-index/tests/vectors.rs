//! Vectors, in memory and on disk alike: what is found by them, and what becomes of them.
#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::path::Path;

use kuhaku_core::{AccessTags, ChunkId, DocumentId, Masked, Roles, Runtime, Scope};
use kuhaku_index::{
    Ann, Batch, ChunkIndex, ChunkRecord, DenseQuery, Depth, DocumentRecord, ErrorKind, Filter,
    FindingKind, Fingerprint, IdKey, Language, MemoryIndex, OpenOptions, SqliteIndex, Tokenizer,
    Vector, VectorSpace,
};

fn fingerprint() -> Fingerprint {
    Fingerprint::new(Tokenizer::Default, Language::En, "none", "none").embedder("e", 3)
}

fn key() -> IdKey {
    IdKey::from_bytes([7; 32])
}

async fn open(folder: &Path) -> SqliteIndex {
    let options = OpenOptions::new(folder, Runtime::system()).create(true).id_key(key());
    SqliteIndex::open(options.fingerprint(fingerprint())).await.unwrap()
}

/// Both engines, empty.
async fn engines(folder: &Path) -> Vec<Box<dyn ChunkIndex>> {
    vec![Box::new(MemoryIndex::new(fingerprint(), key())), Box::new(open(folder).await)]
}

fn vector(numbers: [f32; 3]) -> Vector {
    Vector::new(numbers.to_vec()).unwrap()
}

fn chunk(name: &str, ordinal: u32) -> ChunkId {
    ChunkId::new(DocumentId::new(name).unwrap(), ordinal)
}

/// A document of one chunk per word.
fn document(name: &str, text: &str, tags: &[&str], vectors: &[Option<[f32; 3]>]) -> DocumentRecord {
    let canonical = Masked::replacing(text, Vec::new()).canonical();
    let content = key().content_hash(&[text.as_bytes()]);
    let mut record = DocumentRecord::new(DocumentId::new(name).unwrap(), content, canonical);
    record.tags = AccessTags::new(tags).unwrap();
    let mut start = 0;
    for (word, numbers) in text.split(' ').zip(vectors) {
        let mut chunk = ChunkRecord::new(start..start + word.len());
        chunk.vector = numbers.map(vector);
        record.chunks.push(chunk);
        start += word.len() + 1;
    }
    record
}

async fn found(index: &dyn ChunkIndex, scope: &Scope, numbers: [f32; 3], limit: usize) -> String {
    let query = DenseQuery::new(vector(numbers), limit);
    let hits = index.reader(scope).await.unwrap().dense(&query).await.unwrap();
    hits.iter().map(|hit| format!("{}={:.2} ", hit.id, hit.cosine)).collect()
}

const X: [f32; 3] = [1.0, 0.0, 0.0];
const Y: [f32; 3] = [0.0, 1.0, 0.0];
const XY: [f32; 3] = [1.0, 1.0, 0.0];

#[tokio::test]
async fn the_nearest_chunks_come_first_and_ties_by_id() {
    let folder = tempfile::tempdir().unwrap();
    for index in engines(folder.path()).await {
        let batch = Batch::new()
            .upsert(document("b", "one two", &[], &[Some(X), Some(XY)]))
            .upsert(document("a", "one two three", &[], &[Some(XY), None, Some([-1.0, 0.0, 0.0])]))
            .upsert(document("secret", "one", &["hr"], &[Some(X)]));
        index.apply(batch).await.unwrap();
        let everybody = Scope::anonymous();
        assert_eq!(
            found(&*index, &everybody, X, 9).await,
            "b::0=1.00 a::0=0.71 b::1=0.71 a::2=-1.00 "
        );
        assert_eq!(found(&*index, &everybody, X, 2).await, "b::0=1.00 a::0=0.71 ");
        assert_eq!(found(&*index, &everybody, X, 0).await, "");
        let insider = Scope::with_roles(Roles::new(["hr"]));
        assert_eq!(found(&*index, &insider, X, 2).await, "b::0=1.00 secret::0=1.00 ");
        let reader = index.reader(&everybody).await.unwrap();
        assert_eq!((reader.visible_chunks(), reader.visible_vectors()), (5, 4));
        assert_eq!(reader.embedder(), Some("e"));
        let ids = [chunk("a", 1), chunk("a", 0), chunk("secret", 0), chunk("z", 0)];
        assert_eq!(reader.vectors(&ids).await.unwrap(), [None, Some(vector(XY)), None, None]);
        assert_eq!(index.maintenance().statistics().await.unwrap().vectors, 5);
        index.apply(Batch::new().remove(DocumentId::new("b").unwrap())).await.unwrap();
        assert_eq!(found(&*index, &everybody, X, 2).await, "a::0=0.71 a::2=-1.00 ");
        assert_eq!(index.reader(&everybody).await.unwrap().visible_vectors(), 2);
        assert_eq!(reader.visible_vectors(), 4, "a reader keeps its state");
    }
}

/// W-56
#[tokio::test]
async fn filters_act_before_the_ranking() {
    let folder = tempfile::tempdir().unwrap();
    for index in engines(folder.path()).await {
        let mut batch = Batch::new();
        for number in 0..20 {
            let mut near = document(&format!("near-{number}"), "one", &[], &[Some(X)]);
            near.doc_type = "draft".into();
            batch = batch.upsert(near);
        }
        let mut far = document("far", "one", &[], &[Some(Y)]);
        far.doc_type = "policy".into();
        index.apply(batch.upsert(far)).await.unwrap();
        let query = DenseQuery::new(vector(X), 3).filter(Filter::none().doc_type("policy"));
        let reader = index.reader(&Scope::anonymous()).await.unwrap();
        let hits = reader.dense(&query).await.unwrap();
        assert_eq!(hits.iter().map(|hit| &hit.id).collect::<Vec<_>>(), [&chunk("far", 0)]);
    }
}

/// RK-51, W-51
#[tokio::test]
async fn vectors_of_another_dimension_or_without_an_embedder_are_refused_with_a_next_step() {
    let folder = tempfile::tempdir().unwrap();
    for index in engines(folder.path()).await {
        let mut wrong = document("a", "one", &[], &[None]);
        wrong.chunks[0].vector = Some(Vector::new(vec![1.0, 0.0]).unwrap());
        let error = index.apply(Batch::new().upsert(wrong.clone())).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("2 numbers"), "{error}");
        assert!(error.next_step().is_some_and(|next| next.contains("reembed")));
        let query = DenseQuery::new(Vector::new(vec![1.0]).unwrap(), 1);
        let reader = index.reader(&Scope::anonymous()).await.unwrap();
        assert_eq!(*reader.dense(&query).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        index.maintenance().adopt_embedder(None).await.unwrap();
        wrong.chunks[0].vector = Some(vector(X));
        let error = index.apply(Batch::new().upsert(wrong)).await.unwrap_err();
        assert!(error.to_string().contains("no embedder"), "{error}");
        for dimension in [0, 70_000] {
            let embedder = Some(VectorSpace::new("f", dimension));
            index.maintenance().adopt_embedder(embedder).await.unwrap_err();
        }
        assert_eq!(index.maintenance().statistics().await.unwrap().documents, 0);
    }
}

/// W-51
#[tokio::test]
async fn an_index_without_vectors_gains_them_and_changes_its_embedder_in_place() {
    let folder = tempfile::tempdir().unwrap();
    for index in engines(folder.path()).await {
        let maintenance = index.maintenance();
        let mut held = document("b", "three four", &["hr"], &[None, None]);
        held.title = "Title".into();
        held.chunks[1].headings = vec!["Heading".into()];
        held.chunks[1].quarantine = Some("special_token".into());
        let open = document("a", "one two", &[], &[Some(X), None]);
        index.apply(Batch::new().upsert(held).upsert(open)).await.unwrap();
        maintenance.adopt_embedder(Some(VectorSpace::new("e", 3))).await.unwrap();
        assert_eq!(maintenance.statistics().await.unwrap().vectors, 1, "it is the same");
        maintenance.adopt_embedder(Some(VectorSpace::new("f", 3))).await.unwrap();
        assert_eq!(index.fingerprint().embedder.as_deref(), Some("f"));
        assert_eq!(maintenance.statistics().await.unwrap().vectors, 0);
        let f = VectorSpace::new("f", 3);
        let all = maintenance.without_vector(&f, 9).await.unwrap();
        let ids: Vec<_> = all.iter().map(|chunk| chunk.id.to_string()).collect();
        assert_eq!(ids, ["a::0", "a::1", "b::0", "b::1"]);
        assert_eq!((all[3].title.as_str(), all[3].text.as_str()), ("Title", "four"));
        assert_eq!(all[3].headings, ["Heading"]);
        assert_eq!(maintenance.without_vector(&f, 1).await.unwrap(), all[..1]);
        let hashes: Vec<_> = all.iter().map(|chunk| chunk.hash).collect();
        assert_eq!(maintenance.known_vectors(&f, &hashes).await.unwrap(), vec![None; 4]);

        let mut vectors: Vec<_> =
            all.iter().map(|chunk| (chunk.id.clone(), chunk.hash, vector(Y))).collect();
        // Of another text, of a chunk and of a document that are not there.
        vectors[0].1 = hashes[1];
        vectors.push((chunk("a", 7), hashes[0], vector(Y)));
        vectors.push((chunk("z", 0), hashes[0], vector(Y)));
        assert_eq!(maintenance.stage_vectors(&f, vectors).await.unwrap(), 3);
        let left = maintenance.without_vector(&f, 9).await.unwrap();
        assert_eq!(left, all[..1]);
        let totals = maintenance.statistics().await.unwrap();
        assert_eq!((totals.vectors, totals.staged_vectors), (0, 3));
        assert_eq!(found(&*index, &Scope::anonymous(), Y, 9).await, "");
        assert_eq!(maintenance.adopt_embedder(Some(f.clone())).await.unwrap(), 3);
        assert_eq!(maintenance.without_vector(&f, 9).await.unwrap(), left);
        let known =
            maintenance.known_vectors(&f, &[hashes[0], hashes[3], hashes[3]]).await.unwrap();
        assert_eq!(known, [None, Some(vector(Y)), Some(vector(Y))]);
        assert_eq!(found(&*index, &Scope::anonymous(), Y, 9).await, "a::1=1.00 ");
        let insider = Scope::with_roles(Roles::new(["hr"]));
        assert_eq!(found(&*index, &insider, Y, 9).await, "a::1=1.00 b::0=1.00 ");
        maintenance.release(&chunk("b", 1)).await.unwrap();
        assert_eq!(found(&*index, &insider, Y, 9).await, "a::1=1.00 b::0=1.00 b::1=1.00 ");
        let wrong = vec![(chunk("a", 0), hashes[0], Vector::new(vec![1.0]).unwrap())];
        maintenance.stage_vectors(&f, wrong).await.unwrap_err();
    }
}

#[tokio::test]
async fn a_text_made_anew_loses_its_vector_unless_it_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    for index in engines(folder.path()).await {
        let batch = Batch::new()
            .upsert(document("a", "one two", &[], &[Some(X), Some(Y)]))
            .upsert(document("b", "one", &[], &[Some(X)]));
        index.apply(batch).await.unwrap();
        let rewrite = |mut record: DocumentRecord| {
            if record.id.as_str() == "a" {
                record.chunks[1].text = Some("masked".into());
            }
            record
        };
        index.maintenance().rewrite(fingerprint(), &rewrite).await.unwrap();
        let e = VectorSpace::new("e", 3);
        let left = index.maintenance().without_vector(&e, 9).await.unwrap();
        assert_eq!(left.iter().map(|chunk| &chunk.id).collect::<Vec<_>>(), [&chunk("a", 1)]);
        let other = fingerprint().embedder("f", 3);
        index.maintenance().rewrite(other, &|record| record).await.unwrap();
        let f = VectorSpace::new("f", 3);
        assert_eq!(index.maintenance().without_vector(&f, 9).await.unwrap().len(), 3);
        let given = |mut record: DocumentRecord| {
            record.chunks.iter_mut().for_each(|chunk| chunk.vector = Some(vector(XY)));
            record
        };
        index.maintenance().rewrite(fingerprint(), &given).await.unwrap();
        assert!(index.maintenance().without_vector(&e, 9).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn vectors_come_back_from_the_database_and_from_the_snapshot_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = [0.1, -0.7, 0.33];
    let index = open(folder.path()).await;
    let batch = Batch::new().upsert(document("a", "one two", &[], &[Some(numbers), None]));
    index.apply(batch).await.unwrap();
    let other = open(folder.path()).await;
    index.close().await;
    for snapshot in [true, false] {
        let file = folder.path().join("index.snapshot");
        assert!(file.exists());
        if !snapshot {
            std::fs::remove_file(file).unwrap();
        }
        let index = open(folder.path()).await;
        let reader = index.reader(&Scope::anonymous()).await.unwrap();
        let vectors = reader.vectors(&[chunk("a", 0)]).await.unwrap();
        assert_eq!(vectors, [Some(vector(numbers))]);
        assert_eq!(reader.visible_vectors(), 1);
        index.close().await;
    }
    // Another handle sees vectors that come later, and another embedder.
    let index = open(folder.path()).await;
    let e = VectorSpace::new("e", 3);
    let left = index.maintenance().without_vector(&e, 9).await.unwrap();
    let vectors = vec![(left[0].id.clone(), left[0].hash, vector(Y))];
    assert_eq!(other.maintenance().stage_vectors(&e, vectors).await.unwrap(), 1);
    assert_eq!(found(&other, &Scope::anonymous(), Y, 1).await, "a::0=-0.90 ");
    assert_eq!(index.maintenance().adopt_embedder(Some(e)).await.unwrap(), 1);
    assert_eq!(found(&other, &Scope::anonymous(), Y, 1).await, "a::1=1.00 ");
    index.maintenance().adopt_embedder(Some(VectorSpace::new("f", 2))).await.unwrap();
    let reader = other.reader(&Scope::anonymous()).await.unwrap();
    assert_eq!((reader.embedder(), reader.visible_vectors()), (Some("f"), 0));
    assert_eq!(other.fingerprint().dimension, Some(2));
    let error = other.apply(Batch::new().upsert(document("b", "one", &[], &[None]))).await;
    assert_eq!(*error.unwrap_err().kind(), ErrorKind::FingerprintMismatch);
    index.close().await;
    other.close().await;
    let options = OpenOptions::new(folder.path(), Runtime::system()).fingerprint(fingerprint());
    let error = SqliteIndex::open(options).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::FingerprintMismatch);
    assert!(
        error.next_step().is_some_and(|next| next.contains("`kuhaku index reembed`")),
        "{error}"
    );
}

async fn execute(folder: &Path, statement: &'static str) {
    use sqlx::{ConnectOptions as _, Connection as _};
    let with = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join("index.sqlite3"));
    let mut connection = with.foreign_keys(false).connect().await.unwrap();
    sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

async fn filled(folder: &Path) {
    let index = open(folder).await;
    let batch = Batch::new()
        .upsert(document("a", "one two", &[], &[Some(X), Some(Y)]))
        .upsert(document("b", "three", &["hr"], &[Some(XY)]));
    index.apply(batch).await.unwrap();
    index.close().await;
}

#[tokio::test]
async fn vectors_that_are_none_are_found_and_left_out_by_repair_and_nothing_else_is_lost() {
    for (damage, kind, place, lost) in [
        (
            "UPDATE vectors SET vector = x'0000' WHERE chunk = 1",
            FindingKind::Vector,
            "document a, chunk 0",
            1,
        ),
        (
            "UPDATE vectors SET vector = x'0000c07f0000c07f0000c07f' WHERE chunk = 2",
            FindingKind::Vector,
            "document a, chunk 1",
            1,
        ),
        // The vector of another text.
        (
            "UPDATE vectors SET vector = (SELECT vector FROM vectors WHERE chunk = 1) \
             WHERE chunk = 3",
            FindingKind::Vector,
            "document b, chunk 0",
            1,
        ),
        // Not of length 1.
        (
            "UPDATE vectors SET vector = x'000000400000004000000040' WHERE chunk = 3",
            FindingKind::Vector,
            "document b, chunk 0",
            1,
        ),
        (
            "UPDATE vectors SET text = x'07' WHERE chunk = 3",
            FindingKind::Vector,
            "document b, chunk 0",
            1,
        ),
        (
            "UPDATE vectors SET chunk = 9 WHERE chunk = 3",
            FindingKind::Reference,
            "table vectors, row 9",
            0,
        ),
        (
            "DELETE FROM vectors WHERE chunk = 9; DROP TABLE vectors",
            FindingKind::Table,
            "table vectors, which is missing",
            2,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path()).await;
        execute(folder.path(), damage).await;
        let options = OpenOptions::new(folder.path(), Runtime::system());
        for depth in [Depth::Quick, Depth::Full] {
            let found = SqliteIndex::verify(&options, depth).await.unwrap();
            let hit = found.findings.iter().any(|f| f.kind == kind && f.place == place);
            assert!(hit, "{damage}: {:?}", found.findings);
        }
        std::fs::remove_file(folder.path().join("index.snapshot")).unwrap();
        if kind == FindingKind::Vector && !damage.contains("SET text") {
            let error = SqliteIndex::open(options.clone()).await.unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::Corrupt);
            assert!(error.next_step().is_some_and(|next| next.contains("repair")));
        }
        let repair = SqliteIndex::repair(&options).await.unwrap();
        assert_eq!((repair.kept, repair.lost.len()), (2, 0), "{damage}");
        assert_eq!((repair.vectors_lost, repair.rebuilt), (lost, 0), "{damage}");
        let index = SqliteIndex::open(options.clone()).await.unwrap();
        let e = VectorSpace::new("e", 3);
        let left = index.maintenance().without_vector(&e, 9).await.unwrap();
        let missing = if kind == FindingKind::Table { 3 } else { 1 };
        assert_eq!(left.len(), missing, "{damage}");
        index.close().await;
        assert!(SqliteIndex::verify(&options, Depth::Full).await.unwrap().is_sound(), "{damage}");
    }
}

/// D20
#[tokio::test]
async fn vectors_are_in_a_backup_and_after_compaction_none_of_what_was_removed_is_left() {
    let (folder, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    filled(folder.path()).await;
    let index = open(folder.path()).await;
    let secret = [0.3, -0.5, 0.8];
    let bytes: Vec<u8> =
        vector(secret).as_slice().iter().flat_map(|number| number.to_le_bytes()).collect();
    let holds = |folder: &Path| {
        let mut files = std::fs::read_dir(folder).unwrap();
        files.any(|file| {
            let read = std::fs::read(file.unwrap().path()).unwrap();
            read.windows(bytes.len()).any(|window| window == bytes)
        })
    };
    index.apply(Batch::new().upsert(document("c", "four", &[], &[Some(secret)]))).await.unwrap();
    assert!(holds(folder.path()));
    let copy = place.path().join("copy");
    index.backup(&copy).await.unwrap();
    assert!(holds(&copy));
    assert_eq!(open(&copy).await.maintenance().statistics().await.unwrap().vectors, 4);
    // Another vector takes the place of the one, and what was removed goes.
    index.apply(Batch::new().remove(DocumentId::new("c").unwrap())).await.unwrap();
    assert!(index.compact().await.unwrap().is_complete());
    assert!(!holds(folder.path()));
    assert_eq!(index.usage().await.unwrap().totals.vectors, 3);
    index.maintenance().adopt_embedder(Some(VectorSpace::new("f", 3))).await.unwrap();
    assert!(index.compact().await.unwrap().is_complete());
    let bytes: Vec<u8> =
        vector(XY).as_slice().iter().flat_map(|number| number.to_le_bytes()).collect();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let read = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!read.windows(bytes.len()).any(|window| window == bytes));
    }
}

/// D20: what is laid aside goes with its document, too, and for another embedder.
#[tokio::test]
async fn vectors_that_are_laid_aside_go_with_their_document_and_survive_what_leaves_it() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    let index = open(folder.path()).await;
    let (f, secret) = (VectorSpace::new("f", 3), [0.3, -0.5, 0.8]);
    let bytes: Vec<u8> =
        vector(secret).as_slice().iter().flat_map(|number| number.to_le_bytes()).collect();
    let holds = |folder: &Path| {
        let mut files = std::fs::read_dir(folder).unwrap();
        files.any(|file| {
            let read = std::fs::read(file.unwrap().path()).unwrap();
            read.windows(bytes.len()).any(|window| window == bytes)
        })
    };
    index.apply(Batch::new().upsert(document("c", "four", &[], &[None]))).await.unwrap();
    let all = index.maintenance().without_vector(&f, 9).await.unwrap();
    let last = all.last().unwrap();
    assert_eq!(last.id, chunk("c", 0));
    let vectors = vec![(last.id.clone(), last.hash, vector(secret))];
    assert_eq!(index.maintenance().stage_vectors(&f, vectors).await.unwrap(), 1);
    assert!(index.compact().await.unwrap().is_complete());
    assert!(holds(folder.path()));
    index.close().await;
    let index = open(folder.path()).await;
    assert_eq!(index.maintenance().statistics().await.unwrap().staged_vectors, 1);
    index.apply(Batch::new().remove(DocumentId::new("c").unwrap())).await.unwrap();
    assert_eq!(index.maintenance().statistics().await.unwrap().staged_vectors, 0);
    assert!(index.compact().await.unwrap().is_complete());
    assert!(!holds(folder.path()));
    assert_eq!(index.maintenance().adopt_embedder(Some(f)).await.unwrap(), 0);
}

/// R12: who does not wait any more costs nothing any more.
#[tokio::test]
async fn a_large_search_runs_beside_the_calling_task_and_finds_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let dimension = 65_536;
    let wide = Fingerprint::new(Tokenizer::Default, Language::En, "none", "none")
        .embedder("wide", dimension);
    let options = OpenOptions::new(folder.path(), Runtime::system()).create(true);
    let index = SqliteIndex::open(options.fingerprint(wide)).await.unwrap();
    let mut batch = Batch::new();
    for number in 0..70_u32 {
        let mut record = document(&format!("d{number:02}"), "one", &[], &[None]);
        let row = (0..dimension).map(|at| (at as f32 * (number as f32 + 1.0)).sin()).collect();
        record.chunks[0].vector = Some(Vector::new(row).unwrap());
        batch = batch.upsert(record);
    }
    index.apply(batch).await.unwrap();
    let reader = index.reader(&Scope::anonymous()).await.unwrap();
    let seventh = reader.vectors(&[chunk("d07", 0)]).await.unwrap()[0].clone().unwrap();
    let query = DenseQuery::new(seventh, 3);
    let hits = reader.dense(&query).await.unwrap();
    assert_eq!(hits[0].id, chunk("d07", 0));
    assert_eq!(index.view(&Scope::anonymous()).dense(&query).unwrap(), hits);
}

/// D11, D13
#[tokio::test]
async fn a_reader_keeps_its_texts_through_changes_that_take_none_away() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path()).await;
    let batch = Batch::new()
        .upsert(document("a", "one two", &[], &[Some(X), None]))
        .upsert(document("b", "three", &[], &[None]));
    index.apply(batch).await.unwrap();
    let reader = index.reader(&Scope::anonymous()).await.unwrap();
    let maintenance = index.maintenance();
    let e = VectorSpace::new("e", 3);
    for chunk in maintenance.without_vector(&e, 9).await.unwrap() {
        let vectors = vec![(chunk.id, chunk.hash, vector(Y))];
        maintenance.stage_vectors(&e, vectors).await.unwrap();
        maintenance.adopt_embedder(Some(e.clone())).await.unwrap();
    }
    index.compact().await.unwrap();
    index.apply(Batch::new().remove(DocumentId::new("a").unwrap())).await.unwrap();
    index.apply(Batch::new().remove(DocumentId::new("b").unwrap())).await.unwrap();
    let chunks = reader.fetch(&[chunk("a", 1), chunk("b", 0)]).await.unwrap();
    assert_eq!(
        chunks.iter().map(|chunk| chunk.text.as_str()).collect::<Vec<_>>(),
        ["two", "three"]
    );
    assert_eq!(reader.visible_vectors(), 1);
}

/// D8
#[tokio::test]
async fn graphs_give_as_many_hits_as_there_are_and_what_changes_is_never_missed() {
    let folder = tempfile::tempdir().unwrap();
    let memory = MemoryIndex::new(fingerprint(), key()).ann(Ann::Auto { above: 20 });
    let options = OpenOptions::new(folder.path(), Runtime::system()).create(true).id_key(key());
    let options = options.fingerprint(fingerprint()).ann(Ann::Auto { above: 20 });
    let disk = SqliteIndex::open(options.clone()).await.unwrap();
    let mut batch = Batch::new();
    for number in 0..60 {
        let at = number as f32;
        let tags: &[&str] = if number % 2 == 0 { &[] } else { &["hr"] };
        let numbers = [at.sin(), (at * 1.7).cos(), 0.3];
        let mut record = document(&format!("d{number:02}"), "one", tags, &[Some(numbers)]);
        record.doc_type = if number % 5 == 0 { "note" } else { "policy" }.into();
        batch = batch.upsert(record);
    }
    memory.write(batch.clone()).unwrap();
    disk.apply(batch).await.unwrap();
    memory.build_graphs();
    disk.close().await;
    let disk = SqliteIndex::open(options).await.unwrap();
    assert!(disk.build_graphs().await.unwrap(), "they are there");
    let late = document("late", "one", &["hr"], &[Some(X)]);
    for changed in [false, true] {
        if changed {
            memory.write(Batch::new().upsert(late.clone())).unwrap();
            disk.apply(Batch::new().upsert(late.clone())).await.unwrap();
        }
        for (roles, of_all) in [(&[][..], 30), (&["hr"], 60 + usize::from(changed))] {
            let scope = Scope::with_roles(Roles::new(roles));
            for (limit, filter) in [
                (7, Filter::none()),
                (usize::MAX, Filter::none()),
                (7, Filter::none().doc_type("note")),
            ] {
                let query = DenseQuery::new(vector(X), limit).filter(filter.clone());
                let view = memory.view(&scope);
                let hits = view.dense(&query).unwrap();
                assert_eq!(hits, disk.view(&scope).dense(&query).unwrap());
                assert_eq!(hits, view.dense_exhaustively(&query), "so few are all found");
                if filter.is_empty() {
                    assert_eq!(hits.len(), of_all.min(limit));
                }
            }
        }
    }
    assert_eq!(
        memory
            .view(&Scope::with_roles(Roles::new(["hr"])))
            .dense(&DenseQuery::new(vector(X), 1))
            .unwrap()[0]
            .id,
        chunk("late", 0)
    );
}
