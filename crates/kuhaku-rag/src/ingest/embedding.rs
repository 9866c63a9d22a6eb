//! Vectors for the chunks of documents that are about to be stored.
//!
//! A text is embedded once: a vector that the index has for an equal text, by the same embedder, is
//! taken over. A batch holds texts of one set of access tags only: that a vector does not depend on its
//! batch-mates is a promise of the embedder (D7), and R4 shall not hang on it. Chunks that are held
//! back are not embedded: nobody finds them, and their text is not sent anywhere before an operator
//! has released it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use kuhaku_core::{AccessTags, Embedder, one_line};
use kuhaku_index::{
    ChunkIndex, ChunkRecord, DocumentRecord, EmbeddedTextHash, Fingerprint, Vector,
};

use crate::error::{Adopt as _, Error, ErrorKind, Result};
use crate::ingest::embedded::embedded_text;
use crate::ingest::options::IngestProgress;

/// Texts of a batch, unless a caller says else.
pub(super) const TEXTS_PER_BATCH: usize = 128;
/// Bytes of a batch, of which a single text may have more.
const BYTES_PER_BATCH: usize = 256 << 10;
/// Vectors that are asked of the index at a time.
const KNOWN_AT_A_TIME: usize = 1024;
/// What the length of an embedder's vectors is found out by.
const PROBE: &str = "dimension";

/// An embedder and how it is asked.
#[derive(Clone, Debug)]
pub(super) struct Embedding {
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) texts: usize,
}

/// A text to embed.
pub(super) struct Job {
    pub(super) hash: EmbeddedTextHash,
    pub(super) text: String,
    /// What a person knows it by: its document.
    pub(super) of: usize,
}

/// What became of texts.
#[derive(Default)]
pub(super) struct Embedded {
    pub(super) vectors: HashMap<EmbeddedTextHash, Vector>,
    /// Texts that the embedder does not take, and why.
    pub(super) refused: Vec<(Job, Error)>,
    /// Why it was given up, if it was: no text after this one was asked for.
    pub(super) ended: Option<(Job, Error)>,
}

impl Embedding {
    /// How many numbers its vectors have.
    pub(super) async fn dimension(&self) -> Result<usize> {
        let vectors = self.embedder.embed_documents(&[PROBE]).await.adopt()?;
        let vector = vectors.into_iter().next().unwrap_or_default();
        Ok(Vector::new(vector).adopt()?.dimension())
    }

    /// Texts that share a set of access tags, in batches.
    pub(super) fn batches(&self, jobs: Vec<Job>) -> Vec<Vec<Job>> {
        let mut batches: Vec<Vec<Job>> = Vec::new();
        let mut bytes = 0;
        for job in jobs {
            bytes += job.text.len();
            match batches.last_mut() {
                Some(batch) if batch.len() < self.texts && bytes <= BYTES_PER_BATCH => {
                    batch.push(job);
                }
                _ => {
                    bytes = job.text.len();
                    batches.push(vec![job]);
                }
            }
        }
        batches
    }

    /// Embeds a batch. Where the embedder does not take one of its texts, each of them is tried by
    /// itself, so that it is known which.
    pub(super) async fn batch(&self, batch: Vec<Job>, into: &mut Embedded) {
        let error = match self.ask(&batch).await {
            Ok(vectors) => {
                into.vectors.extend(batch.iter().map(|job| job.hash).zip(vectors));
                return;
            }
            Err(error) => error,
        };
        let takes_others = self.takes_others(&error).await;
        let alone = batch.len() == 1;
        for job in batch {
            let error = if alone || !takes_others {
                again(&error)
            } else {
                match self.ask(std::slice::from_ref(&job)).await {
                    Ok(vectors) => {
                        into.vectors.extend(vectors.into_iter().map(|vector| (job.hash, vector)));
                        continue;
                    }
                    Err(error) => error,
                }
            };
            if takes_others && is_about_the_text(&error) {
                into.refused.push((job, error));
            } else {
                into.ended = Some((job, error));
                return;
            }
        }
    }

    /// Whether the embedder works, and does not take some text. Services say of a model that they do
    /// not have what they say of a text that they do not take; a text that they do take tells which.
    async fn takes_others(&self, error: &Error) -> bool {
        is_about_the_text(error) && self.dimension().await.is_ok()
    }

