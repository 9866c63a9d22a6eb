//! What every `ChunkIndex` must do with vectors.

use kuhaku_core::{AccessTags, ChunkId, DocumentId, Masked, Roles, Scope};
use kuhaku_index::{
    Batch, ChunkIndex, ChunkRecord, DenseQuery, DocumentRecord, Error, ErrorKind, Filter, IdKey,
    Vector, VectorSpace,
};

use super::{Subject, Violation};

type Checked = Result<(), Violation>;

macro_rules! ensure {
    ($condition:expr, $check:expr) => {
        if !$condition {
            return Err(Violation {
                check: $check.into(),
                seen: concat!("not so: ", stringify!($condition)).into(),
            });
        }
    };
}

fn invalid(error: kuhaku_core::Error) -> Error {
    error.map_kind(|_| ErrorKind::InvalidInput)
}

fn id(name: &str) -> Result<DocumentId, Error> {
    DocumentId::new(name).map_err(invalid)
}

/// Two numbers: a vector of the half plane.
fn at(degrees: f32) -> Result<Vector, Error> {
    let radians = degrees.to_radians();
    Vector::new(vec![radians.cos(), radians.sin()])
}

/// A document of one chunk.
fn document(
    key: &IdKey,
    name: &str,
    tags: &[&str],
    vector: Option<Vector>,
) -> Result<DocumentRecord, Error> {
    let canonical = Masked::replacing(name, Vec::new()).canonical();
    let mut record =
        DocumentRecord::new(id(name)?, key.content_hash(&[name.as_bytes()]), canonical);
    record.tags = AccessTags::new(tags).map_err(invalid)?;
    let mut chunk = ChunkRecord::new(0..name.len());
    chunk.vector = vector;
    record.chunks = vec![chunk];
    Ok(record)
}

async fn found(index: &dyn ChunkIndex, roles: &[&str], query: DenseQuery) -> Result<String, Error> {
    let reader = index.reader(&Scope::with_roles(Roles::new(roles))).await?;
    let hits = reader.dense(&query).await?;
    let ids: Vec<_> = hits.iter().map(|hit| hit.id.document().to_string()).collect();
    Ok(ids.join(" "))
}

/// An index whose embedder's vectors have two numbers.
pub(super) async fn vectors(subject: &mut dyn Subject) -> Checked {
    searching(subject).await?;
    embedding(subject).await
}

async fn searching(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "the nearest that pass come first, as many as there are, ties by id";
    let key = subject.index().id_key();
    let mut typed = document(&key, "e", &[], Some(at(170.0)?))?;
    typed.doc_type = "note".into();
    let batch = Batch::new()
        .upsert(document(&key, "c", &[], Some(at(10.0)?))?)
        .upsert(document(&key, "b", &[], Some(at(10.0)?))?)
        .upsert(document(&key, "a", &["hr"], Some(at(0.0)?))?)
        .upsert(document(&key, "d", &[], None)?)
        .upsert(typed);
    subject.index().apply(batch).await?;
    for _ in 0..2 {
        let index = subject.index();
        let query = |limit| Ok::<_, Error>(DenseQuery::new(at(0.0)?, limit));
        ensure!(found(index, &[], query(9)?).await? == "b c e", CHECK);
        ensure!(found(index, &[], query(1)?).await? == "b", CHECK);
        ensure!(found(index, &[], query(0)?).await?.is_empty(), CHECK);
        ensure!(found(index, &["hr"], query(2)?).await? == "a b", CHECK);
        let notes = query(1)?.filter(Filter::none().doc_type("note"));
        ensure!(found(index, &["hr"], notes).await? == "e", CHECK);
        let reader = index.reader(&Scope::anonymous()).await?;
        ensure!((reader.visible_chunks(), reader.visible_vectors()) == (4, 3), CHECK);
        ensure!(reader.embedder() == Some("two numbers"), CHECK);
        let ids = [ChunkId::new(id("a")?, 0), ChunkId::new(id("d")?, 0), ChunkId::new(id("e")?, 0)];
        ensure!(reader.vectors(&ids).await? == [None, None, Some(at(170.0)?)], CHECK);
        let wrong = reader.dense(&DenseQuery::new(Vector::new(vec![1.0])?, 1)).await;
        ensure!(wrong.is_err_and(|error| *error.kind() == ErrorKind::InvalidInput), CHECK);
        subject.reopen().await?;
    }
    Ok(())
}

async fn embedding(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "vectors are set by text, known by it, and go with their embedder";
    let maintenance = subject.index().maintenance();
    let space = VectorSpace::new("two numbers", 2);
    let left = maintenance.without_vector(&space, 9).await?;
    let [chunk] = left.as_slice() else {
        return Err(Violation { check: CHECK.into(), seen: format!("{} chunks", left.len()) });
    };
    ensure!(chunk.id == ChunkId::new(id("d")?, 0) && chunk.text == "d", CHECK);
    let other = subject.index().id_key().embedded_text::<&str>("", &[], "another");
    for (hash, stored) in [(other, 0), (chunk.hash, 1)] {
        let vectors = vec![(chunk.id.clone(), hash, at(90.0)?)];
        ensure!(maintenance.stage_vectors(&space, vectors).await? == stored, CHECK);
    }
    let query = DenseQuery::new(at(90.0)?, 1);
    ensure!(found(subject.index(), &[], query.clone()).await? != "d", CHECK);
    let known = maintenance.known_vectors(&space, &[other, chunk.hash]).await?;
    ensure!(known == [None, Some(at(90.0)?)], CHECK);
    ensure!(maintenance.statistics().await?.vectors == 4, CHECK);
    ensure!(maintenance.adopt_embedder(Some(space)).await? == 1, CHECK);
    subject.reopen().await?;
    ensure!(found(subject.index(), &[], query).await? == "d", CHECK);
    ensure!(subject.index().maintenance().statistics().await?.vectors == 5, CHECK);
    let three = VectorSpace::new("three numbers", 3);
    subject.index().maintenance().adopt_embedder(Some(three.clone())).await?;
    for _ in 0..2 {
        ensure!(subject.index().fingerprint().dimension == Some(3), CHECK);
        ensure!(subject.index().maintenance().without_vector(&three, 9).await?.len() == 5, CHECK);
        subject.reopen().await?;
    }
    Ok(())
}
