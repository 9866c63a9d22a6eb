//! Finding chunks by words and by vectors.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use kuhaku_core::{ChunkId, ErrorKind as CoreErrorKind};
use kuhaku_index::{ChunkReader, DenseHit, SparseHit, Vector};

use crate::answer::Skipped;
use crate::error::{Adopt as _, ErrorKind, Result};
use crate::retrieval::dense::DenseRetriever;
use crate::retrieval::fusion::{Fuser, Ranking};
use crate::retrieval::sparse::SparseRetriever;
use crate::retrieve::{Retrieval, RetrievalRequest, Retriever, Signals, read};

/// What the index says of a vector that has not the length of its own.
const WRONG_LENGTH: ErrorKind = ErrorKind::Index(kuhaku_index::ErrorKind::InvalidInput);

/// The least cosine.
const LEAST_COSINE: f64 = -1.0;

/// Finds chunks by words and by vectors, and fuses the two rankings.
///
/// What words alone have found is measured by its vector as well before the two are fused, and the
/// words of a question that say little count little: their scores are compared with what one rare word
/// scores ([`Ranking::ceiling`]). docs/hybrid.md has the numbers.
///
/// When the question cannot be embedded, words alone decide, and [`Retrieval::skipped`] says why:
/// `dense` with `embedder_failed`, `embedder_timed_out` or `no_vectors`.
#[derive(Clone, Debug)]
pub struct HybridRetriever {
    dense: DenseRetriever,
    sparse: SparseRetriever,
    fuser: Fuser,
    weights: (f64, f64),
    depth: usize,
}

impl HybridRetriever {
    /// Fuses two retrievers, each with weight 1.
    pub fn new(dense: DenseRetriever, sparse: SparseRetriever, fuser: Fuser) -> Self {
        Self { dense, sparse, fuser, weights: (1.0, 1.0), depth: 0 }
    }

    /// How much vectors and words count, 0 or more each.
    #[must_use]
    pub fn weights(mut self, dense: f64, sparse: f64) -> Self {
        self.weights = (dense, sparse);
        self
    }

    /// How many chunks each ranking has, at least; never fewer than are asked for.
    #[must_use]
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// The question's vector with the nearest chunks, or why there are none.
    async fn near(
        &self,
        request: &RetrievalRequest,
        depth: usize,
    ) -> Result<Result<(Vector, Vec<DenseHit>), Skipped>> {
        if !self.dense.applies(request.reader.as_ref())? {
            return Ok(Err(Skipped::new("dense", "no_vectors")));
        }
        let vector = match self.dense.embed(request).await {
            Ok(vector) => vector,
            Err(error) => {
                let reason = match error.kind() {
                    ErrorKind::Core(CoreErrorKind::TimedOut) => "embedder_timed_out",
                    _ => "embedder_failed",
                };
                return Ok(Err(Skipped::new("dense", reason).because(&error)));
            }
        };
        match self.dense.search(request, vector.clone(), depth).await {
            Ok(near) => Ok(Ok((vector, near))),
            // A service that gives vectors of another length by now.
            Err(error) if *error.kind() == WRONG_LENGTH => {
                Ok(Err(Skipped::new("dense", "embedder_failed").because(&error)))
            }
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl Retriever for HybridRetriever {
    async fn retrieve(&self, request: &RetrievalRequest) -> Result<Retrieval> {
        let depth = self.depth.max(request.limit);
        let (vector, dense) = match self.near(request, depth).await? {
            Ok(found) => found,
            Err(skipped) => {
                let mut retrieval = self.sparse.retrieve(request).await?;
                retrieval.skipped.push(skipped);
                return Ok(retrieval);
            }
        };
        let sparse = self.sparse.search(request, depth).await?;
        let near = measured(request.reader.as_ref(), &vector, dense, &sparse).await?;
        let (dense_weight, sparse_weight) = self.weights;
        let good = self.sparse.good_score(request.reader.as_ref());
        let mut fused = self.fuser.fuse(&[
            Ranking::new(near.iter().map(|hit| (&hit.id, hit.cosine)))
                .weight(dense_weight)
                .floor(LEAST_COSINE),
            Ranking::new(sparse.iter().map(|hit| (&hit.id, hit.bm25)))
                .weight(sparse_weight)
                .ceiling(good),
        ])?;
        fused.truncate(request.limit);
        let cosines: HashMap<_, _> = near.iter().map(|hit| (&hit.id, hit.cosine)).collect();
        let bm25: HashMap<_, _> = sparse.iter().map(|hit| (&hit.id, hit.bm25)).collect();
        let signals = |(id, score): (&ChunkId, f64)| {
            let (cosine, bm25) = (cosines.get(id).copied(), bm25.get(id).copied());
            (id.clone(), Signals { bm25, cosine, score: Some(score) })
        };
        let found = fused.into_iter().map(signals).collect();
        Ok(Retrieval::new(read(request.reader.as_ref(), found).await?))
    }
}

/// The nearest chunks, and those that words alone have found as far as they have vectors; by their
/// cosines, equal ones by id.
async fn measured(
    reader: &dyn ChunkReader,
    query: &Vector,
    mut near: Vec<DenseHit>,
    sparse: &[SparseHit],
) -> Result<Vec<DenseHit>> {
    let known: HashSet<&ChunkId> = near.iter().map(|hit| &hit.id).collect();
    let by_words = sparse.iter().map(|hit| &hit.id).filter(|id| !known.contains(id));
    let ids: Vec<ChunkId> = by_words.cloned().collect();
    let vectors = reader.vectors(&ids).await.adopt()?;
    let cosine = |vector: Option<Vector>| vector.and_then(|vector| query.cosine(&vector));
    let cosines = vectors.into_iter().map(cosine);
    let measured = ids.into_iter().zip(cosines);
    near.extend(measured.filter_map(|(id, cosine)| Some(DenseHit::new(id, cosine?))));
    near.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then_with(|| a.id.cmp(&b.id)));
    Ok(near)
}
