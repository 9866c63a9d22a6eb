//! Random histories of an index, and what is left of them within a scope (D4).

use kuhaku_core::{AccessTags, ChunkId, Date, DocumentId, Masked, Roles, Scope};
use kuhaku_index::{
    Batch, Bm25, Change, ChunkRecord, DenseQuery, DocumentRecord, EmbeddedTextHash, Error,
    ErrorKind, FieldWeights, Filter, IdKey, SparseQuery, Validity, Vector,
};

use crate::random::Random;

/// Few words, so that visible and hidden texts share them (D5).
const WORDS: &[&str] = &[
    "refund", "invoice", "payment", "gateway", "timeout", "retry", "ledger", "audit", "salary",
    "bonus", "holiday", "contract",
];
const TAG_SETS: &[&[&str]] = &[&[], &[], &["hr"], &["legal"], &["hr", "legal"], &["board"]];
const TYPES: &[&str] = &["note", "policy"];
const TEAMS: &[&str] = &["red", "blue"];
const DAYS: &[&str] = &["2025-12-31", "2026-06-30", "2026-12-31"];
const DOCUMENTS: usize = 14;
/// Numbers per vector: more than one lane of sixteen, and not a multiple.
pub(super) const DIMENSION: usize = 19;
/// Directions that vectors lie in or near: few, so that visible and hidden ones are mixed (D5).
const DIRECTIONS: u64 = 7;

/// One thing that happens to an index.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Apply(Batch),
    Release(ChunkId),
    /// Gives a chunk of this text a vector.
    Embed(ChunkId, EmbeddedTextHash, Vector),
    Reopen,
}

/// The key of all indexes that are compared (D17).
pub(super) fn key() -> IdKey {
    IdKey::from_bytes([42; 32])
}

fn invalid(error: kuhaku_core::Error) -> Error {
    error.map_kind(|_| ErrorKind::InvalidInput)
}

fn document_id(random: &mut Random) -> Result<DocumentId, Error> {
    DocumentId::new(format!("doc-{:02}", random.below(DOCUMENTS))).map_err(invalid)
}

fn words(random: &mut Random, most: usize) -> String {
    let count = 1 + random.below(most);
    let words: Vec<_> = (0..count).filter_map(|_| random.pick(WORDS)).collect();
    words.join(" ")
}

/// A direction, one near it, or one with a number that is larger than all others.
pub(super) fn vector(random: &mut Random) -> Result<Vector, Error> {
    let number = |random: &mut Random| (random.next() >> 40) as f32 / (1 << 23) as f32 - 1.0;
    let mut direction = Random::new(random.next() % DIRECTIONS);
    let mut numbers: Vec<f32> = (0..DIMENSION).map(|_| number(&mut direction)).collect();
    let (noise, spike) = match random.below(6) {
        0 => (1e-6, 0.0),
        1 | 2 => (0.2, 0.0),
        3 => (0.0, 9.0),
        _ => (0.0, 0.0),
    };
    for (at, of) in numbers.iter_mut().enumerate() {
        *of += noise * number(random) + if at == 3 { spike } else { 0.0 };
    }
    Vector::new(numbers)
}

/// A document with one to three chunks of random words.
fn document(random: &mut Random, id: DocumentId) -> Result<DocumentRecord, Error> {
    let texts: Vec<String> = (0..1 + random.below(3)).map(|_| words(random, 9)).collect();
    let text = texts.join("\n");
    let canonical = Masked::replacing(&text, Vec::new()).canonical();
    let content = key().content_hash(&[&random.next().to_le_bytes()]);
    let mut record = DocumentRecord::new(id, content, canonical);
    let tags = TAG_SETS.get(random.below(TAG_SETS.len())).copied().unwrap_or_default();
    record.tags = AccessTags::new(tags).map_err(invalid)?;
    record.doc_type = random.pick(TYPES).unwrap_or_default().to_owned();
    record.source = format!("{}.md", record.id);
    if random.once_in(2) {
        record.title = words(random, 2);
    }
    if let Some(team) = random.pick(TEAMS).filter(|_| random.once_in(2)) {
        record.metadata.insert("team".into(), team.to_owned());
    }
    if random.once_in(3) {
        record.validity = Validity::between(None, day(random)).obsolete(random.once_in(4));
    }
    let mut start = 0;
    for text in texts {
        let mut chunk = ChunkRecord::new(start..start + text.len());
        start += text.len() + 1;
        if random.once_in(4) {
            chunk.headings = vec![words(random, 2)];
        }
        if random.once_in(6) {
            chunk.extra = words(random, 2);
        }
        if random.once_in(8) {
            chunk.quarantine = Some("special_token".into());
        }
        if !random.once_in(5) {
            chunk.vector = Some(vector(random)?);
        }
        record.chunks.push(chunk);
    }
    Ok(record)
}

fn day(random: &mut Random) -> Option<Date> {
    random.pick(DAYS).and_then(|day| day.parse().ok())
}

