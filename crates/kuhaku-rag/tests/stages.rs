//! The stages behind a retriever, each on hits that are given.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use kuhaku_core::{
    AccessTags, DocumentId, Embedder, ErrorKind as CoreErrorKind, Probability, Reranker, Scope,
};
use kuhaku_index::{ChunkReader, StoredChunk};
use kuhaku_rag::{
    DenseRetriever, ErrorKind, GuardedRetriever, Hit, MmrRetriever, RagSettings, RerankRetriever,
    Result, Retrieval, RetrievalRequest, Retriever, TextDocument,
};
use kuhaku_testkit::{MarkerClassifier, OverlapReranker};
use support::Base;

/// Gives these texts with these scores, as many as it is asked for.
#[derive(Clone, Debug)]
struct Listed(Vec<(String, f64)>);

impl Listed {
    fn new<T: ToString>(texts: impl IntoIterator<Item = (T, f64)>) -> Self {
        Self(texts.into_iter().map(|(text, score)| (text.to_string(), score)).collect())
    }
}

#[async_trait]
impl Retriever for Listed {
    async fn retrieve(&self, request: &RetrievalRequest) -> Result<Retrieval> {
        let hit = |(at, (text, score)): (usize, &(String, f64))| {
            let id = format!("d{at:02}::0").parse().unwrap();
            Hit::new(StoredChunk::new(id, text, AccessTags::none())).score(*score)
        };
        let hits = self.0.iter().enumerate().map(hit).take(request.limit).collect();
        Ok(Retrieval::new(hits))
    }
}

/// A text is the better the longer it is.
#[derive(Debug)]
struct Length;

#[async_trait]
impl Reranker for Length {
    fn id(&self) -> &str {
        "test:length"
    }

    async fn rerank(&self, _: &str, texts: &[&str]) -> kuhaku_core::Result<Vec<Probability>> {
        texts.iter().map(|text| Probability::new(text.len() as f64 / 100.0)).collect()
    }
}

async fn reader(chunks: usize) -> Arc<dyn ChunkReader> {
    let base = Base::new();
    for n in 0..chunks {
        base.add(&format!("{n}.txt"), &format!("text {n}"), &[]).await;
    }
    base.index.reader(&Scope::anonymous()).await.unwrap()
}

async fn request(limit: usize) -> RetrievalRequest {
    RetrievalRequest::new("which", reader(0).await, limit)
}

fn texts(found: &Retrieval) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.chunk.text.as_str()).collect()
}

fn scores(found: &Retrieval) -> Vec<f64> {
    found.hits.iter().map(|hit| (hit.score.unwrap() * 1e6).round() / 1e6).collect()
}

const CANDIDATES: [(&str, f64); 3] = [("a", 1.0), ("aa", 0.9), ("aaa", 0.8)];

/// RK-47
#[tokio::test]
async fn a_reranker_is_blended_with_the_order_before() {
    let cases: [(f64, &[&str], &[f64]); 4] = [
        (1.0, &["aaa", "aa", "a"], &[0.03, 0.02, 0.01]),
        (0.7, &["aaa", "aa", "a"], &[0.7, 0.5, 0.3]),
        (0.5, &["a", "aa", "aaa"], &[0.5, 0.5, 0.5]),
        (0.0, &["a", "aa", "aaa"], &[1.0, 0.5, 0.0]),
    ];
    for (alpha, order, blended) in cases {
        let stage = RerankRetriever::new(Listed::new(CANDIDATES), Arc::new(Length));
        let found = stage.alpha(alpha).unwrap().retrieve(&request(3).await).await.unwrap();
        assert_eq!((texts(&found), scores(&found)), (order.to_vec(), blended.to_vec()), "{alpha}");
        assert!(found.hits.iter().all(|hit| hit.rerank.is_some()), "the raw judgement stays");
    }
    // Equal judgements leave the order before.
    let equal = Listed::new([("bb", 1.0), ("cc", 0.9), ("aa", 0.8)]);
    let stage = RerankRetriever::new(equal, Arc::new(Length)).alpha(0.5).unwrap();
    let found = stage.retrieve(&request(3).await).await.unwrap();
    assert_eq!(texts(&found), ["bb", "cc", "aa"]);
    assert_eq!(scores(&found), [1.0, 0.75, 0.5]);
    let error = RerankRetriever::new(Listed::new(CANDIDATES), Arc::new(Length)).alpha(1.5);
    assert_eq!(error.unwrap_err().code(), "core.invalid_input");
}

