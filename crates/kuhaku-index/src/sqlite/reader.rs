//! Reading within a scope: searches in memory, texts from the file.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use kuhaku_core::{ChunkId, Scope};
use sqlx::{Sqlite, SqlitePool};

use super::SqliteIndex;
use super::codec::decode_words;
use super::failure::{corrupt, storage};
use super::presence::Presence;
use super::writer::aside;
use crate::analysis::Analyzer;
use crate::contract::ChunkReader;
use crate::document::StoredChunk;
use crate::error::{Error, ErrorKind, Result};
use crate::inverted::{Found, View};
use crate::query::{DenseHit, DenseQuery, SparseHit, SparseQuery, TermStatistics};
use crate::vector::Vector;

const TRIED: &str = "read a chunk";

/// A view and where its texts are. The view pins its generation, and with it the rows in the eyes of
/// this handle; the presence keeps them in the eyes of others.
#[derive(Debug)]
pub(super) struct SqliteReader {
    pub(super) view: Arc<View>,
    pub(super) pool: SqlitePool,
    pub(super) _presence: Arc<Presence>,
}

/// Numbers of vectors that are compared on the calling thread; about 0.3 ms.
const INLINE: usize = 1 << 22;

/// Ends a search when it is dropped with the future that waits for it (R12).
#[derive(Debug, Default)]
struct Cancel(Arc<AtomicBool>);

impl Drop for Cancel {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Title, source, start, length, bytes of the document's text, what lies in the range, page, headings,
/// own text.
type ChunkRow = (String, String, i64, i64, i64, Vec<u8>, Option<u32>, String, Option<String>);

impl SqliteReader {
    async fn read(
        &self,
        connection: &mut sqlx::pool::PoolConnection<Sqlite>,
        found: &Found<'_>,
    ) -> Result<StoredChunk> {
        // Ranges are in bytes, so the text is cut as bytes.
        let stored: Option<ChunkRow> = sqlx::query_as(
            "SELECT d.title, d.source, c.start, c.length, octet_length(d.text), \
             substr(CAST(d.text AS BLOB), c.start + 1, c.length), c.page, c.headings, c.text \
             FROM chunks c JOIN documents d ON d.row = c.document \
             WHERE c.document = ? AND c.ordinal = ?",
        )
        .bind(SqliteIndex::row(&found.document.body))
        .bind(found.id.ordinal())
        .fetch_optional(&mut **connection)
        .await
        .map_err(|error| storage(TRIED, error))?;
        let Some((title, source, start, length, whole, cut, page, headings, own)) = stored else {
            return Err(Error::new(
                ErrorKind::Storage,
                TRIED,
                "it was replaced or removed longer ago than texts are kept for open readers",
            )
            .next("ask again: a new reader sees what is there now"));
        };
        let unreadable = || corrupt(TRIED, "its stored row is unreadable");
        let range = range(start, length, whole).filter(|range| range.len() == cut.len());
        let cut = String::from_utf8(cut).map_err(|_| unreadable())?;
        let text = own.unwrap_or(cut);
        let (Some(range), Some(headings)) = (range, decode_words(&headings)) else {
            return Err(unreadable());
        };
        Ok(StoredChunk {
            id: found.id.clone(),
            text,
            headings,
            range,
            page,
            title,
            source: self.view.shown_source(source),
            doc_type: found.document.doc_type.clone(),
            tags: found.tags.clone(),
            metadata: found.document.metadata.clone(),
            validity: found.document.validity,
        })
    }
}

/// The bytes from `start` on, when they lie in a text of `whole` bytes.
fn range(start: i64, length: i64, whole: i64) -> Option<Range<usize>> {
    let end = start.checked_add(length).filter(|end| *end <= whole)?;
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    (start <= end).then_some(start..end)
}

#[async_trait]
impl ChunkReader for SqliteReader {
    fn scope(&self) -> &Scope {
        self.view.scope()
    }

    async fn sparse(&self, query: &SparseQuery) -> Result<Vec<SparseHit>> {
        self.view.sparse(query)
    }

    async fn dense(&self, query: &DenseQuery) -> Result<Vec<DenseHit>> {
        if self.view.dense_work() < INLINE {
            return self.view.dense(query);
        }
        let (view, query, cancel) = (Arc::clone(&self.view), query.clone(), Cancel::default());
        let cancelled = Arc::clone(&cancel.0);
        aside("search with this vector", move || view.dense_until(&query, &cancelled)).await?
    }

    async fn vectors(&self, ids: &[ChunkId]) -> Result<Vec<Option<Vector>>> {
        Ok(self.view.vectors(ids))
    }

    async fn fetch(&self, ids: &[ChunkId]) -> Result<Vec<StoredChunk>> {
        let found = self.view.find(ids);
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let mut connection = self.pool.acquire().await.map_err(|error| storage(TRIED, error))?;
        let mut chunks = Vec::with_capacity(found.len());
        for found in &found {
            chunks.push(self.read(&mut connection, found).await?);
        }
        Ok(chunks)
    }

    async fn term_statistics(&self, text: &str) -> Result<TermStatistics> {
        Ok(self.view.term_statistics(text))
    }

    fn visible_chunks(&self) -> u64 {
        self.view.visible_chunks()
    }

    fn embedder(&self) -> Option<&str> {
        self.view.embedder()
    }

    fn visible_vectors(&self) -> u64 {
        self.view.visible_vectors()
    }

    fn analyzer(&self) -> &Analyzer {
        self.view.analyzer()
    }
}
