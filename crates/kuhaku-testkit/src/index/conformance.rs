//! What every `ChunkIndex` must do, engine or not.

use std::sync::{Mutex, PoisonError};

use kuhaku_core::{AccessTags, ChunkId, DocumentId, Masked, Roles, Scope};
use kuhaku_index::{
    Batch, ChangeOutcome, ChunkIndex, ChunkRecord, DocumentRecord, Error, ErrorKind, Filter,
    Fingerprint, IdKey, Language, SparseQuery, Tokenizer, Validity,
};

use super::vectors::vectors;
use super::{IndexFactory, Subject, Violation};

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

fn key() -> IdKey {
    IdKey::from_bytes([7; 32])
}

fn id(name: &str) -> Result<DocumentId, Error> {
    DocumentId::new(name).map_err(invalid)
}

fn tagged(name: &str, text: &str, tags: &[&str]) -> Result<DocumentRecord, Error> {
    let canonical = Masked::replacing(text, Vec::new()).canonical();
    let tags = AccessTags::new(tags).map_err(invalid)?;
    let names: Vec<_> = tags.iter().collect();
    let content = key().content_hash(&[text.as_bytes(), names.join(",").as_bytes()]);
    let mut record = DocumentRecord::new(id(name)?, content, canonical);
    record.tags = tags;
    record.chunks = vec![ChunkRecord::new(0..text.len())];
    Ok(record)
}

fn open(name: &str, text: &str) -> Result<DocumentRecord, Error> {
    tagged(name, text, &[])
}

async fn found(index: &dyn ChunkIndex, scope: &Scope, query: SparseQuery) -> Result<String, Error> {
    let hits = index.reader(scope).await?.sparse(&query).await?;
    let ids: Vec<_> = hits.iter().map(|hit| hit.id.to_string()).collect();
    Ok(ids.join(" "))
}

async fn everybody_finds(index: &dyn ChunkIndex, words: &str) -> Result<String, Error> {
    found(index, &Scope::anonymous(), SparseQuery::new(words, 10)).await
}

/// Runs every check on fresh indexes.
///
/// # Errors
/// The first [`Violation`].
pub async fn conformance(factory: &dyn IndexFactory) -> Checked {
    outcomes(make(factory).await?.as_mut()).await?;
    stored_documents(make(factory).await?.as_mut()).await?;
    order_in_a_batch(make(factory).await?.as_mut()).await?;
    pinned_readers(make(factory).await?.as_mut()).await?;
    scopes(make(factory).await?.as_mut()).await?;
    fetching(make(factory).await?.as_mut()).await?;
    quarantine(make(factory).await?.as_mut()).await?;
    filters_and_ties(make(factory).await?.as_mut()).await?;
    bad_ranges(make(factory).await?.as_mut()).await?;
    statistics(make(factory).await?.as_mut()).await?;
    replacing(make(factory).await?.as_mut()).await?;
    failing_to_replace(make(factory).await?.as_mut()).await?;
    rewriting(make(factory).await?.as_mut()).await?;
    let embedded = fingerprint().embedder("two numbers", 2);
    vectors(factory.make(embedded, key()).await?.as_mut()).await
}

fn fingerprint() -> Fingerprint {
    Fingerprint::new(Tokenizer::Simple, Language::En, "none", "none")
}

async fn make(factory: &dyn IndexFactory) -> Result<Box<dyn Subject>, Violation> {
    let fingerprint = fingerprint();
    let subject = factory.make(fingerprint.clone(), key()).await?;
    ensure!(subject.index().fingerprint() == fingerprint, "the fingerprint is the one given");
    ensure!(subject.index().id_key() == key(), "the id key is the one given");
    Ok(subject)
}

