//! No dead setting (R13): each one of retrieval, when changed, changes something that can be seen.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kuhaku_core::{Embedder, Probability, Reranker, Section as _, Sources};
use kuhaku_rag::{Fusion, RagEngineBuilder, RagSettings, SearchAnswer, Strategy};
use kuhaku_testkit::{MarkerClassifier, OverlapReranker, WordEmbedder};
use support::{Base, anonymous};

const QUESTION: &str = "gull parcel zone";

/// Texts among which words and vectors disagree.
async fn base() -> Base {
    let mut settings = RagSettings::default();
    settings.max_chunks_per_document = 0;
    let base = Base::embedding(settings, Arc::new(WordEmbedder::new(64)));
    for (name, text) in [
        ("a.txt", "gull gull gull and a very long story of the wide sea with ships and salt"),
        ("b.txt", "parcel zone"),
        ("c.txt", "parcel zone harbour"),
        ("d.txt", "parcel and parcel and parcel, and now a zone, and then a tin of fish"),
        ("e.txt", "harbour master"),
        ("f.txt", "gull parcel"),
        ("g.txt", "zone of the gull, zone of the parcel, zone of no return, zone of ice"),
    ] {
        base.add(name, text, &[]).await;
    }
    base
}

async fn search(engine: RagEngineBuilder) -> SearchAnswer {
    engine.build().unwrap().search(&anonymous(QUESTION).top_k(5)).await.unwrap()
}

fn order(found: &SearchAnswer) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.retrieved.source.as_str()).collect()
}

/// What is found with a setting as the environment gives it.
async fn with(base: &Base, names: &[(&str, &str)]) -> Vec<String> {
    let names = names.iter().map(|(name, value)| (format!("KUHAKU_RAG__{name}"), *value));
    let mut settings = RagSettings::load(&Sources::new().env(names)).unwrap();
    settings.max_chunks_per_document = 0;
    let found = search(base.engine().settings(settings)).await;
    order(&found).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn each_setting_of_the_fusion_changes_what_is_found() {
    let base = base().await;
    let plain = with(&base, &[]).await;
    for names in [
        &[("RETRIEVAL", "sparse")][..],
        &[("RETRIEVAL", "bm25")],
        &[("RETRIEVAL", "dense")],
        &[("DENSE_WEIGHT", "0")],
        &[("SPARSE_WEIGHT", "0")],
        &[("MMR_LAMBDA", "0")],
    ] {
        assert_ne!(with(&base, names).await, plain, "{names:?}");
    }
    assert_eq!(with(&base, &[("RETRIEVAL", "hybrid")]).await, plain, "auto is hybrid here");
    let mut seen = Vec::new();
    for (fusion, k) in [("minmax", "60"), ("tmm", "60"), ("rrf", "60"), ("rrf", "1")] {
        let mut found = Vec::new();
        for weight in ["0.3", "0.6", "1", "1.5", "2", "3", "5"] {
            let names = [("FUSION", fusion), ("RRF_K", k), ("DENSE_WEIGHT", weight)];
            found.push(with(&base, &names).await);
        }
        seen.push(found);
    }
    assert!(seen.iter().enumerate().all(|(at, found)| !seen[..at].contains(found)), "{seen:?}");
}

/// Judges everything alike.
#[derive(Debug)]
struct Even;

#[async_trait]
impl Reranker for Even {
    fn id(&self) -> &str {
        "test:even"
    }

    async fn rerank(&self, _: &str, texts: &[&str]) -> kuhaku_core::Result<Vec<Probability>> {
        Ok(vec![Probability::ONE; texts.len()])
    }
}

#[tokio::test]
async fn the_depths_decide_what_later_stages_see() {
    let mut base = base().await;
    for deep in [false, true] {
        base.settings.rerank_candidates = if deep { 7 } else { 1 };
        let reranker = Arc::new(OverlapReranker::new());
        search(base.engine().reranker(reranker.clone())).await;
        assert_eq!(reranker.calls()[0].len(), if deep { 7 } else { 5 });
    }
    // What both rankings hold rises when both look deeper.
    base.settings.rerank_candidates = 1;
    let engine = |base: &Base| base.engine().build().unwrap();
    let found = |engine: kuhaku_rag::RagEngine| async move {
        let found = engine.search(&anonymous(QUESTION).top_k(1)).await.unwrap();
        found.hits[0].retrieved.clone()
    };
    base.settings.fetch_k = 1;
    let shallow = found(engine(&base)).await;
    base.settings.fetch_k = 7;
    let deep = found(engine(&base)).await;
    assert_ne!(shallow.bm25.zip(shallow.cosine), deep.bm25.zip(deep.cosine));
}

#[tokio::test]
async fn the_reranker_counts_by_its_weight() {
    let mut base = base().await;
    let before = order(&search(base.engine()).await).join(" ");
    let mut orders = vec![before.clone()];
    for alpha in [0.0, 1.0] {
        base.settings.rerank_alpha = alpha;
        let found = search(base.engine().reranker(Arc::new(OverlapReranker::new()))).await;
        orders.push(order(&found).join(" "));
    }
    assert_eq!(orders[0], orders[1], "a weight of 0 leaves the order");
    assert_ne!(orders[1], orders[2]);
}

/// An embedder and a reranker that take a second for a question.
#[derive(Debug)]
struct Slow(WordEmbedder);

#[async_trait]
impl Embedder for Slow {
    fn fingerprint(&self) -> &str {
        self.0.fingerprint()
    }

    async fn embed_documents(&self, texts: &[&str]) -> kuhaku_core::Result<Vec<Vec<f32>>> {
        self.0.embed_documents(texts).await
    }

    async fn embed_query(&self, text: &str) -> kuhaku_core::Result<Vec<f32>> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.0.embed_query(text).await
    }
}

