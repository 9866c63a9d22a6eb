//! Vectors of another embedder for what is stored, and those that are missing (D15).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use kuhaku_core::{AccessTags, ChunkId, DocumentId, Embedder};
use kuhaku_index::{ChunkToEmbed, EmbeddedTextHash, Maintenance, Vector, VectorSpace};

use crate::error::{Adopt as _, Result};
use crate::ingest::embedded::embedded_text;
use crate::ingest::embedding::{Embedded, Embedding, Job, ended_at};
use crate::ingest::ingestor::Ingestor;
use crate::ingest::options::IngestProgress;
use crate::ingest::report::Note;

/// Chunks that are read of the index at a time.
const CHUNKS_AT_A_TIME: usize = 4096;

/// What became of the vectors of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ReembedReport {
    /// The embedder that the index had, by its fingerprint.
    pub from: Option<String>,
    /// The one that it has now.
    pub to: Option<String>,
    /// How many chunks got a vector.
    pub embedded: u64,
    /// How many of these got that of an equal text, and were not embedded.
    pub reused: u64,
    /// How many chunks are held back, and have none for that.
    pub held_back: u64,
    /// Chunks that the embedder does not take.
    pub refused: Vec<Refused>,
}

/// A chunk that the embedder does not take.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Refused {
    /// The chunk.
    pub id: ChunkId,
    /// Why.
    pub error: Note,
}

impl Ingestor {
    /// Gives the index another embedder, or none, and every chunk that is not held back a vector of
    /// it. With the embedder that the index has, the chunks without a vector get one; all do, when its
    /// vectors have another length than before. Documents need not be at hand.
    ///
    /// Vectors are laid aside batch by batch, and readers see them all at once when all are there:
    /// which come first follows from texts that a caller may not see (R4). Until then searches find
    /// what they found before. Whenever it ends, also by being dropped, what was laid aside stays,
    /// and the next call with the same embedder goes on from there.
    ///
    /// # Errors
    /// Those of the embedder, naming the document, and those of the index.
    pub async fn reembed(
        &self,
        embedder: Option<Arc<dyn Embedder>>,
        progress: &mut dyn IngestProgress,
    ) -> Result<ReembedReport> {
        let maintenance = self.index().maintenance();
        let from = self.index().fingerprint().embedder;
        let mut report = ReembedReport { from, ..ReembedReport::default() };
        let Some(embedder) = embedder else {
            maintenance.adopt_embedder(None).await.adopt()?;
            return Ok(report);
        };
        let embedding = Embedding { embedder, texts: self.texts_per_batch };
        let wanted = embedding.embedder.fingerprint().to_owned();
        // Also under the same name: a service may have put another model behind it, whose vectors
        // tell by their length.
        let space = VectorSpace::new(wanted.clone(), embedding.dimension().await?);
        report.to = Some(wanted);
        let missing = self.missing(&space).await?;
        let mut filling = Filling::new(maintenance, &embedding, space.clone(), report).await?;
        while filling.page(missing, progress).await? {}
        maintenance.adopt_embedder(Some(space)).await.adopt()?;
        Ok(filling.report)
    }

    /// About how many chunks are to be embedded.
    async fn missing(&self, space: &VectorSpace) -> Result<usize> {
        let totals = self.index().maintenance().statistics().await.adopt()?;
        let has = self.index().fingerprint().space().as_ref() == Some(space);
        let there = if has { totals.vectors } else { 0 };
        let missing = totals.chunks.saturating_sub(there).saturating_sub(totals.staged_vectors);
        Ok(usize::try_from(missing).unwrap_or(usize::MAX))
    }
}

/// What is known of a document without its text.
struct Known {
    tags: AccessTags,
    source: String,
}

/// Vectors on their way to the chunks that have none.
struct Filling<'f> {
    maintenance: &'f dyn Maintenance,
    embedding: &'f Embedding,
    space: VectorSpace,
    documents: HashMap<DocumentId, Known>,
    /// Chunks that get none: held back, or refused.
    passed: HashSet<ChunkId>,
    report: ReembedReport,
}

impl<'f> Filling<'f> {
    async fn new(
        maintenance: &'f dyn Maintenance,
        embedding: &'f Embedding,
        space: VectorSpace,
        mut report: ReembedReport,
    ) -> Result<Self> {
        let listed = maintenance.documents().await.adopt()?;
        let known =
            |it: kuhaku_index::DocumentListing| (it.id, Known { tags: it.tags, source: it.source });
        let documents = listed.into_iter().map(known).collect();
        let held = maintenance.quarantined().await.adopt()?;
        let passed: HashSet<ChunkId> = held.into_iter().map(|chunk| chunk.id).collect();
        report.held_back = passed.len() as u64;
        Ok(Self { maintenance, embedding, space, documents, passed, report })
    }