async fn outcomes(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "each change has the outcome of the contract";
    for (text, expected) in [
        ("alpha", ChangeOutcome::Added),
        ("alpha", ChangeOutcome::Unchanged),
        ("beta", ChangeOutcome::Updated),
    ] {
        let report = subject.index().apply(Batch::new().upsert(open("a", text)?)).await?;
        ensure!(report.outcomes == [(id("a")?, expected)], CHECK);
        subject.reopen().await?;
    }
    ensure!(everybody_finds(subject.index(), "alpha").await?.is_empty(), CHECK);
    ensure!(everybody_finds(subject.index(), "beta").await? == "a::0", CHECK);
    let content = open("a", "beta")?.content;
    let stored = subject.index().maintenance().stored(&id("a")?).await?;
    ensure!(stored.is_some_and(|stored| stored.content == content), CHECK);
    for expected in [ChangeOutcome::Removed, ChangeOutcome::Absent] {
        let report = subject.index().apply(Batch::new().remove(id("a")?)).await?;
        ensure!(report.outcomes == [(id("a")?, expected)], CHECK);
        subject.reopen().await?;
    }
    ensure!(everybody_finds(subject.index(), "beta").await?.is_empty(), CHECK);
    ensure!(subject.index().maintenance().stored(&id("a")?).await?.is_none(), CHECK);
    Ok(())
}

async fn stored_documents(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "who set the tags and how many chunks are held back is stored";
    let mut record = tagged("a", "alpha beta", &["hr"])?;
    let mut held = ChunkRecord::new(6..10);
    held.quarantine = Some("special_token".into());
    record.chunks = vec![ChunkRecord::new(0..5), held];
    let neighbour = open("b", "beta")?;
    subject.index().apply(Batch::new().upsert(record.clone()).upsert(neighbour)).await?;
    for (pinned, expected) in [
        (false, ChangeOutcome::Unchanged),
        (true, ChangeOutcome::Updated),
        (true, ChangeOutcome::Unchanged),
        (false, ChangeOutcome::Updated),
    ] {
        record.pinned_tags = pinned;
        let report = subject.index().apply(Batch::new().upsert(record.clone())).await?;
        ensure!(report.outcomes == [(id("a")?, expected)], CHECK);
        subject.reopen().await?;
        let stored = subject.index().maintenance().stored(&id("a")?).await?;
        let Some(stored) = stored else {
            return Err(Violation { check: CHECK.into(), seen: "no document".into() });
        };
        ensure!(stored.content == record.content && stored.tags == record.tags, CHECK);
        ensure!(stored.pinned_tags == pinned, CHECK);
        ensure!((stored.chunks, stored.quarantined) == (2, 1), CHECK);
    }
    subject.index().maintenance().release(&ChunkId::new(id("a")?, 1)).await?;
    for _ in 0..2 {
        let stored = subject.index().maintenance().stored(&id("a")?).await?;
        let counts = stored.map(|stored| (stored.chunks, stored.quarantined));
        ensure!(counts == Some((2, 0)), CHECK);
        subject.reopen().await?;
    }
    ensure!(subject.index().maintenance().stored(&id("c")?).await?.is_none(), CHECK);
    Ok(())
}

async fn order_in_a_batch(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "the changes of a batch take effect in order";
    let batch = Batch::new()
        .upsert(open("a", "alpha")?)
        .upsert(open("a", "beta")?)
        .upsert(open("b", "beta")?)
        .remove(id("b")?)
        .remove(id("c")?)
        .upsert(open("c", "beta")?);
    let report = subject.index().apply(batch).await?;
    let outcomes: Vec<_> = report.outcomes.iter().map(|(_, outcome)| *outcome).collect();
    use ChangeOutcome::{Absent, Added, Removed, Updated};
    ensure!(outcomes == [Added, Updated, Added, Removed, Absent, Added], CHECK);
    ensure!(everybody_finds(subject.index(), "alpha beta").await? == "a::0 c::0", CHECK);
    subject.reopen().await?;
    ensure!(everybody_finds(subject.index(), "alpha beta").await? == "a::0 c::0", CHECK);
    Ok(())
}

