//! Which hits an answer may rest on (R9, D23, docs/abstention.md).

use crate::retrieve::Hit;
use crate::settings::RagSettings;

/// What cosines of a model mean: how much they count beside coverage, and the cosine that counts
/// neither for nor against. Chosen on the training part of SciFact; for e5 with a look at XQuAD, of
/// which a higher weight would answer less. Of other models nothing is known, so theirs do not count.
const MEASURED: [(&str, f64, f64); 2] =
    [("multilingual-e5-small", 2.0, 0.87), ("all-minilm", 1.0, 0.6)];

/// How the absolute signals decide. Fused scores are none of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    threshold: f64,
    cosine_weight: f64,
    cosine_neutral: f64,
    cosine_threshold: Option<f64>,
    rerank_threshold: f64,
}

impl Evidence {
    /// By these settings, for cosines of an embedder with this fingerprint.
    pub(crate) fn new(settings: &RagSettings, embedder: Option<&str>) -> Self {
        // The model's name comes first.
        let model = embedder.and_then(|it| it.split(';').next()).unwrap_or_default();
        let model = model.to_lowercase();
        let known = MEASURED.iter().find(|(name, ..)| model.contains(name));
        let (_, weight, neutral) = known.copied().unwrap_or_default();
        Self {
            threshold: settings.rag_confidence_threshold,
            cosine_weight: settings.cosine_weight.unwrap_or(weight),
            cosine_neutral: settings.cosine_neutral.unwrap_or(neutral),
            cosine_threshold: settings.cosine_threshold,
            rerank_threshold: settings.rerank_threshold,
        }
    }

    /// A reranker has read question and chunk side by side: it decides alone. Without one, coverage
    /// and cosine decide together.
    pub(crate) fn is(self, hit: &Hit, coverage: f64) -> bool {
        if let Some(probability) = hit.rerank {
            return probability >= self.rerank_threshold;
        }
        let Some(cosine) = hit.cosine else { return coverage >= self.threshold };
        let support = coverage + self.cosine_weight * (cosine - self.cosine_neutral);
        support >= self.threshold || self.cosine_threshold.is_some_and(|it| cosine >= it)
    }
}

#[cfg(test)]
mod tests {
    use kuhaku_core::AccessTags;
    use kuhaku_index::StoredChunk;

    use super::*;

    const E5: &str = "onnx:intfloat/multilingual-e5-small;model=1;pooling=mean";

    fn hit() -> Hit {
        let id = "a::0".parse().unwrap();
        Hit::new(StoredChunk::new(id, "text", AccessTags::none())).bm25(90.0).score(1.0)
    }

    #[track_caller]
    fn decides(evidence: Evidence, cases: &[(Hit, f64, bool)]) {
        for (hit, coverage, expected) in cases {
            assert_eq!(evidence.is(hit, *coverage), *expected, "{hit:?} {coverage}");
        }
    }

    #[test]
    fn absolute_signals_decide_and_scores_do_not() {
        let cases = [
            (hit(), 0.2, false),
            (hit(), 0.5, true),
            (hit().cosine(0.05), 0.0, false),
            (hit().cosine(0.87), 0.5, true),
            (hit().cosine(0.93), 0.4, true),
            (hit().cosine(0.80), 0.6, false),
            (hit().cosine(0.99).rerank(0.1), 1.0, false),
            (hit().cosine(0.05).rerank(0.9), 0.0, true),
        ];
        decides(Evidence::new(&RagSettings::default(), Some(E5)), &cases);
    }

    #[test]
    fn cosines_of_a_model_that_was_not_measured_count_only_when_it_is_set() {
        let mut settings = RagSettings::default();
        for model in [None, Some("openai:multilingual-e6;dimension=3"), Some("words")] {
            let evidence = Evidence::new(&settings, model);
            decides(evidence, &[(hit().cosine(0.99), 0.4, false), (hit().cosine(0.1), 0.5, true)]);
        }
        settings.cosine_weight = Some(1.0);
        settings.cosine_neutral = Some(0.5);
        let evidence = Evidence::new(&settings, Some("words"));
        decides(evidence, &[(hit().cosine(0.99), 0.4, true), (hit().cosine(0.1), 0.5, false)]);
        settings.cosine_threshold = Some(0.9);
        let evidence = Evidence::new(&settings, Some(E5));
        decides(evidence, &[(hit().cosine(0.9), 0.0, true), (hit().cosine(0.89), 0.0, false)]);
    }
}
