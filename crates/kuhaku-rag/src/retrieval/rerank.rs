//! Having a model judge the best chunks again.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kuhaku_core::{ErrorKind as CoreErrorKind, Reranker, Runtime};
use tracing::Instrument as _;

use crate::error::{Result, invalid_input};
use crate::limit::before;
use crate::observed;
use crate::retrieval::fusion::min_max;
use crate::retrieve::{Hit, Retrieval, RetrievalRequest, Retriever, passage};

/// How long the reranker may take, unless set.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Orders what another retriever finds by the judgement of a [`Reranker`].
///
/// When the reranker fails or takes too long, the order stays as it was, and
/// [`Retrieval::skipped`] says `rerank` with `reranker_failed` or `reranker_timed_out`.
#[derive(Clone, Debug)]
pub struct RerankRetriever {
    base: Arc<dyn Retriever>,
    reranker: Arc<dyn Reranker>,
    depth: usize,
    alpha: f64,
    timeout: Duration,
    runtime: Option<Runtime>,
}

impl RerankRetriever {
    /// Judges as many hits as are asked for. The reranker may take 10 seconds.
    pub fn new(base: impl Retriever + 'static, reranker: Arc<dyn Reranker>) -> Self {
        Self {
            base: Arc::new(base),
            reranker,
            depth: 0,
            alpha: 1.0,
            timeout: TIMEOUT,
            runtime: None,
        }
    }

    /// Tells of each judgement, as a stage.
    pub(crate) fn observed(mut self, runtime: &Runtime) -> Self {
        self.runtime = Some(runtime.clone());
        self
    }

    /// How many hits are judged, at least; never fewer than are asked for.
    #[must_use]
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// How much the judgement counts, from 0 to 1; the rest is for the order before it. Below 1, both
    /// are brought to the range from 0 to 1 among the hits judged.
    ///
    /// # Errors
    /// `core.invalid_input` outside of 0 to 1.
    pub fn alpha(mut self, alpha: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&alpha) {
            let wrong = format!("the weight {alpha} is not from 0 to 1");
            return Err(invalid_input("blend a reranker", wrong).next("give a weight from 0 to 1"));
        }
        self.alpha = alpha;
        Ok(self)
    }

    /// How long the reranker may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The probabilities of the hits, or why there are none.
    async fn judge(
        &self,
        request: &RetrievalRequest,
        hits: &[Hit],
    ) -> Result<Vec<f64>, &'static str> {
        let texts: Vec<String> = hits.iter().map(passage).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let judging = self.reranker.rerank(&request.query, &texts);
        match before(request.deadline, self.timeout, judging).await {
            None => Err("reranker_timed_out"),
            Some(Ok(judged)) if judged.len() == hits.len() => {
                Ok(judged.into_iter().map(|probability| probability.get()).collect())
            }
            Some(Err(error)) if *error.kind() == CoreErrorKind::TimedOut => {
                Err("reranker_timed_out")
            }
            Some(_) => Err("reranker_failed"),
        }
    }

    async fn judge_observed(
        &self,
        request: &RetrievalRequest,
        hits: &[Hit],
    ) -> Result<Vec<f64>, &'static str> {
        let Some(runtime) = &self.runtime else { return self.judge(request, hits).await };
        let stage = observed::rerank(runtime);
        let judged = self.judge(request, hits).instrument(stage.span().clone()).await;
        match &judged {
            Ok(_) => stage.end(),
            Err(reason) => stage.fail(reason),
        }
        judged
    }

    /// What the hits are ordered by now.
    fn blend(&self, hits: &[Hit], judged: &[f64]) -> Vec<f64> {
        if self.alpha == 1.0 {
            return judged.to_vec();
        }
        let judged = min_max(judged);
        let before = min_max(&scores(hits));
        let blend = |(judged, before)| self.alpha * judged + (1.0 - self.alpha) * before;
        judged.into_iter().zip(before).map(blend).collect()
    }
}

/// What hits were ordered by; their places when some retriever does not tell.
pub(crate) fn scores(hits: &[Hit]) -> Vec<f64> {
    let scores: Option<Vec<f64>> = hits.iter().map(|hit| hit.score).collect();
    let finite = scores.filter(|scores| scores.iter().all(|score| score.is_finite()));
    finite.unwrap_or_else(|| (0..hits.len()).rev().map(|place| place as f64).collect())
}

#[async_trait]
impl Retriever for RerankRetriever {
    async fn retrieve(&self, request: &RetrievalRequest) -> Result<Retrieval> {
        let found = self.base.retrieve(&request.at_least(self.depth)).await?;
        let mut found = found.within(request.reader.as_ref());
        if found.hits.is_empty() {
            return Ok(found);
        }
        match self.judge_observed(request, &found.hits).await {
            Ok(judged) => {
                let scores = self.blend(&found.hits, &judged);
                for ((hit, judged), score) in found.hits.iter_mut().zip(judged).zip(scores) {
                    (hit.rerank, hit.score) = (Some(judged), Some(score));
                }
                // Equal ones stay in the order before.
                let score = |hit: &Hit| hit.score.unwrap_or_default();
                found.hits.sort_by(|a, b| score(b).total_cmp(&score(a)));
            }
            Err(reason) => found.skip("rerank", reason),
        }
        found.hits.truncate(request.limit);
        Ok(found)
    }
}