async fn pinned_readers(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "a reader keeps showing the state that it was made with";
    let index = subject.index();
    index.apply(Batch::new().upsert(open("a", "alpha")?).upsert(open("b", "alpha")?)).await?;
    let reader = index.reader(&Scope::anonymous()).await?;
    let query = SparseQuery::new("alpha", 10);
    let before = reader.sparse(&query).await?;
    index.apply(Batch::new().upsert(open("a", "beta")?).remove(id("b")?)).await?;
    index.apply(Batch::new().upsert(open("c", "alpha alpha")?)).await?;
    ensure!(reader.sparse(&query).await? == before, CHECK);
    ensure!(reader.visible_chunks() == 2, CHECK);
    let ids: Vec<_> = before.iter().map(|hit| hit.id.clone()).collect();
    let texts: Vec<_> = reader.fetch(&ids).await?.into_iter().map(|chunk| chunk.text).collect();
    ensure!(texts == ["alpha", "alpha"], CHECK);
    ensure!(everybody_finds(index, "alpha").await? == "c::0", CHECK);
    Ok(())
}

async fn scopes(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "a scope sees untagged documents and those that share a role";
    let batch = Batch::new()
        .upsert(open("a", "alpha")?)
        .upsert(tagged("b", "alpha", &["hr"])?)
        .upsert(tagged("c", "alpha", &["hr", "legal"])?);
    subject.index().apply(batch).await?;
    subject.reopen().await?;
    let index = subject.index();
    let table: [(&[&str], &str); 4] = [
        (&[], "a::0"),
        (&["sales"], "a::0"),
        (&["legal"], "a::0 c::0"),
        (&["hr", "sales"], "a::0 b::0 c::0"),
    ];
    for (roles, expected) in table {
        let scope = Scope::with_roles(Roles::new(roles));
        ensure!(found(index, &scope, SparseQuery::new("alpha", 9)).await? == expected, CHECK);
    }
    index.apply(Batch::new().upsert(tagged("a", "alpha", &["board"])?)).await?;
    ensure!(everybody_finds(index, "alpha").await?.is_empty(), CHECK);
    index.apply(Batch::new().upsert(open("b", "alpha")?)).await?;
    ensure!(everybody_finds(index, "alpha").await? == "b::0", CHECK);
    Ok(())
}

async fn fetching(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "fetched chunks are whole, in the order asked for, and visible";
    let mut record = open("a", "é first\nsecond")?;
    record.title = "Title".into();
    record.source = "a.md".into();
    record.metadata.insert("team".into(), "red".into());
    let expires = "2030-01-01".parse().ok();
    record.validity = Validity::between(None, expires);
    let mut shown = ChunkRecord::new(9..15);
    shown.text = Some("row: second".into());
    shown.headings = vec!["One".into(), "Two".into()];
    shown.page = Some(3);
    record.chunks = vec![ChunkRecord::new(0..8), shown];
    let hidden = tagged("b", "alpha", &["hr"])?;
    subject.index().apply(Batch::new().upsert(record).upsert(hidden)).await?;
    subject.reopen().await?;
    let reader = subject.index().reader(&Scope::anonymous()).await?;
    let ids = [
        ChunkId::new(id("a")?, 1),
        ChunkId::new(id("b")?, 0),
        ChunkId::new(id("a")?, 2),
        ChunkId::new(id("a")?, 0),
    ];
    let fetched = reader.fetch(&ids).await?;
    let [second, first] = fetched.as_slice() else {
        return Err(Violation { check: CHECK.into(), seen: format!("{} chunks", fetched.len()) });
    };
    ensure!(first.text == "é first" && first.range == (0..8), CHECK);
    ensure!(second.text == "row: second" && second.range == (9..15), CHECK);
    ensure!(second.headings == ["One", "Two"] && second.page == Some(3), CHECK);
    ensure!(second.title == "Title" && second.source == "a.md", CHECK);
    ensure!(second.metadata.get("team").is_some_and(|team| team == "red"), CHECK);
    ensure!(second.validity.expires == expires && second.tags.is_empty(), CHECK);
    ensure!(everybody_finds(subject.index(), "row").await? == "a::1", CHECK);
    ensure!(everybody_finds(subject.index(), "title two").await? == "a::1 a::0", CHECK);
    Ok(())
}

