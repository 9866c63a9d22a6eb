//! An index between the engine and another one: it notes how deep searches go.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kuhaku_core::{ChunkId, Scope};
use kuhaku_index::{
    Analyzer, ApplyReport, Batch, ChunkIndex, ChunkReader, DenseHit, DenseQuery, Fingerprint,
    IdKey, Maintenance, Result, SparseHit, SparseQuery, StoredChunk, TermStatistics, Vector,
};

/// The depths of searches, as `sparse 20`.
pub(crate) type Depths = Arc<Mutex<Vec<String>>>;

/// An index in front of another.
#[derive(Debug)]
pub(crate) struct Between {
    index: Arc<dyn ChunkIndex>,
    depths: Depths,
}

impl Between {
    pub(crate) fn noting(index: Arc<dyn ChunkIndex>) -> (Self, Depths) {
        let depths = Depths::default();
        (Self { index, depths: depths.clone() }, depths)
    }
}

#[async_trait]
impl ChunkIndex for Between {
    async fn apply(&self, batch: Batch) -> Result<ApplyReport> {
        self.index.apply(batch).await
    }

    async fn reader(&self, scope: &Scope) -> Result<Arc<dyn ChunkReader>> {
        let reader = self.index.reader(scope).await?;
        Ok(Arc::new(Reader { reader, depths: self.depths.clone() }))
    }

    fn fingerprint(&self) -> Fingerprint {
        self.index.fingerprint()
    }

    fn id_key(&self) -> IdKey {
        self.index.id_key()
    }

    fn maintenance(&self) -> &dyn Maintenance {
        self.index.maintenance()
    }
}

#[derive(Debug)]
struct Reader {
    reader: Arc<dyn ChunkReader>,
    depths: Depths,
}

#[async_trait]
impl ChunkReader for Reader {
    fn scope(&self) -> &Scope {
        self.reader.scope()
    }

    async fn sparse(&self, query: &SparseQuery) -> Result<Vec<SparseHit>> {
        self.depths.lock().unwrap().push(format!("sparse {}", query.limit));
        self.reader.sparse(query).await
    }

    async fn dense(&self, query: &DenseQuery) -> Result<Vec<DenseHit>> {
        self.depths.lock().unwrap().push(format!("dense {}", query.limit));
        self.reader.dense(query).await
    }

    async fn vectors(&self, ids: &[ChunkId]) -> Result<Vec<Option<Vector>>> {
        self.reader.vectors(ids).await
    }

    async fn fetch(&self, ids: &[ChunkId]) -> Result<Vec<StoredChunk>> {
        self.reader.fetch(ids).await
    }

    async fn term_statistics(&self, text: &str) -> Result<TermStatistics> {
        self.reader.term_statistics(text).await
    }

    fn visible_chunks(&self) -> u64 {
        self.reader.visible_chunks()
    }

    fn embedder(&self) -> Option<&str> {
        self.reader.embedder()
    }

    fn visible_vectors(&self) -> u64 {
        self.reader.visible_vectors()
    }

    fn analyzer(&self) -> &Analyzer {
        self.reader.analyzer()
    }
}
