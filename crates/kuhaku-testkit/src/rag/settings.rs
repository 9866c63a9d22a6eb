//! Random settings of everything that orders chunks.

use kuhaku_rag::{Fusion, RagSettings, Strategy};

use crate::random::Random;

/// Which stages with a model there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stages {
    pub(super) rerank: bool,
    pub(super) guard: bool,
}

impl Stages {
    pub(super) fn random(random: &mut Random) -> Self {
        Self { rerank: random.once_in(2), guard: random.once_in(2) }
    }
}

/// One of several.
fn pick<T: Copy>(random: &mut Random, first: T, others: &[T]) -> T {
    others.get(random.below(1 + others.len())).copied().unwrap_or(first)
}

pub(super) fn settings(random: &mut Random) -> RagSettings {
    let mut settings = RagSettings::default();
    settings.retrieval = pick(random, Strategy::Auto, &[Strategy::Dense, Strategy::Hybrid]);
    settings.fusion = pick(random, Fusion::Rrf, &[Fusion::Minmax, Fusion::Tmm]);
    settings.rrf_k = pick(random, 1, &[60]);
    settings.dense_weight = pick(random, 0.3, &[1.0]);
    settings.fetch_k = 1 + random.below(4);
    settings.rerank_candidates = 1 + random.below(4);
    settings.rerank_alpha = pick(random, 0.4, &[1.0]);
    // A busy machine must not look like a leak.
    settings.rerank_timeout_seconds = 3600.0;
    settings.mmr_lambda = pick(random, None, &[Some(0.3), Some(0.7)]);
    settings.max_chunks_per_document = random.below(3);
    settings.top_k = 1 + random.below(4);
    settings.cosine_weight = pick(random, None, &[Some(2.0)]);
    settings.cosine_neutral = Some(0.4);
    settings.cosine_threshold = pick(random, None, &[Some(0.7)]);
    settings
}