async fn quarantine(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "a quarantined chunk is seen by operators only, until it is released";
    let mut record = open("a", "alpha beta")?;
    let mut held = ChunkRecord::new(6..10);
    held.quarantine = Some("special_token".into());
    record.chunks = vec![ChunkRecord::new(0..5), held];
    subject.index().apply(Batch::new().upsert(record)).await?;
    subject.reopen().await?;
    let place = ChunkId::new(id("a")?, 1);
    let reader = subject.index().reader(&Scope::anonymous()).await?;
    ensure!(reader.visible_chunks() == 1, CHECK);
    ensure!(reader.fetch(std::slice::from_ref(&place)).await?.is_empty(), CHECK);
    let beta = reader.term_statistics("beta").await?;
    ensure!(beta.terms.first().is_some_and(|term| term.chunks == 0), CHECK);
    ensure!(everybody_finds(subject.index(), "beta").await?.is_empty(), CHECK);
    let listed = subject.index().maintenance().quarantined().await?;
    let [only] = listed.as_slice() else {
        return Err(Violation { check: CHECK.into(), seen: format!("{} listed", listed.len()) });
    };
    ensure!(only.id == place && only.reason == "special_token" && only.text == "beta", CHECK);
    ensure!(!subject.index().maintenance().release(&ChunkId::new(id("a")?, 0)).await?, CHECK);
    ensure!(!subject.index().maintenance().release(&ChunkId::new(id("z")?, 0)).await?, CHECK);
    ensure!(subject.index().maintenance().release(&place).await?, CHECK);
    ensure!(reader.visible_chunks() == 1, CHECK);
    for _ in 0..2 {
        ensure!(everybody_finds(subject.index(), "beta").await? == "a::1", CHECK);
        ensure!(everybody_finds(subject.index(), "alpha").await? == "a::0", CHECK);
        ensure!(!subject.index().maintenance().release(&place).await?, CHECK);
        ensure!(subject.index().maintenance().quarantined().await?.is_empty(), CHECK);
        subject.reopen().await?;
    }
    Ok(())
}

async fn filters_and_ties(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "filters act before the cut, and ties are in the order of ids";
    let today = "2026-01-15".parse().ok();
    let mut batch = Batch::new();
    for number in 0..4 {
        let mut stale = open(&format!("s{number}"), "alpha alpha")?;
        stale.validity = Validity::between(None, "2026-01-14".parse().ok());
        stale.doc_type = "draft".into();
        let mut fresh = open(&format!("f{number}"), "alpha with many more words beside it")?;
        fresh.doc_type = "policy".into();
        batch = batch.upsert(fresh).upsert(stale);
    }
    subject.index().apply(batch).await?;
    subject.reopen().await?;
    let everybody = Scope::anonymous();
    let mut valid = Filter::none();
    valid.valid_on = today;
    for filter in [valid, Filter::none().doc_type("policy")] {
        let query = SparseQuery::new("alpha", 3).filter(filter);
        let hits = found(subject.index(), &everybody, query).await?;
        ensure!(hits == "f0::0 f1::0 f2::0", CHECK);
    }
    let best = found(subject.index(), &everybody, SparseQuery::new("alpha", 2)).await?;
    ensure!(best == "s0::0 s1::0", CHECK);
    ensure!(
        found(subject.index(), &everybody, SparseQuery::new("alpha", 0)).await?.is_empty(),
        CHECK
    );
    Ok(())
}

