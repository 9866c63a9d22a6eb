//! Which hits an answer may rest on (R9, D23, docs/abstention.md).

use crate::retrieve::Hit;
use crate::settings::RagSettings;

/// The thresholds of the absolute signals. Fused scores are none of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    coverage: f64,
    cosine: f64,
    rerank: f64,
}

impl Evidence {
    pub(crate) fn new(settings: &RagSettings) -> Self {
        Self {
            coverage: settings.rag_confidence_threshold,
            cosine: settings.cosine_threshold,
            rerank: settings.rerank_threshold,
        }
    }

    /// A reranker has read question and chunk side by side: it decides alone. Without one, either
    /// signal is enough: a chunk in other words, or in another language, shares few with the question,
    /// and vectors miss identifiers.
    pub(crate) fn is(self, hit: &Hit, coverage: f64) -> bool {
        match hit.rerank {
            Some(probability) => probability >= self.rerank,
            None => coverage >= self.coverage || hit.cosine.is_some_and(|it| it >= self.cosine),
        }
    }
}

#[cfg(test)]
mod tests {
    use kuhaku_core::AccessTags;
    use kuhaku_index::StoredChunk;

    use super::*;

    fn hit() -> Hit {
        let id = "a::0".parse().unwrap();
        Hit::new(StoredChunk::new(id, "text", AccessTags::none())).bm25(90.0).score(1.0)
    }

    #[test]
    fn absolute_signals_decide_and_scores_do_not() {
        let evidence = Evidence::new(&RagSettings::default());
        let cases = [
            (hit(), 0.2, false),
            (hit(), 0.5, true),
            (hit().cosine(0.05), 0.0, false),
            (hit().cosine(0.99), 0.0, true),
            (hit().cosine(0.99).rerank(0.1), 1.0, false),
            (hit().cosine(0.05).rerank(0.9), 0.0, true),
        ];
        for (hit, coverage, expected) in cases {
            assert_eq!(evidence.is(&hit, coverage), expected, "{hit:?} {coverage}");
        }
    }
}
