//! How much of what answers a question its asker may not see: for operators, in the audit alone (D10).

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use kuhaku_core::{Roles, Scope};
use kuhaku_index::{ChunkIndex, Filter};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::error::{Adopt as _, Result};
use crate::question::Question;
use crate::retrieval::SparseRetriever;
use crate::retrieve::{RetrievalRequest, Retriever as _};
use crate::settings::RagSettings;

/// How many counts may be under way; a request beyond them goes without.
const AT_ONCE: usize = 64;

/// A question whose withheld chunks are to be counted when it has its answer.
#[derive(Clone, Debug)]
pub(crate) struct Withheld {
    pub(crate) index: Arc<dyn ChunkIndex>,
    /// The masked question.
    pub(crate) question: String,
    pub(crate) scope: Scope,
    pub(crate) filter: Filter,
}

impl Withheld {
    /// How many of the chunks that rank first for somebody who sees everything hold enough of the
    /// question, and are hidden from the asker.
    ///
    /// Always by words: a custom retriever gets no reader beyond the caller's scope.
    pub(crate) async fn count(&self, settings: &RagSettings) -> Result<usize> {
        let documents = self.index.maintenance().documents().await.adopt()?;
        let all = Roles::new(documents.iter().flat_map(|document| document.tags.iter()));
        let reader = self.index.reader(&Scope::with_roles(all)).await.adopt()?;
        let pool = settings.rerank_candidates.max(settings.top_k);
        let request = RetrievalRequest::new(self.question.as_str(), reader.clone(), pool)
            .filter(self.filter.clone());
        let hits = SparseRetriever::new(settings.bm25()).retrieve(&request).await?.hits;
        let question = Question::read(&self.question, reader.as_ref()).await?;
        let hidden = hits.iter().filter(|hit| !self.scope.sees(&hit.chunk.tags));
        let coverage = hidden.map(|hit| question.coverage_of(&hit.chunk, reader.analyzer()));
        Ok(coverage.filter(|coverage| *coverage >= settings.rag_confidence_threshold).count())
    }
}

/// Work that goes on behind answers that were given. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Afterwards(Arc<Mutex<JoinSet<()>>>);

impl Afterwards {
    /// Does some work on the runtime of the caller; before this returns when there is none, and not
    /// at all when too much is under way.
    pub(crate) async fn add(&self, work: impl Future<Output = ()> + Send + 'static) {
        match Handle::try_current() {
            Ok(runtime) => {
                let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                while under_way.try_join_next().is_some() {}
                if under_way.len() < AT_ONCE {
                    under_way.spawn_on(work, &runtime);
                }
            }
            Err(_) => work.await,
        }
    }

    /// Waits until all is done.
    pub(crate) async fn done(&self) {
        let mut under_way =
            std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        while under_way.join_next().await.is_some() {}
    }
}
