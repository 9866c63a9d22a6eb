//! An index between the engine and another one: it notes how deep searches go, and can break R4.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kuhaku_core::{ChunkId, Roles, Scope};
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
    /// The roles that together see everything, when searches are to be cut before the scope acts.
    cut_before_scope: Option<Roles>,
}

impl Between {
    pub(crate) fn noting(index: Arc<dyn ChunkIndex>) -> (Self, Depths) {
        let depths = Depths::default();
        (Self { index, depths: depths.clone(), cut_before_scope: None }, depths)
    }

    /// A seeded fault: what is found is cut first, and restricted to the scope then.
    pub(crate) fn cutting_before_scope(index: Arc<dyn ChunkIndex>, all: Roles) -> Self {
        Self { index, depths: Depths::default(), cut_before_scope: Some(all) }
    }
}

#[async_trait]
impl ChunkIndex for Between {
    async fn apply(&self, batch: Batch) -> Result<ApplyReport> {
        self.index.apply(batch).await
    }

    async fn reader(&self, scope: &Scope) -> Result<Arc<dyn ChunkReader>> {
        let reader = self.index.reader(scope).await?;
        let searched = match &self.cut_before_scope {
            Some(all) => self.index.reader(&Scope::with_roles(all.clone())).await?,
            None => reader.clone(),
        };
        Ok(Arc::new(Reader { reader, searched, depths: self.depths.clone() }))
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
    searched: Arc<dyn ChunkReader>,
    depths: Depths,
}

impl Reader {
    async fn seen(&self, ids: Vec<ChunkId>) -> Result<Vec<ChunkId>> {
        Ok(self.reader.fetch(&ids).await?.into_iter().map(|chunk| chunk.id).collect())
    }
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
        let mut found = self.searched.dense(query).await?;
        let seen = self.seen(found.iter().map(|hit| hit.id.clone()).collect()).await?;
        found.retain(|hit| seen.contains(&hit.id));
        Ok(found)
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