/// RK-47: the part about no candidates.
#[tokio::test]
async fn without_candidates_no_model_is_asked() {
    let (reranker, classifier) =
        (Arc::new(OverlapReranker::new()), Arc::new(MarkerClassifier::new("x")));
    let none = Listed::new(Vec::<(String, f64)>::new());
    let stage = RerankRetriever::new(none, reranker.clone());
    let stage = GuardedRetriever::new(stage, classifier.clone()).unwrap();
    let found = stage.retrieve(&request(4).await).await.unwrap();
    assert_eq!(found, Retrieval::default());
    assert!(reranker.calls().is_empty() && classifier.calls().is_empty());
}

#[tokio::test]
async fn more_hits_are_judged_than_are_given() {
    let reranker = Arc::new(OverlapReranker::new());
    let list = Listed::new((0..9).map(|n| (format!("text {n}"), 9.0 - f64::from(n))));
    let stage = RerankRetriever::new(list, reranker.clone()).depth(6);
    assert_eq!(stage.retrieve(&request(2).await).await.unwrap().hits.len(), 2);
    assert_eq!(stage.retrieve(&request(8).await).await.unwrap().hits.len(), 8);
    let depths: Vec<usize> = reranker.calls().iter().map(Vec::len).collect();
    assert_eq!(depths, [6, 8]);
}

/// R12, R14: clean degradation.
#[tokio::test(start_paused = true)]
async fn a_reranker_that_fails_or_hangs_leaves_the_order_and_is_named() {
    for (reranker, reason) in [
        (OverlapReranker::failing(), "reranker_failed"),
        (OverlapReranker::short(), "reranker_failed"),
        (OverlapReranker::hanging(), "reranker_timed_out"),
    ] {
        let stage = RerankRetriever::new(Listed::new(CANDIDATES), Arc::new(reranker));
        let begun = tokio::time::Instant::now();
        let found = stage.timeout(Duration::from_millis(200)).retrieve(&request(2).await).await;
        let found = found.unwrap();
        assert_eq!(texts(&found), ["a", "aa"], "{reason}");
        assert_eq!((found.skipped[0].stage, found.skipped[0].reason), ("rerank", reason));
        assert!(found.hits.iter().all(|hit| hit.rerank.is_none()));
        assert!(begun.elapsed() < Duration::from_millis(250), "{:?}", begun.elapsed());
    }
    // The request's own end comes first when it is earlier.
    let stage = RerankRetriever::new(Listed::new(CANDIDATES), Arc::new(OverlapReranker::hanging()));
    let soon = Instant::now() + Duration::from_millis(50);
    let found = stage.retrieve(&request(2).await.deadline(Some(soon))).await.unwrap();
    assert_eq!(found.skipped[0].reason, "reranker_timed_out");
}

/// Counts how often a text holds each of three words.
#[derive(Debug)]
struct Vocabulary;

impl Vocabulary {
    fn vector(text: &str) -> Vec<f32> {
        ["cat", "dog", "fish"].map(|word| text.matches(word).count() as f32).to_vec()
    }
}

#[async_trait]
impl Embedder for Vocabulary {
    fn fingerprint(&self) -> &str {
        "test:vocabulary"
    }

    async fn embed_documents(&self, texts: &[&str]) -> kuhaku_core::Result<Vec<Vec<f32>>> {
        let vector =
            |text: &&str| if *text == "dimension" { vec![1.0; 3] } else { Self::vector(text) };
        Ok(texts.iter().map(vector).collect())
    }

    async fn embed_query(&self, text: &str) -> kuhaku_core::Result<Vec<f32>> {
        Ok(Self::vector(text))
    }
}

async fn pets() -> (Base, RetrievalRequest) {
    let base = Base::embedding(RagSettings::default(), Arc::new(Vocabulary));
    for (n, text) in ["cat", "cat cat", "cat dog", "dog fish", "fish"].iter().enumerate() {
        let key = DocumentId::new(n.to_string()).unwrap();
        let document = TextDocument::new(format!("{n}.txt"), *text).key(key);
        base.ingestor.text(document).await.unwrap();
    }
    let reader = base.index.reader(&Scope::anonymous()).await.unwrap();
    (base, RetrievalRequest::new("cat dog", reader, 3))
}

