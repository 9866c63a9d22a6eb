//! Random histories of documents that are yet to be embedded, and indexes after them.

use kuhaku_core::{AccessTags, DocumentId, Masked, Roles, Scope};
use kuhaku_index::{
    Batch, ChunkRecord, DocumentRecord, Fingerprint, IdKey, Language, Tokenizer, Vector,
};

use super::PipelineModels;
use crate::index::{IndexFactory, Subject, Violation};
use crate::random::Random;

/// Few words, so that visible and hidden texts share them (D5).
const WORDS: &[&str] = &[
    "refund", "invoice", "payment", "gateway", "timeout", "retry", "ledger", "salary", "bonus",
    "contract",
];
const TAG_SETS: &[&[&str]] =
    &[&[], &[], &["hr"], &["legal"], &["hr", "legal"], &["board"], &["board"]];

/// A document before it is embedded.
#[derive(Clone, Debug)]
struct Document {
    id: DocumentId,
    title: String,
    chunks: Vec<String>,
    tags: AccessTags,
    /// Whether its chunks have vectors.
    embedded: bool,
    version: u64,
}

/// Documents that are embedded and stored together, one that is removed with them, and whether the
/// index is opened again after.
#[derive(Clone, Debug)]
pub(super) struct Step {
    documents: Vec<Document>,
    removed: Option<DocumentId>,
    reopen: bool,
}

impl Step {
    /// Whether it stores what a caller does not see.
    pub(super) fn hides(&self, scope: &Scope) -> bool {
        self.documents.iter().any(|document| !scope.sees(&document.tags))
    }
}

pub(super) fn words(random: &mut Random, most: usize) -> String {
    let count = 1 + random.below(most);
    let words: Vec<_> = (0..count).filter_map(|_| random.pick(WORDS)).collect();
    words.join(" ")
}

fn id(random: &mut Random) -> Result<DocumentId, Violation> {
    Ok(DocumentId::new(format!("doc-{:02}", random.below(12)))?)
}

fn document(random: &mut Random) -> Result<Document, Violation> {
    let tags = TAG_SETS.get(random.below(TAG_SETS.len())).copied().unwrap_or_default();
    Ok(Document {
        id: id(random)?,
        title: if random.once_in(3) { words(random, 2) } else { String::new() },
        chunks: (0..1 + random.below(3)).map(|_| words(random, 7)).collect(),
        tags: AccessTags::new(tags)?,
        embedded: !random.once_in(5),
        version: random.next(),
    })
}

fn step(random: &mut Random) -> Result<Step, Violation> {
    Ok(Step {
        documents: (0..1 + random.below(5)).map(|_| document(random)).collect::<Result<_, _>>()?,
        removed: if random.once_in(3) { Some(id(random)?) } else { None },
        reopen: random.once_in(3),
    })
}

pub(super) fn history(random: &mut Random) -> Result<Vec<Step>, Violation> {
    (0..2 + random.below(3)).map(|_| step(random)).collect()
}

/// A random caller.
pub(super) fn scope(random: &mut Random) -> Scope {
    match random.below(3) {
        0 => Scope::anonymous(),
        1 => Scope::with_roles(Roles::new(["hr"])),
        _ => Scope::with_roles(Roles::new(["hr", "legal"])),
    }
}

/// An index after a history as a scope knows it (D4), or after all of it. A step is embedded in one
/// batch, so that an embedder that breaks D7 shows.
pub(super) async fn index(
    factory: &dyn IndexFactory,
    history: &[Step],
    models: &PipelineModels,
    scope: Option<&Scope>,
) -> Result<Box<dyn Subject>, Violation> {
    let fingerprint = Fingerprint::new(Tokenizer::Default, Language::En, "none", "none")
        .embedder(models.embedder.fingerprint(), models.dimension);
    // All indexes that are compared have one key (D17).
    let key = IdKey::from_bytes([42; 32]);
    let mut subject = factory.make(fingerprint, key.clone()).await?;
    let sees = |document: &Document| scope.is_none_or(|scope| scope.sees(&document.tags));
    for Step { documents, removed, reopen } in history {
        let mut batch = removed.iter().fold(Batch::new(), |it, id| it.remove(id.clone()));
        let seen = documents.iter().filter(|it| sees(it));
        let texts: Vec<&str> = seen.flat_map(|it| &it.chunks).map(String::as_str).collect();
        let mut vectors = models.embedder.embed_documents(&texts).await?.into_iter();
        for document in documents {
            batch = if sees(document) {
                batch.upsert(record(&key, document, &mut vectors)?)
            } else {
                batch.remove(document.id.clone())
            };
        }
        if !batch.is_empty() {
            subject.index().apply(batch).await?;
        }
        if *reopen {
            subject.reopen().await?;
        }
    }
    Ok(subject)
}

/// A document with the next vectors.
fn record(
    key: &IdKey,
    document: &Document,
    vectors: &mut impl Iterator<Item = Vec<f32>>,
) -> Result<DocumentRecord, Violation> {
    let text = Masked::replacing(&document.chunks.join("\n"), Vec::new()).canonical();
    let content = key.content_hash(&[&document.version.to_le_bytes()]);
    let mut record = DocumentRecord::new(document.id.clone(), content, text);
    record.title.clone_from(&document.title);
    record.tags = document.tags.clone();
    record.source = format!("{}.md", document.id);
    let mut start = 0;
    for text in &document.chunks {
        let mut chunk = ChunkRecord::new(start..start + text.len());
        start += text.len() + 1;
        let vector = vectors.next().unwrap_or_default();
        if document.embedded {
            chunk.vector = Some(Vector::new(vector)?);
        }
        record.chunks.push(chunk);
    }
    Ok(record)
}