#[async_trait]
impl Reranker for Slow {
    fn id(&self) -> &str {
        "test:slow"
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> kuhaku_core::Result<Vec<Probability>> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Even.rerank(query, texts).await
    }
}

#[tokio::test(start_paused = true)]
async fn models_have_the_time_that_is_set() {
    let mut base = base().await;
    let slow = || Arc::new(Slow(WordEmbedder::new(64)));
    for (embedding, reranking, expected) in
        [(2.0, 2.0, &[][..]), (0.5, 2.0, &["dense"]), (2.0, 0.5, &["rerank"])]
    {
        base.settings.embedding_timeout_seconds = embedding;
        base.settings.rerank_timeout_seconds = reranking;
        let found = search(base.engine().embedder(slow()).reranker(slow())).await;
        let skipped: Vec<&str> = found.skipped.iter().map(|it| it.stage).collect();
        assert_eq!(skipped, expected);
    }
}

#[tokio::test]
async fn the_guard_holds_back_from_its_threshold_on() {
    let mut base = base().await;
    for (threshold, held) in [(0.5, true), (0.95, false)] {
        base.settings.guard_threshold = threshold;
        let guarded = base.engine().classifier(Arc::new(MarkerClassifier::new("gull")));
        let found = search(guarded).await;
        assert_eq!(!order(&found).contains(&"f.txt"), held, "{threshold}");
    }
}

#[tokio::test]
async fn the_thresholds_decide_what_an_answer_may_rest_on() {
    let mut base = base().await;
    // In other words: few of the question's, and yet near.
    let question = anonymous("harbour master of a mast");
    base.settings.rag_confidence_threshold = 1.0;
    for (weight, neutral, abstained) in
        [(None, None, true), (Some(9.0), Some(0.4), false), (Some(9.0), Some(0.9), true)]
    {
        base.settings.cosine_weight = weight;
        base.settings.cosine_neutral = neutral;
        let answer = base.engine().build().unwrap().ask(&question).await.unwrap();
        assert_eq!(answer.abstained, abstained, "{weight:?}: {:?}", answer.retrieved);
    }
    (base.settings.cosine_weight, base.settings.cosine_neutral) = (None, None);
    for (cosine, abstained) in [(None, true), (Some(0.99), true), (Some(0.6), false)] {
        base.settings.cosine_threshold = cosine;
        let answer = base.engine().build().unwrap().ask(&question).await.unwrap();
        assert_eq!(answer.abstained, abstained, "{cosine:?}: {:?}", answer.retrieved);
    }
    for (rerank, abstained) in [(0.3, false), (0.9, true)] {
        base.settings.rerank_threshold = rerank;
        let engine = base.engine().reranker(Arc::new(OverlapReranker::new())).build().unwrap();
        assert_eq!(engine.ask(&question).await.unwrap().abstained, abstained, "{rerank}");
    }
}

/// R13, FAC-02: one error names every wrong value, and lists the names that there are.
#[test]
fn values_that_cannot_be_are_named_together() {
    let names = [
        ("RETRIEVAL", "nope"),
        ("FUSION", "borda"),
        ("RRF_K", "0"),
        ("MMR_LAMBDA", "1.5"),
        ("DENSE_WEIGHT", "-1"),
        ("EMBEDDING_PROVIDER", "cloud"),
        ("COSINE_THRESHOLD", "NaN"),
        ("RERANK_ALPHA", "2"),
    ];
    let env = names.map(|(name, value)| (format!("KUHAKU_RAG__{name}"), value));
    let error = RagSettings::load(&Sources::new().env(env)).unwrap_err();
    for (name, _) in names {
        assert!(error.wrong().contains(&format!("rag.{}", name.to_lowercase())), "{error}");
    }
    assert!(error.wrong().contains("auto sparse dense hybrid"), "{error}");
    assert!(error.wrong().contains("rrf minmax tmm"), "{error}");
    let mut settings = RagSettings::default();
    assert_eq!((settings.retrieval, settings.fusion), (Strategy::Auto, Fusion::Minmax));
    (settings.dense_weight, settings.sparse_weight) = (0.0, 0.0);
    assert!(settings.validate().is_err());
}
