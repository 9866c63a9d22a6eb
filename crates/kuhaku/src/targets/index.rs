//! Search alone as a target: documents ranked by their best chunk.

use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_core::Scope;
use kuhaku_eval::{Outcome, Sample, Target};
use kuhaku_index::{Bm25, ChunkIndex, SparseQuery};

use crate::targets::names::distinct;

/// Searches an index and gives document ids, each once, best chunk first.
#[derive(Clone, Debug)]
pub struct IndexTarget {
    name: String,
    index: Arc<dyn ChunkIndex>,
    scope: Scope,
    depth: usize,
    bm25: Bm25,
}

impl IndexTarget {
    /// A search of the best `depth` chunks within a scope.
    pub fn new(index: Arc<dyn ChunkIndex>, scope: Scope, depth: usize, bm25: Bm25) -> Self {
        let weights = bm25.weights;
        let name = format!(
            "bm25 k1={} b={} heading={} body={} extra={} depth={depth}",
            bm25.k1, bm25.b, weights.heading, weights.body, weights.extra
        );
        Self { name, index, scope, depth, bm25 }
    }
}

#[async_trait]
impl Target for IndexTarget {
    fn name(&self) -> &str {
        &self.name
    }

    async fn run(&self, sample: &Sample) -> Outcome {
        let query = SparseQuery::new(sample.query.as_str(), self.depth).bm25(self.bm25);
        let reader = match self.index.reader(&self.scope).await {
            Ok(reader) => reader,
            Err(error) => return Outcome::failed(error.code()),
        };
        match reader.sparse(&query).await {
            Ok(hits) => {
                let documents = hits.iter().map(|hit| hit.id.document().to_string());
                Outcome::retrieved(distinct(documents))
            }
            Err(error) => Outcome::failed(error.code()),
        }
    }
}
