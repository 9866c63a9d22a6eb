//! What stands behind a retriever in the engine.

use std::sync::Arc;
use std::time::Duration;

use kuhaku_core::{Probability, Reranker, Runtime, TextClassifier};

use crate::error::{Adopt as _, Result};
use crate::retrieval::diverse::DiverseRetriever;
use crate::retrieval::guarded::GuardedRetriever;
use crate::retrieval::mmr::MmrRetriever;
use crate::retrieval::rerank::RerankRetriever;
use crate::retrieve::Retriever;
use crate::settings::RagSettings;

/// Puts the stages of some settings behind a retriever: rerank, novelty, diversity, guard. The guard
/// comes last, so that it judges only what is to be given.
pub(crate) fn behind(
    mut retriever: Arc<dyn Retriever>,
    settings: &RagSettings,
    reranker: Option<Arc<dyn Reranker>>,
    classifier: Option<Arc<dyn TextClassifier>>,
    runtime: &Runtime,
) -> Result<Arc<dyn Retriever>> {
    let depth = settings.rerank_candidates;
    if let Some(reranker) = reranker {
        let timeout = Duration::try_from_secs_f64(settings.rerank_timeout_seconds);
        let stage = RerankRetriever::new(retriever, reranker)
            .depth(depth)
            .timeout(timeout.unwrap_or(Duration::MAX))
            .observed(runtime)
            .alpha(settings.rerank_alpha)?;
        retriever = Arc::new(stage);
    }
    if let Some(lambda) = settings.mmr_lambda {
        retriever = Arc::new(MmrRetriever::new(retriever, lambda)?.depth(depth));
    }
    let per_document = settings.max_chunks_per_document;
    // Without a choice to make, no more is found than is given.
    let depth = if per_document == 0 { 0 } else { depth };
    retriever = Arc::new(DiverseRetriever::new(retriever, per_document).depth(depth));
    if let Some(classifier) = classifier {
        let threshold = Probability::new(settings.guard_threshold).adopt()?;
        retriever = Arc::new(GuardedRetriever::new(retriever, classifier)?.threshold(threshold));
    }
    Ok(retriever)
}