async fn bad_ranges(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "a chunk outside its text refuses the whole batch";
    subject.index().apply(Batch::new().upsert(open("a", "alpha")?)).await?;
    #[expect(clippy::reversed_empty_ranges, reason = "a bad range is the point")]
    for range in [0..99, 1..3, 0..1, 3..2, usize::MAX..usize::MAX] {
        let mut bad = open("bad", "éé")?;
        bad.chunks = vec![ChunkRecord::new(0..4), ChunkRecord::new(range)];
        let batch = Batch::new().remove(id("a")?).upsert(bad);
        let refused = subject.index().apply(batch).await;
        ensure!(refused.is_err_and(|error| *error.kind() == ErrorKind::InvalidInput), CHECK);
        ensure!(everybody_finds(subject.index(), "alpha éé").await? == "a::0", CHECK);
    }
    Ok(())
}

async fn statistics(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "statistics are of what is there";
    let batch = Batch::new()
        .upsert(open("b", "alpha beta")?)
        .upsert(tagged("a", "alpha", &["hr"])?)
        .upsert(open("c", "gamma")?);
    subject.index().apply(batch).await?;
    subject.index().apply(Batch::new().remove(id("c")?)).await?;
    subject.reopen().await?;
    let maintenance = subject.index().maintenance();
    let totals = maintenance.statistics().await?;
    ensure!((totals.documents, totals.chunks, totals.quarantined) == (2, 2, 0), CHECK);
    ensure!((totals.visibility_classes, totals.terms) == (2, 2), CHECK);
    let listed = maintenance.documents().await?;
    let names: Vec<_> = listed.iter().map(|document| document.id.as_str()).collect();
    ensure!(names == ["a", "b"], CHECK);
    ensure!(listed.iter().all(|document| document.chunks == 1), CHECK);
    let reader = subject.index().reader(&Scope::anonymous()).await?;
    let terms = reader.term_statistics("beta gamma alpha beta").await?;
    let counted: Vec<_> = terms.terms.iter().map(|t| (t.term.as_str(), t.chunks)).collect();
    ensure!(counted == [("beta", 1), ("gamma", 0), ("alpha", 1)], CHECK);
    ensure!(terms.visible_chunks == 1, CHECK);
    Ok(())
}

async fn replacing(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "a replacement takes the place of everything, the id key aside";
    let batch = Batch::new().upsert(open("a", "mutations")?).upsert(open("b", "quokka")?);
    subject.index().apply(batch).await?;
    let pinned = subject.index().reader(&Scope::anonymous()).await?;
    let porter = Fingerprint::new(Tokenizer::Porter, Language::En, "none", "none");
    let batch = Batch::new().upsert(open("a", "mutations")?).remove(id("b")?);
    let report = subject.index().maintenance().replace(porter.clone(), batch).await?;
    let outcomes = [(id("a")?, ChangeOutcome::Added), (id("b")?, ChangeOutcome::Absent)];
    ensure!(report.outcomes == outcomes, CHECK);
    let before = [ChunkId::new(id("a")?, 0), ChunkId::new(id("b")?, 0)];
    ensure!(pinned.fetch(&before).await?.len() == 2, CHECK);
    ensure!(pinned.sparse(&SparseQuery::new("mutation", 9)).await?.is_empty(), CHECK);
    drop(pinned);
    for _ in 0..2 {
        ensure!(subject.index().fingerprint() == porter, CHECK);
        ensure!(subject.index().id_key() == key(), CHECK);
        ensure!(everybody_finds(subject.index(), "mutation quokka").await? == "a::0", CHECK);
        ensure!(subject.index().maintenance().documents().await?.len() == 1, CHECK);
        subject.reopen().await?;
    }
    subject.index().maintenance().replace(porter.clone(), Batch::new()).await?;
    for _ in 0..2 {
        ensure!(subject.index().fingerprint() == porter, CHECK);
        ensure!(subject.index().maintenance().statistics().await?.documents == 0, CHECK);
        subject.reopen().await?;
    }
    Ok(())
}

