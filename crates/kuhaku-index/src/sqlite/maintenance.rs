//! What operators see and do. Lists are read from the file, the rest from a generation that follows it.

use async_trait::async_trait;
use kuhaku_core::{ChunkId, DocumentId};

use super::SqliteIndex;
use super::codec::decode_tags;
use super::failure::{corrupt, storage};
use super::staged;
use super::writer::Contents;
use crate::contract::{IndexStatistics, Maintenance, Rewrite};
use crate::document::{ChunkToEmbed, DocumentListing, QuarantinedChunk, StoredDocument};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, VectorSpace};
use crate::identity::{EmbeddedTextHash, FolderHash};
use crate::vector::Vector;
use crate::write::{ApplyReport, Batch};

const TRIED: &str = "list what is stored";

#[async_trait]
impl Maintenance for SqliteIndex {
    async fn documents(&self) -> Result<Vec<DocumentListing>> {
        let mut connection = self.connection().await?;
        let rows: Vec<(String, String, String, String, String, i64, i64)> = sqlx::query_as(
            "SELECT d.id, d.title, d.source, d.doc_type, d.tags, \
             (SELECT count(*) FROM chunks c WHERE c.document = d.row), \
             (SELECT count(*) FROM chunks c JOIN quarantine q ON q.chunk = c.row \
              WHERE c.document = d.row) \
             FROM documents d WHERE d.row NOT IN (SELECT document FROM retired) ORDER BY d.id",
        )
        .fetch_all(&mut *connection)
        .await
        .map_err(|error| storage(TRIED, error))?;
        rows.into_iter()
            .map(|(id, title, source, doc_type, tags, chunks, quarantined)| {
                Some(DocumentListing {
                    id: DocumentId::new(id).ok()?,
                    title,
                    source,
                    doc_type,
                    tags: decode_tags(&tags)?,
                    chunks: u64::try_from(chunks).ok()?,
                    quarantined: u64::try_from(quarantined).ok()?,
                })
            })
            .collect::<Option<_>>()
            .ok_or_else(|| corrupt(TRIED, "the row of a document is unreadable"))
    }

    async fn stored(&self, id: &DocumentId) -> Result<Option<StoredDocument>> {
        self.follow().await?;
        Ok(self.live.generation().stored(id))
    }

    async fn within(&self, folder: &FolderHash) -> Result<Vec<DocumentId>> {
        let mut connection = self.connection().await?;
        let ids: Vec<String> = sqlx::query_scalar(
            "SELECT d.id FROM folders f JOIN documents d ON d.row = f.document \
             WHERE f.folder = ? AND d.row NOT IN (SELECT document FROM retired) ORDER BY d.id",
        )
        .bind(folder.as_bytes().as_slice())
        .fetch_all(&mut *connection)
        .await
        .map_err(|error| storage(TRIED, error))?;
        let ids = ids.into_iter().map(|id| DocumentId::new(id).ok());
        ids.collect::<Option<_>>()
            .ok_or_else(|| corrupt(TRIED, "the row of a document is unreadable"))
    }

    async fn statistics(&self) -> Result<IndexStatistics> {
        self.follow().await?;
        let staged_vectors = staged::count(&mut *self.connection().await?).await?;
        Ok(IndexStatistics { staged_vectors, ..self.live.generation().statistics() })
    }

    async fn quarantined(&self) -> Result<Vec<QuarantinedChunk>> {
        let mut connection = self.connection().await?;
        let rows: Vec<(String, u32, String, String, String)> = sqlx::query_as(
            "SELECT d.id, c.ordinal, d.source, q.reason, COALESCE(c.text, \
             CAST(substr(CAST(d.text AS BLOB), c.start + 1, c.length) AS TEXT)) \
             FROM quarantine q JOIN chunks c ON c.row = q.chunk \
             JOIN documents d ON d.row = c.document \
             WHERE d.row NOT IN (SELECT document FROM retired) ORDER BY d.id, c.ordinal",
        )
        .fetch_all(&mut *connection)
        .await
        .map_err(|error| storage(TRIED, error))?;
        rows.into_iter()
            .map(|(id, ordinal, source, reason, text)| {
                let id = ChunkId::new(DocumentId::new(id).ok()?, ordinal);
                Some(QuarantinedChunk { id, source, reason, text })
            })
            .collect::<Option<_>>()
            .ok_or_else(|| corrupt(TRIED, "the row of a document is unreadable"))
    }

    async fn release(&self, id: &ChunkId) -> Result<bool> {
        self.release_chunk(id).await
    }

    async fn replace(&self, fingerprint: Fingerprint, batch: Batch) -> Result<ApplyReport> {
        self.replace_all(fingerprint, Contents::Given(batch)).await
    }

    async fn rewrite(&self, fingerprint: Fingerprint, rewrite: Rewrite<'_>) -> Result<ApplyReport> {
        self.replace_all(fingerprint, Contents::Rewritten(rewrite)).await
    }

    async fn adopt_embedder(&self, space: Option<VectorSpace>) -> Result<u64> {
        self.take_embedder(space).await
    }

    async fn without_vector(&self, space: &VectorSpace, limit: usize) -> Result<Vec<ChunkToEmbed>> {
        self.follow().await?;
        self.chunks_to_embed(space, limit).await
    }

    async fn stage_vectors(
        &self,
        space: &VectorSpace,
        vectors: Vec<(ChunkId, EmbeddedTextHash, Vector)>,
    ) -> Result<u64> {
        self.lay_aside(space, vectors).await
    }

    async fn known_vectors(
        &self,
        space: &VectorSpace,
        texts: &[EmbeddedTextHash],
    ) -> Result<Vec<Option<Vector>>> {
        self.find_vectors(space, texts).await
    }
}
