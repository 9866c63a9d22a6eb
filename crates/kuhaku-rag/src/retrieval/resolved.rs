//! Choosing how chunks are found when the settings leave it open.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kuhaku_core::{Announcement, Embedder, ErrorKind as CoreErrorKind, Runtime};

use crate::error::{Error, ErrorKind, Result};
use crate::retrieval::dense::DenseRetriever;
use crate::retrieval::hybrid::HybridRetriever;
use crate::retrieval::sparse::SparseRetriever;
use crate::retrieval::strategy::Strategy;
use crate::retrieve::{Retrieval, RetrievalRequest, Retriever};
use crate::settings::RagSettings;

/// Makes the retriever of some settings.
///
/// # Errors
/// `core.invalid_settings` when vectors are asked for and nothing makes them: what was chosen is never
/// replaced by less.
pub(crate) fn retriever(
    settings: &RagSettings,
    embedder: Option<Arc<dyn Embedder>>,
    runtime: &Runtime,
) -> Result<Arc<dyn Retriever>> {
    let sparse = SparseRetriever::new(settings.bm25());
    let Some(embedder) = embedder else {
        return match settings.retrieval {
            Strategy::Sparse => Ok(Arc::new(sparse)),
            Strategy::Auto => Ok(Arc::new(Auto { sparse, hybrid: None, runtime: runtime.clone() })),
            strategy => Err(no_embedder(strategy)),
        };
    };
    let timeout = Duration::try_from_secs_f64(settings.embedding_timeout_seconds);
    let dense =
        DenseRetriever::new(embedder).timeout(timeout.unwrap_or(Duration::MAX)).observed(runtime);
    let hybrid = HybridRetriever::new(dense.clone(), sparse.clone(), settings.fuser())
        .weights(settings.dense_weight, settings.sparse_weight)
        .depth(settings.fetch_k);
    Ok(match settings.retrieval {
        Strategy::Sparse => Arc::new(sparse),
        Strategy::Dense => Arc::new(dense),
        Strategy::Hybrid => Arc::new(hybrid),
        Strategy::Auto => {
            Arc::new(Auto { sparse, hybrid: Some((dense, hybrid)), runtime: runtime.clone() })
        }
    })
}

fn no_embedder(strategy: Strategy) -> Error {
    let kind = ErrorKind::Core(CoreErrorKind::InvalidSettings);
    let wrong = format!("rag.retrieval is {strategy}, and there is no embedder");
    Error::new(kind, "choose how chunks are found", wrong)
        .next("give an embedder, or set rag.retrieval to auto or sparse")
}

/// Hybrid for callers who see vectors, sparse for others (D9).
#[derive(Clone, Debug)]
struct Auto {
    sparse: SparseRetriever,
    hybrid: Option<(DenseRetriever, HybridRetriever)>,
    runtime: Runtime,
}

#[async_trait]
impl Retriever for Auto {
    async fn retrieve(&self, request: &RetrievalRequest) -> Result<Retrieval> {
        let text = match &self.hybrid {
            Some((dense, hybrid)) => {
                if dense.applies(request.reader.as_ref())? {
                    return hybrid.retrieve(request).await;
                }
                "Retrieval is by words alone: there are no vectors to search. Run `kuhaku index \
                 reembed` to make them."
            }
            None => "Retrieval is by words alone: there is no embedding model.",
        };
        self.runtime.announce(&Announcement::new("rag.retrieval.sparse", text));
        let found = self.sparse.retrieve(request).await?;
        // The index was made to be searched by meaning too.
        let missed = self.hybrid.is_none() && request.reader.visible_vectors() > 0;
        Ok(if missed { found.skipped("dense", "no_embedder") } else { found })
    }
}