async fn failing_to_replace(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "a replacement that fails leaves everything as it was";
    subject.index().apply(Batch::new().upsert(open("a", "mutations")?)).await?;
    let before = subject.index().fingerprint();
    let porter = Fingerprint::new(Tokenizer::Porter, Language::En, "none", "none");
    let mut bad = open("bad", "mutations")?;
    bad.chunks = vec![ChunkRecord::new(0..99)];
    let batch = Batch::new().upsert(open("b", "mutations")?).upsert(bad);
    let refused = subject.index().maintenance().replace(porter, batch).await;
    ensure!(refused.is_err_and(|error| *error.kind() == ErrorKind::InvalidInput), CHECK);
    for _ in 0..2 {
        ensure!(subject.index().fingerprint() == before, CHECK);
        ensure!(everybody_finds(subject.index(), "mutations").await? == "a::0", CHECK);
        ensure!(everybody_finds(subject.index(), "mutation").await?.is_empty(), CHECK);
        subject.reopen().await?;
    }
    Ok(())
}

async fn rewriting(subject: &mut dyn Subject) -> Checked {
    const CHECK: &str = "documents are made anew from all that was stored of them";
    let mut stored = tagged("a", "zebra quokka numbat", &["hr", "it"])?;
    stored.title = "Animals".into();
    stored.source = "animals.txt".into();
    stored.doc_type = "list".into();
    stored.pinned_tags = true;
    let (inside, outside) = (key().folder("notes"), key().folder("other"));
    stored.folders = vec![inside];
    stored.metadata.insert("owner".into(), "zoo".into());
    stored.validity = Validity::between("2026-01-01".parse().ok(), None).obsolete(true);
    let mut first = ChunkRecord::new(0..5);
    first.headings = vec!["Stripes".into()];
    first.page = Some(3);
    let mut second = ChunkRecord::new(6..19);
    second.text = Some("quokka and numbat".into());
    second.extra = "marsupial".into();
    second.quarantine = Some("instruction_override".into());
    stored.chunks = vec![first, second];
    let batch = Batch::new().upsert(open("a", "earlier")?).upsert(open("b", "gone")?);
    subject.index().apply(batch).await?;
    let batch = Batch::new().upsert(stored.clone()).remove(id("b")?);
    subject.index().apply(batch).await?;
    let porter = Fingerprint::new(Tokenizer::Porter, Language::En, "none", "none");
    for released in [false, true] {
        let mut expected = stored.clone();
        if released {
            let chunk = ChunkId::new(id("a")?, 1);
            ensure!(subject.index().maintenance().release(&chunk).await?, CHECK);
            expected.chunks.iter_mut().for_each(|chunk| chunk.quarantine = None);
        }
        let seen = Mutex::new(Vec::new());
        let rewrite = |mut record: DocumentRecord| {
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(record.clone());
            record.title = "mutations".into();
            record
        };
        subject.index().maintenance().rewrite(porter.clone(), &rewrite).await?;
        let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        ensure!(seen == [expected.clone()], CHECK);
        stored.title = "mutations".into();
        subject.reopen().await?;
        ensure!(subject.index().fingerprint() == porter, CHECK);
        ensure!(subject.index().maintenance().within(&inside).await? == [id("a")?], CHECK);
        ensure!(subject.index().maintenance().within(&outside).await?.is_empty(), CHECK);
        let hr = Scope::with_roles(Roles::new(["hr"]));
        let hits = found(subject.index(), &hr, SparseQuery::new("mutation marsupial", 9)).await?;
        ensure!(hits == if released { "a::1 a::0" } else { "a::0" }, CHECK);
    }
    Ok(())
}