/// RAGKit's example of maximal marginal relevance.
#[tokio::test]
async fn novelty_and_relevance_are_weighed_by_lambda() {
    let (_base, request) = pets().await;
    for (lambda, expected) in [
        (1.0, ["cat dog", "cat", "cat cat"]),
        (0.5, ["cat dog", "cat", "dog fish"]),
        (0.0, ["cat dog", "fish", "cat"]),
    ] {
        let dense = DenseRetriever::new(Arc::new(Vocabulary));
        let stage = MmrRetriever::new(dense, lambda).unwrap().depth(20);
        assert_eq!(texts(&stage.retrieve(&request).await.unwrap()), expected, "{lambda}");
    }
    for lambda in [-0.1, 1.1, f64::NAN] {
        assert!(MmrRetriever::new(Listed::new(CANDIDATES), lambda).is_err());
    }
}

/// A lambda of 1 keeps any order, whatever made it.
#[tokio::test]
async fn relevance_alone_keeps_the_order_of_another_stage() {
    let (_base, request) = pets().await;
    let dense = DenseRetriever::new(Arc::new(Vocabulary));
    let reranked = RerankRetriever::new(dense, Arc::new(Length)).depth(5);
    let order = reranked.retrieve(&request).await.unwrap();
    let stage = MmrRetriever::new(reranked, 1.0).unwrap().depth(5);
    assert_eq!(texts(&stage.retrieve(&request).await.unwrap()), texts(&order));
    assert_ne!(texts(&order), ["cat dog", "cat", "cat cat"]);
}

#[tokio::test]
async fn without_vectors_novelty_is_skipped_and_named() {
    let stage = MmrRetriever::new(Listed::new(CANDIDATES), 0.5).unwrap();
    let found = stage.retrieve(&request(2).await).await.unwrap();
    assert_eq!(texts(&found), ["a", "aa"]);
    assert_eq!((found.skipped[0].stage, found.skipped[0].reason), ("mmr", "no_vectors"));
}

/// The next best chunks take the places of those held back, from as deep as it takes.
#[tokio::test]
async fn what_is_held_back_leaves_no_place_empty() {
    let bad = (0..30).map(|n| (format!("ignore this {n}"), 1.0));
    let good = (0..4).map(|n| (format!("fine {n}"), 0.5));
    let list = Listed::new(bad.chain(good));
    let classifier = Arc::new(MarkerClassifier::new("ignore"));
    let stage = GuardedRetriever::new(list, classifier.clone()).unwrap();
    let all = RetrievalRequest::new("which", reader(34).await, 3);
    let found = stage.retrieve(&all).await.unwrap();
    assert_eq!(texts(&found), ["fine 0", "fine 1", "fine 2"]);
    assert_eq!(found.held_back, 30);
    let judged: Vec<String> = classifier.calls().concat();
    assert_eq!(judged.len(), 33, "each text is judged once, and none beyond the places");
    let mut deeper = all.clone();
    deeper.limit = 9;
    let found = stage.retrieve(&deeper).await.unwrap();
    assert_eq!(texts(&found).len(), 4, "there are no more");
}

#[tokio::test]
async fn without_a_judgement_nothing_is_given() {
    let failing = Arc::new(MarkerClassifier::failing());
    let stage = GuardedRetriever::new(Listed::new(CANDIDATES), failing).unwrap();
    let error = stage.retrieve(&request(2).await).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Core(CoreErrorKind::Unavailable));
}

/// A classifier of something else would hold back nothing.
#[tokio::test]
async fn labels_are_known_in_any_case_or_refused() {
    for attack in ["INJECTION", "malicious", "Jailbreak", "LABEL_1"] {
        let classifier = Arc::new(MarkerClassifier::labelled("aaa", ["SAFE", attack]));
        let stage = GuardedRetriever::new(Listed::new(CANDIDATES), classifier).unwrap();
        let found = stage.retrieve(&request(3).await).await.unwrap();
        assert_eq!(texts(&found), ["a", "aa"], "{attack}");
    }
    let moods = Arc::new(MarkerClassifier::labelled("aaa", ["glad", "sad"]));
    let error = GuardedRetriever::new(Listed::new(CANDIDATES), moods).unwrap_err();
    assert!(error.to_string().contains("glad, sad"), "{error}");
}

#[tokio::test]
async fn the_threshold_of_the_guard_is_the_first_probability_that_is_held_back() {
    for (threshold, expected) in [(0.9, 2), (0.91, 3), (0.1, 0)] {
        let classifier = Arc::new(MarkerClassifier::new("aaa"));
        let stage = GuardedRetriever::new(Listed::new(CANDIDATES), classifier).unwrap();
        let stage = stage.threshold(Probability::new(threshold).unwrap());
        let found = stage.retrieve(&request(3).await).await.unwrap();
        assert_eq!(found.hits.len(), expected, "{threshold}");
    }
}
