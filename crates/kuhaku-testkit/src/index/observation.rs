//! Everything that a reader returns, in a form that compares to the last bit.

use kuhaku_core::{ChunkId, Scope};
use kuhaku_index::{
    ChunkIndex, DenseQuery, Error, SparseQuery, StoredChunk, TermStatistics, Vector,
};

/// What one caller gets to see.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Observation {
    pub(super) visible_chunks: u64,
    pub(super) visible_vectors: u64,
    pub(super) embedder: Option<String>,
    /// Per query: ids and score bits.
    pub(super) hits: Vec<Vec<(ChunkId, u64)>>,
    /// Per query by vector: ids and cosine bits.
    pub(super) nearest: Vec<Vec<(ChunkId, u64)>>,
    pub(super) vectors: Vec<Option<Vector>>,
    pub(super) statistics: Vec<TermStatistics>,
    pub(super) fetched: Vec<StoredChunk>,
}

impl Observation {
    /// Asks an index everything.
    pub(super) async fn of(
        index: &dyn ChunkIndex,
        scope: &Scope,
        queries: &[SparseQuery],
        dense: &[DenseQuery],
        ids: &[ChunkId],
    ) -> Result<Self, Error> {
        let reader = index.reader(scope).await?;
        let mut hits = Vec::new();
        let mut statistics = Vec::new();
        for query in queries {
            let found = reader.sparse(query).await?;
            hits.push(found.into_iter().map(|hit| (hit.id, hit.bm25.to_bits())).collect());
            statistics.push(reader.term_statistics(&query.text).await?);
        }
        let mut nearest = Vec::new();
        for query in dense {
            let found = reader.dense(query).await?;
            nearest.push(found.into_iter().map(|hit| (hit.id, hit.cosine.to_bits())).collect());
        }
        Ok(Self {
            visible_chunks: reader.visible_chunks(),
            visible_vectors: reader.visible_vectors(),
            embedder: reader.embedder().map(str::to_owned),
            hits,
            nearest,
            vectors: reader.vectors(ids).await?,
            statistics,
            fetched: reader.fetch(ids).await?,
        })
    }

    /// True when some query found something.
    pub(super) fn has_hits(&self) -> bool {
        self.hits.iter().any(|hits| !hits.is_empty())
    }

    /// The first way in which two observations differ.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        if self.visible_chunks != other.visible_chunks {
            return Some(format!(
                "visible chunks {} or {}",
                self.visible_chunks, other.visible_chunks
            ));
        }
        let hits = self.hits.iter().zip(&other.hits).find(|(a, b)| a != b);
        if let Some((here, there)) = hits {
            return Some(format!("hits {here:?} or {there:?}"));
        }
        let nearest = self.nearest.iter().zip(&other.nearest).find(|(a, b)| a != b);
        if let Some((here, there)) = nearest {
            return Some(format!("nearest {here:?} or {there:?}"));
        }
        let statistics = self.statistics.iter().zip(&other.statistics).find(|(a, b)| a != b);
        if let Some((here, there)) = statistics {
            return Some(format!("term statistics {here:?} or {there:?}"));
        }
        (self != other).then(|| "fetched chunks, vectors or their number differ".into())
    }
}