/// A random history: documents come, change, are hidden, revealed, released and removed.
pub(super) fn history(random: &mut Random, reopen: bool) -> Result<Vec<Step>, Error> {
    let mut last: Vec<DocumentRecord> = Vec::new();
    let mut steps = Vec::new();
    for _ in 0..3 + random.below(6) {
        if random.once_in(8) {
            let id = document_id(random)?;
            steps.push(Step::Release(ChunkId::new(id, random.below(3) as u32)));
        }
        let known = last.get(random.below(last.len()));
        if let Some(record) = known.filter(|_| random.once_in(4)) {
            let ordinal = random.below(record.chunks.len());
            if let Some(chunk) = record.chunks.get(ordinal) {
                let id = ChunkId::new(record.id.clone(), ordinal as u32);
                let hash = record.embedded_text(chunk, &key());
                steps.push(Step::Embed(id, hash, vector(random)?));
            }
        }
        if reopen && random.once_in(4) {
            steps.push(Step::Reopen);
        }
        let mut batch = Batch::new();
        for _ in 0..1 + random.below(5) {
            let again = last.get(random.below(last.len())).cloned();
            batch = match (random.below(6), again) {
                (0, _) => batch.remove(document_id(random)?),
                // The same document under other tags: hidden or revealed, or as it was.
                (1 | 2, Some(mut record)) => {
                    let tags = TAG_SETS.get(random.below(TAG_SETS.len())).copied();
                    record.tags = AccessTags::new(tags.unwrap_or_default()).map_err(invalid)?;
                    let names: Vec<_> = record.tags.iter().collect();
                    let content = names.join(",");
                    record.content =
                        key().content_hash(&[record.content.as_bytes(), content.as_bytes()]);
                    last.push(record.clone());
                    batch.upsert(record)
                }
                (3, Some(record)) => batch.upsert(record),
                _ => {
                    let id = document_id(random)?;
                    let record = document(random, id)?;
                    last.push(record.clone());
                    batch.upsert(record)
                }
            };
        }
        steps.push(Step::Apply(batch));
    }
    Ok(steps)
}

/// The history as a scope knows it: a visible document stays, one that is invisible is a removal,
/// and batches without changes vanish (D4).
pub(super) fn projected(history: &[Step], scope: &Scope) -> Vec<Step> {
    let project = |step: &Step| match step {
        Step::Apply(batch) => {
            let changes = batch.changes().iter();
            let batch = changes.fold(Batch::new(), |batch, change| match change {
                Change::Upsert(record) if scope.sees(&record.tags) => {
                    batch.upsert(record.as_ref().clone())
                }
                Change::Upsert(record) => batch.remove(record.id.clone()),
                Change::Remove(id) => batch.remove(id.clone()),
            });
            (!batch.is_empty()).then_some(Step::Apply(batch))
        }
        other => Some(other.clone()),
    };
    history.iter().filter_map(project).collect()
}

/// A random caller.
pub(super) fn scope(random: &mut Random) -> Scope {
    match random.below(4) {
        0 => Scope::anonymous(),
        1 => Scope::with_roles(Roles::new(["hr"])),
        2 => Scope::with_roles(Roles::new(["legal", "sales"])),
        _ => Scope::with_roles(Roles::new(["hr", "legal"])),
    }
}

/// A random filter, or none.
fn filter(random: &mut Random) -> Filter {
    let mut filter = Filter::none();
    if random.once_in(4) {
        filter = filter.doc_type(random.pick(TYPES).unwrap_or_default());
    }
    if random.once_in(5) {
        filter = filter.metadata("team", random.pick(TEAMS).unwrap_or_default());
    }
    if let Some(day) = day(random).filter(|_| random.once_in(4)) {
        filter = filter.valid_on(day);
    }
    filter
}

/// A random query by vector.
pub(super) fn dense_query(random: &mut Random) -> Result<DenseQuery, Error> {
    Ok(DenseQuery::new(vector(random)?, 1 + random.below(5)).filter(filter(random)))
}

/// A random query with a random filter and random parameters.
pub(super) fn query(random: &mut Random) -> SparseQuery {
    let filter = filter(random);
    let mut bm25 = Bm25::new(random.pick(&[&1.2, &1.5, &0.0]).copied().unwrap_or(1.5), 0.75);
    if random.once_in(3) {
        bm25.b = 0.0;
    }
    if random.once_in(3) {
        bm25.weights = FieldWeights::default();
        bm25.weights.heading = 2.5;
    }
    SparseQuery::new(words(random, 3), 1 + random.below(5)).filter(filter).bm25(bm25)
}

/// Every chunk id that a history can have used.
pub(super) fn all_ids() -> Result<Vec<ChunkId>, Error> {
    let mut ids = Vec::new();
    for document in 0..DOCUMENTS {
        let id = DocumentId::new(format!("doc-{document:02}")).map_err(invalid)?;
        ids.extend((0..3).map(|ordinal| ChunkId::new(id.clone(), ordinal)));
    }
    Ok(ids)
}