    /// Gives some chunks their vectors; false when there are no more to do.
    async fn page(&mut self, missing: usize, progress: &mut dyn IngestProgress) -> Result<bool> {
        let limit = CHUNKS_AT_A_TIME.saturating_add(self.passed.len());
        let mut chunks = self.maintenance.without_vector(&self.space, limit).await.adopt()?;
        chunks.retain(|chunk| !self.passed.contains(&chunk.id));
        let before = (self.report.embedded, self.passed.len());
        chunks = self.reuse(chunks).await?;
        for batch in self.batches(&chunks) {
            self.batch(batch, &chunks).await?;
            let done = usize::try_from(self.report.embedded).unwrap_or(usize::MAX);
            progress.embedding(done.min(missing), missing);
        }
        // Without progress there would be no end, for example when somebody replaces the documents.
        Ok(before != (self.report.embedded, self.passed.len()))
    }

    /// Takes the vectors of equal texts, and gives back the chunks for which there is none.
    async fn reuse(&mut self, chunks: Vec<ChunkToEmbed>) -> Result<Vec<ChunkToEmbed>> {
        let hashes: Vec<EmbeddedTextHash> = chunks.iter().map(|chunk| chunk.hash).collect();
        let known = self.maintenance.known_vectors(&self.space, &hashes).await.adopt()?;
        let (mut ready, mut rest) = (Vec::new(), Vec::new());
        for (chunk, vector) in chunks.into_iter().zip(known) {
            match vector {
                Some(vector) => ready.push((chunk.id, chunk.hash, vector)),
                None => rest.push(chunk),
            }
        }
        if !ready.is_empty() {
            let stored = self.maintenance.stage_vectors(&self.space, ready).await.adopt()?;
            self.report.embedded += stored;
            self.report.reused += stored;
        }
        Ok(rest)
    }

    /// Each text once; a batch holds texts of one set of access tags.
    fn batches(&self, chunks: &[ChunkToEmbed]) -> Vec<Vec<Job>> {
        let mut groups: BTreeMap<Option<&AccessTags>, Vec<Job>> = BTreeMap::new();
        let mut seen = HashSet::new();
        for (of, chunk) in chunks.iter().enumerate().filter(|(_, chunk)| seen.insert(chunk.hash)) {
            let tags = self.documents.get(chunk.id.document()).map(|known| &known.tags);
            let text = embedded_text(&chunk.title, &chunk.headings, &chunk.text);
            groups.entry(tags).or_default().push(Job { hash: chunk.hash, text, of });
        }
        groups.into_values().flat_map(|jobs| self.embedding.batches(jobs)).collect()
    }

    /// Embeds a batch and stores its vectors, with all chunks that have one of its texts.
    async fn batch(&mut self, batch: Vec<Job>, chunks: &[ChunkToEmbed]) -> Result<()> {
        let asked = batch.len();
        let mut embedded = Embedded::default();
        self.embedding.batch(batch, &mut embedded).await;
        let ready: Vec<(ChunkId, EmbeddedTextHash, Vector)> = chunks
            .iter()
            .filter_map(|chunk| {
                let vector = embedded.vectors.get(&chunk.hash)?;
                Some((chunk.id.clone(), chunk.hash, vector.clone()))
            })
            .collect();
        if !ready.is_empty() {
            let stored = self.maintenance.stage_vectors(&self.space, ready).await.adopt()?;
            self.report.embedded += stored;
            self.report.reused += stored.saturating_sub(asked as u64);
        }
        for (job, error) in embedded.refused {
            let with_it = chunks.iter().filter(|chunk| chunk.hash == job.hash);
            for chunk in with_it {
                self.passed.insert(chunk.id.clone());
                let error = Note::from(&error);
                self.report.refused.push(Refused { id: chunk.id.clone(), error });
            }
        }
        match embedded.ended {
            Some((job, error)) => Err(ended_at(self.source(chunks, job.of), error)),
            None => Ok(()),
        }
    }

    fn source(&self, chunks: &[ChunkToEmbed], place: usize) -> &str {
        let document = chunks.get(place).map(|chunk| chunk.id.document());
        let known = document.and_then(|document| self.documents.get(document));
        known.map_or("a document", |known| known.source.as_str())
    }
}