    async fn ask(&self, batch: &[Job]) -> Result<Vec<Vector>> {
        let texts: Vec<&str> = batch.iter().map(|job| job.text.as_str()).collect();
        let vectors = self.embedder.embed_documents(&texts).await.adopt()?;
        if vectors.len() != texts.len() {
            let kind = ErrorKind::Core(kuhaku_core::ErrorKind::MalformedResponse);
            let wrong = format!("it gave {} vectors for {} texts", vectors.len(), texts.len());
            return Err(Error::new(kind, "use the embedder", wrong)
                .next("use an embedder that gives one vector per text"));
        }
        vectors.into_iter().map(|vector| Vector::new(vector).adopt()).collect()
    }
}

/// Whether the embedder does not take this text, while it may take others.
fn is_about_the_text(error: &Error) -> bool {
    use kuhaku_core::ErrorKind as Core;
    matches!(
        error.kind(),
        ErrorKind::Core(Core::ContextTooLong | Core::InvalidInput | Core::Refused)
            | ErrorKind::Index(kuhaku_index::ErrorKind::InvalidInput)
    )
}

fn again(error: &Error) -> Error {
    let copy = Error::new(*error.kind(), error.tried().to_owned(), error.wrong().to_owned());
    match error.next_step() {
        Some(next) => copy.next(next.to_owned()),
        None => copy,
    }
    .with_status(error.status())
}

/// The failure to embed a part of a document, as it is told of the document.
pub(super) fn of_document(source: &str, error: Error) -> Error {
    let tried = format!("embed `{}`", one_line(source, 200));
    let wrong = format!("cannot {}: {}", error.tried(), error.wrong());
    let failure = Error::new(*error.kind(), tried, wrong);
    let next = error.next_step().map(|next| match error.kind() {
        ErrorKind::Core(kuhaku_core::ErrorKind::ContextTooLong) => {
            format!("{next}; rag.chunk_size is how long chunks are")
        }
        _ => next.to_owned(),
    });
    let failure = failure.with_status(error.status()).caused_by(error);
    match next {
        Some(next) => failure.next(next),
        None => failure,
    }
}

/// The error of a document with which the work ended.
pub(super) fn ended_at(source: &str, error: Error) -> Error {
    let failure = of_document(source, error);
    let on = "then run the same command again: it goes on with what is not done";
    let next = failure.next_step().map_or(on.to_owned(), |next| format!("{next}; {on}"));
    failure.next(next)
}

/// What an ingest does about vectors.
#[derive(Clone, Copy, Debug)]
pub(super) enum Vectors<'i> {
    /// None are given: the index has none, or there is no embedder. Those that the index knows of equal
    /// texts are not taken then, since whether a passage has a vector would tell that some hidden
    /// document holds its text (R4).
    None,
    /// Those that the index does not know are made.
    Made(&'i Embedding),
}

