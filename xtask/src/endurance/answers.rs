//! What a reader must get, and what it gets.

use std::sync::Arc;

use kuhaku::Scope;
use kuhaku::index::{ChunkIndex, ChunkReader, MemoryIndex, SparseHit, SparseQuery, StoredChunk};
use kuhaku_core::ChunkId;

use super::failed;
use super::history::{Draw, History, query};
use crate::error::Result;

/// Everything that a reader says to some queries.
#[derive(Debug, PartialEq)]
struct Answer {
    visible: u64,
    hits: Vec<Vec<(ChunkId, u64)>>,
    texts: Vec<StoredChunk>,
}

impl Answer {
    async fn of(reader: &dyn ChunkReader, queries: &[SparseQuery]) -> Result<Self> {
        let mut hits = Vec::new();
        for query in queries {
            let found = reader.sparse(query).await.map_err(failed)?;
            hits.push(
                found.into_iter().map(|hit: SparseHit| (hit.id, hit.bm25.to_bits())).collect(),
            );
        }
        let hits: Vec<Vec<(ChunkId, u64)>> = hits;
        let mut ids: Vec<ChunkId> = hits.iter().flatten().map(|(id, _)| id.clone()).collect();
        ids.sort();
        ids.dedup();
        let texts = reader.fetch(&ids).await.map_err(failed)?;
        if texts.len() != ids.len() {
            return Err(failed("texts of hits are missing"));
        }
        Ok(Self { visible: reader.visible_chunks(), hits, texts })
    }
}

/// One state as a caller must see it: an index that holds what the caller may see, and never held
/// anything else (R4, D4).
pub(super) struct Expected {
    absent: MemoryIndex,
    scope: Scope,
    /// Batches that led to it.
    pub(super) taken: usize,
}

impl Expected {
    pub(super) fn new(history: &History, scope: &Scope) -> Result<Self> {
        let absent = history.rebuilt(Some(scope))?;
        Ok(Self { absent, scope: scope.clone(), taken: history.taken })
    }

    /// Compares what a reader says to random queries.
    pub(super) async fn check(&self, reader: &Arc<dyn ChunkReader>, draw: &mut Draw) -> Result<()> {
        let queries = [query(draw), query(draw), query(draw)];
        let should = ChunkIndex::reader(&self.absent, &self.scope).await.map_err(failed)?;
        let should = Answer::of(should.as_ref(), &queries).await?;
        let is = Answer::of(reader.as_ref(), &queries).await?;
        if is == should {
            return Ok(());
        }
        Err(failed(format!("after batch {}: {is:?}, not {should:?}", self.taken)))
    }
}
