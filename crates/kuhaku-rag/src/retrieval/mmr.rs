//! Preferring chunks that say something new.

use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_core::ChunkId;
use kuhaku_index::Vector;

use crate::error::{Adopt as _, Result, invalid_input};
use crate::retrieval::fusion::min_max;
use crate::retrieval::rerank::scores;
use crate::retrieve::{Hit, Retrieval, RetrievalRequest, Retriever};

/// Orders what another retriever finds by maximal marginal relevance (Carbonell and Goldstein 1998):
/// the next chunk is always the one with the greatest `λ · relevance − (1 − λ) · likeness`, where
/// likeness is its greatest cosine with a chunk before it.
///
/// Relevance is the cosine with the question where that made the order; another score is brought to
/// the range that the cosines have among the hits, so that a λ of 1 keeps any order. A chunk without a
/// vector is like nothing. When no chunk has one, the order stays, and [`Retrieval::skipped`] says
/// `mmr` with `no_vectors`.
#[derive(Clone, Debug)]
pub struct MmrRetriever {
    base: Arc<dyn Retriever>,
    lambda: f64,
    depth: usize,
}

impl MmrRetriever {
    /// Chooses among as many hits as are asked for. The λ is from 0, novelty alone, to 1, relevance
    /// alone.
    ///
    /// # Errors
    /// `core.invalid_input` for another λ.
    pub fn new(base: impl Retriever + 'static, lambda: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&lambda) {
            let wrong = format!("the weight {lambda} is not from 0 to 1");
            let error = invalid_input("weigh relevance against novelty", wrong);
            return Err(error.next("give a weight from 0 to 1"));
        }
        Ok(Self { base: Arc::new(base), lambda, depth: 0 })
    }

    /// Among how many hits to choose, at least.
    #[must_use]
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }
}

#[async_trait]
impl Retriever for MmrRetriever {
    async fn retrieve(&self, request: &RetrievalRequest) -> Result<Retrieval> {
        let found = self.base.retrieve(&request.at_least(self.depth)).await?;
        let mut found = found.within(request.reader.as_ref());
        let ids: Vec<ChunkId> = found.hits.iter().map(|hit| hit.chunk.id.clone()).collect();
        let vectors = request.reader.vectors(&ids).await.adopt()?;
        if vectors.iter().any(Option::is_some) {
            found.hits = pick(found.hits, &vectors, self.lambda, request.limit);
        } else if !ids.is_empty() {
            found.skip("mmr", "no_vectors");
        }
        found.hits.truncate(request.limit);
        Ok(found)
    }
}

/// How relevant each hit is, on the scale of cosines.
fn relevance(hits: &[Hit]) -> Vec<f64> {
    let scores = scores(hits);
    if hits.iter().zip(&scores).all(|(hit, score)| hit.cosine == Some(*score)) {
        return scores;
    }
    let cosines = || hits.iter().filter_map(|hit| hit.cosine);
    let range = cosines().reduce(f64::min).zip(cosines().reduce(f64::max));
    let (least, most) = range.unwrap_or((0.0, 1.0));
    min_max(&scores).into_iter().map(|share| least + share * (most - least)).collect()
}

/// The hits in the order in which they are picked; of equal ones the first.
fn pick(hits: Vec<Hit>, vectors: &[Option<Vector>], lambda: f64, limit: usize) -> Vec<Hit> {
    let mut left: Vec<Candidate<'_>> = relevance(&hits)
        .into_iter()
        .zip(hits)
        .zip(vectors)
        .map(|((relevance, hit), vector)| Candidate { hit, relevance, vector, likeness: None })
        .collect();
    let mut picked = Vec::new();
    while picked.len() < limit {
        let value = |candidate: &Candidate<'_>| {
            lambda * candidate.relevance - (1.0 - lambda) * candidate.likeness.unwrap_or_default()
        };
        let best = left.iter().enumerate().map(|(at, candidate)| (at, value(candidate)));
        let best = best.reduce(|best, next| if next.1 > best.1 { next } else { best });
        let Some((at, _)) = best else { break };
        let next = left.remove(at);
        for candidate in &mut left {
            candidate.compare(next.vector.as_ref());
        }
        picked.push(next.hit);
    }
    picked
}

/// A hit that has not been picked yet.
struct Candidate<'a> {
    hit: Hit,
    relevance: f64,
    vector: &'a Option<Vector>,
    /// The greatest cosine with a hit that has been picked.
    likeness: Option<f64>,
}

impl Candidate<'_> {
    fn compare(&mut self, picked: Option<&Vector>) {
        let cosine = self.vector.as_ref().zip(picked).and_then(|(own, other)| own.cosine(other));
        self.likeness = match (self.likeness, cosine) {
            (Some(likeness), Some(cosine)) => Some(likeness.max(cosine)),
            (likeness, cosine) => likeness.or(cosine),
        };
    }
}