impl Vectors<'_> {
    /// Chunks that are stored together at most, but for those of one document.
    pub(super) fn chunks_at_a_time(&self) -> usize {
        match self {
            Self::Made(embedding) => embedding.texts,
            _ => usize::MAX,
        }
    }

    /// Gives the chunks of some documents vectors, and tells which documents cannot be stored: those
    /// whose text the embedder does not take, and all that were not done when it failed.
    pub(super) async fn give(
        &self,
        index: &dyn ChunkIndex,
        records: &mut [DocumentRecord],
        take_known: bool,
        progress: &mut dyn IngestProgress,
    ) -> Result<Unstored> {
        let mut unstored = Unstored::default();
        let Self::Made(embedding) = self else { return Ok(unstored) };
        let key = index.id_key();
        let hashes: Vec<Vec<(usize, EmbeddedTextHash)>> = records
            .iter()
            .map(|record| {
                let chunks = record.chunks.iter().enumerate().filter(|(_, chunk)| is_open(chunk));
                chunks.map(|(at, chunk)| (at, record.embedded_text(chunk, &key))).collect()
            })
            .collect();
        let mut embedded = Embedded::default();
        if take_known && let Some(space) = index.fingerprint().space() {
            let mut seen = HashSet::new();
            let mut all: Vec<EmbeddedTextHash> = Vec::new();
            all.extend(
                hashes.iter().flatten().map(|(_, hash)| *hash).filter(|it| seen.insert(*it)),
            );
            for some in all.chunks(KNOWN_AT_A_TIME) {
                let known = index.maintenance().known_vectors(&space, some).await.adopt()?;
                let known = some.iter().zip(known).filter_map(|(hash, it)| Some((*hash, it?)));
                embedded.vectors.extend(known);
            }
        }
        let groups = jobs(records, &hashes, &embedded.vectors);
        let of = groups.values().map(Vec::len).sum();
        let mut done = 0;
        for batch in groups.into_values().flat_map(|jobs| embedding.batches(jobs)) {
            done += batch.len();
            embedding.batch(batch, &mut embedded).await;
            if embedded.ended.is_some() {
                break;
            }
            progress.embedding(done, of);
        }
        for (record, hashes) in records.iter_mut().zip(&hashes) {
            for (at, hash) in hashes {
                if let Some(chunk) = record.chunks.get_mut(*at) {
                    chunk.vector = embedded.vectors.get(hash).cloned();
                }
            }
        }
        unstored.find(embedded, &hashes);
        Ok(unstored)
    }
}

/// Documents that cannot be stored, by their places, and why.
#[derive(Default)]
pub(super) struct Unstored {
    /// The embedder does not take their text.
    pub(super) refused: BTreeMap<usize, Error>,
    /// The embedder failed before they were done.
    pub(super) undone: HashSet<usize>,
    /// The document with which it failed, and how.
    pub(super) ended: Option<(usize, Error)>,
}

impl Unstored {
    fn find(&mut self, embedded: Embedded, hashes: &[Vec<(usize, EmbeddedTextHash)>]) {
        let refused: HashMap<EmbeddedTextHash, Error> =
            embedded.refused.into_iter().map(|(job, error)| (job.hash, error)).collect();
        for (place, hashes) in hashes.iter().enumerate() {
            if let Some(error) = hashes.iter().find_map(|(_, hash)| refused.get(hash)) {
                self.refused.insert(place, again(error));
            } else if hashes.iter().any(|(_, hash)| !embedded.vectors.contains_key(hash)) {
                self.undone.insert(place);
            }
        }
        self.ended = embedded.ended.map(|(job, error)| (job.of, error));
    }
}

fn is_open(chunk: &ChunkRecord) -> bool {
    chunk.quarantine.is_none()
}

/// What is to be embedded, each text once, by the set of access tags.
fn jobs(
    records: &[DocumentRecord],
    hashes: &[Vec<(usize, EmbeddedTextHash)>],
    known: &HashMap<EmbeddedTextHash, Vector>,
) -> BTreeMap<AccessTags, Vec<Job>> {
    let mut groups: BTreeMap<AccessTags, Vec<Job>> = BTreeMap::new();
    let mut seen = HashSet::new();
    for (of, (record, hashes)) in records.iter().zip(hashes).enumerate() {
        for (at, hash) in hashes {
            let Some(chunk) = record.chunks.get(*at) else { continue };
            if known.contains_key(hash) || !seen.insert(*hash) {
                continue;
            }
            let text = embedded_text(&record.title, &chunk.headings, record.chunk_text(chunk));
            groups.entry(record.tags.clone()).or_default().push(Job { hash: *hash, text, of });
        }
    }
    groups
}

/// The error of an index whose vectors are of another embedder.
pub(super) fn mismatch(has: &str, wanted: &str) -> Error {
    let kind = ErrorKind::Index(kuhaku_index::ErrorKind::FingerprintMismatch);
    let wrong = format!("its vectors are of `{has}`, and the embedder is `{wanted}`");
    Error::new(kind, "add documents to the index", wrong)
        .next("use the embedder of the index, or run `kuhaku index reembed`")
}

/// The same fingerprint without what concerns vectors: these are looked after by themselves, so that
/// a document whose embedder has changed need not be read again.
pub(super) fn without_embedder(fingerprint: &Fingerprint) -> Fingerprint {
    let mut without = fingerprint.clone();
    without.embedder = None;
    without.dimension = None;
    without
}
