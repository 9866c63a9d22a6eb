//! Finding chunks by vectors, and by words and vectors, through the whole pipeline.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use kuhaku_core::{
    Announcement, Announcer, Capabilities, ChatRequest, ChatResponse, ChatStream, Embedder,
    ErrorKind as CoreErrorKind, LlmProvider, Runtime, Usage,
};
use kuhaku_index::Filter;
use kuhaku_rag::{AskRequest, Fusion, RagEngine, RagSettings, Strategy};
use kuhaku_testkit::{MarkerClassifier, OverlapReranker, ScriptedLlm, WordEmbedder};
use support::between::Between;
use support::{Base, anonymous, with_roles};

const WITH_VECTORS: [Strategy; 2] = [Strategy::Dense, Strategy::Hybrid];

fn by(strategy: Strategy) -> RagSettings {
    let mut settings = RagSettings::default();
    settings.retrieval = strategy;
    settings
}

fn words() -> Arc<WordEmbedder> {
    Arc::new(WordEmbedder::new(64))
}

fn base(strategy: Strategy) -> Base {
    Base::embedding(by(strategy), words())
}

async fn sources(engine: &RagEngine, request: &AskRequest) -> Vec<String> {
    let found = engine.search(request).await.unwrap();
    found.hits.into_iter().map(|hit| hit.retrieved.source).collect()
}

async fn zones(base: &Base) {
    for n in 1..=3 {
        let text = format!("Document {n} about shipping parcels to zone {n}");
        base.add(&format!("zone{n}.txt"), &text, &[]).await;
    }
}

/// FUS-04: what is nearest is still far, and shares no word.
#[tokio::test]
async fn the_nearest_chunk_is_no_evidence_when_it_is_far() {
    for strategy in WITH_VECTORS {
        let base = base(strategy);
        zones(&base).await;
        let answer = base.engine().build().unwrap().ask(&anonymous("Capital of France?")).await;
        let answer = answer.unwrap();
        assert!(answer.abstained, "{strategy}");
        assert_eq!(answer.retrieved.len(), 3, "it was found all the same");
        assert!(answer.retrieved.iter().all(|hit| hit.cosine.unwrap() < 0.5), "{strategy}");
    }
}

/// FUS-05
#[tokio::test]
async fn weaker_matches_are_kept_behind_the_best_one() {
    for strategy in WITH_VECTORS {
        for fusion in Fusion::ALL {
            let mut base = base(strategy);
            base.settings.fusion = *fusion;
            zones(&base).await;
            let answer = base.engine().build().unwrap().ask(&anonymous("shipping zone 1")).await;
            let answer = answer.unwrap();
            assert_eq!(answer.retrieved.len(), 3, "{strategy} {fusion}");
            assert_eq!(answer.retrieved[0].source, "zone1.txt", "{strategy} {fusion}");
        }
    }
}

/// FUS-06
#[tokio::test]
async fn common_words_alone_are_no_evidence() {
    for strategy in WITH_VECTORS {
        let base = base(strategy);
        zones(&base).await;
        let engine = base.engine().build().unwrap();
        for question in ["capital of France? about to", "what is the airspeed of a swallow"] {
            assert!(engine.ask(&anonymous(question)).await.unwrap().abstained, "{question}");
        }
    }
}

/// FUS-08, FUS-09
#[tokio::test]
async fn other_documents_come_first_and_one_document_may_fill_all_places() {
    for strategy in WITH_VECTORS {
        let mut settings = by(strategy);
        settings.chunk_size = 60;
        settings.chunk_overlap = 0;
        let base = Base::embedding(settings, words());
        let rule = |n: usize| format!("Parcels parcels, rule {n}: they are weighed, stamped.");
        let text: Vec<String> = (0..8).map(rule).collect();
        base.add("rules.txt", &text.join("\n\n"), &[]).await;
        let engine = base.engine().build().unwrap();
        assert_eq!(sources(&engine, &anonymous("parcels")).await, ["rules.txt"; 4], "{strategy}");
        base.add("other.txt", "Some parcels are lost on a long way through the snow.", &[]).await;
        let found = sources(&engine, &anonymous("parcels")).await;
        assert_eq!(found, ["rules.txt", "rules.txt", "other.txt", "rules.txt"], "{strategy}");
    }
}

/// FUS-10
#[tokio::test]
async fn pools_grow_with_the_limit_and_an_empty_side_leaves_the_other() {
    let mut settings = by(Strategy::Hybrid);
    settings.rerank_candidates = 5;
    settings.fetch_k = 5;
    let base = Base::embedding(settings, words());
    for n in 0..15 {
        base.add(&format!("{n}.txt"), &format!("Parcel number {n} is here."), &[]).await;
    }
    let engine = base.engine().build().unwrap();
    assert_eq!(sources(&engine, &anonymous("parcel").top_k(12)).await.len(), 12);
    // No word in common: vectors alone find something.
    let found = engine.search(&anonymous("swallow")).await.unwrap();
    assert_eq!(found.hits.len(), 4);
    assert!(found.hits.iter().all(|hit| hit.retrieved.bm25.is_none()));
}

/// ACL-02
#[tokio::test]
async fn hidden_chunks_take_no_places() {
    for strategy in WITH_VECTORS {
        let base = base(strategy);
        for n in 0..10 {
            let text = format!("salary bands {n}");
            base.add(&format!("hidden{n}.txt"), &text, &["people_ops"]).await;
        }
        for n in 0..5 {
            let text = format!("the salary of goose {n} is grass and water");
            base.add(&format!("open{n}.txt"), &text, &[]).await;
        }
        let engine = base.engine().build().unwrap();
        let found = sources(&engine, &with_roles("salary bands", &["engineering"])).await;
        assert_eq!(found.len(), 4, "{strategy}");
        assert!(found.iter().all(|source| source.starts_with("open")), "{strategy}: {found:?}");
    }
}

/// W-56: filters act before the cut.
#[tokio::test]
async fn stale_and_foreign_documents_take_no_places() {
    for strategy in WITH_VECTORS {
        let base = base(strategy);
        for n in 0..9 {
            let stale = format!("---\nexpiry_date: 2025-12-31\n---\nrefund number {n}");
            base.add(&format!("stale{n}.md"), &stale, &[]).await;
        }
        for n in 0..4 {
            let policy = format!("---\ndoc_type: policy\n---\nrefund {n} takes five working days");
            base.add(&format!("policy{n}.md"), &policy, &[]).await;
            base.add(&format!("other{n}.md"), &format!("refund {n}"), &[]).await;
        }
        let engine = base.engine().build().unwrap();
        let policies = anonymous("refund").filter(Filter::none().doc_type("policy"));
        let found = sources(&engine, &policies).await;
        assert_eq!(found.len(), 4, "{strategy}");
        assert!(found.iter().all(|source| source.starts_with("policy")), "{strategy}: {found:?}");
    }
}

/// RK-48
#[tokio::test]
async fn each_stage_looks_as_deep_as_the_next_one_needs() {
    let mut settings = by(Strategy::Hybrid);
    settings.fetch_k = 50;
    settings.max_chunks_per_document = 0;
    let base = Base::embedding(settings, words());
    for n in 0..70 {
        base.add(&format!("{n}.txt"), &format!("Parcel number {n} is here."), &[]).await;
    }
    let engine = |reranker: Option<Arc<OverlapReranker>>| {
        let (index, depths) = Between::noting(base.index.clone());
        let embedder = base.embedder.clone().unwrap();
        let builder = RagEngine::builder(Arc::new(index)).settings(base.settings.clone());
        let builder = builder.embedder(embedder);
        let builder = match reranker {
            Some(reranker) => builder.reranker(reranker),
            None => builder,
        };
        (builder.build().unwrap(), depths)
    };
    let (plain, depths) = engine(None);
    let taken = || std::mem::take(&mut *depths.lock().unwrap());
    assert_eq!(sources(&plain, &anonymous("parcel")).await.len(), 4);
    assert_eq!(taken(), ["dense 50", "sparse 50"]);
    assert_eq!(sources(&plain, &anonymous("parcel").top_k(60)).await.len(), 60);
    assert_eq!(taken(), ["dense 60", "sparse 60"]);
    assert_eq!(sources(&plain, &anonymous("parcel")).await.len(), 4);
    assert_eq!(taken(), ["dense 50", "sparse 50"], "a deep search leaves nothing behind");
    let reranker = Arc::new(OverlapReranker::new());
    let (reranked, depths) = engine(Some(reranker.clone()));
    assert_eq!(sources(&reranked, &anonymous("parcel")).await.len(), 4);
    assert_eq!(*depths.lock().unwrap(), ["dense 50", "sparse 50"]);
    assert_eq!(reranker.calls()[0].len(), 20);
}

/// R9, D25: raw signals stand on each hit, whichever side found it.
#[tokio::test]
async fn a_hit_of_either_side_carries_its_cosine() {
    let mut base = base(Strategy::Hybrid);
    base.settings.fetch_k = 1;
    base.settings.rerank_candidates = 2;
    base.settings.max_chunks_per_document = 0;
    // Nearest by direction: one word of two. Best by words: the rare one, in a long text.
    base.add("near.txt", "parcel zone", &[]).await;
    base.add("rare.txt", "parcel gull gull gull and many other things besides it", &[]).await;
    let engine = base.engine().build().unwrap();
    let found = engine.search(&anonymous("gull zone parcel").top_k(2)).await.unwrap();
    assert_eq!(found.hits.len(), 2);
    assert!(found.hits.iter().all(|hit| hit.retrieved.cosine.is_some()), "{found:?}");
    let dense = |hit: &kuhaku_rag::Found| (hit.retrieved.chunk.clone(), hit.retrieved.cosine);
    let mut settings = base.settings.clone();
    settings.retrieval = Strategy::Dense;
    let engine = base.engine().settings(settings).build().unwrap();
    let alone = engine.search(&anonymous("gull zone parcel").top_k(2)).await.unwrap();
    for hit in &found.hits {
        assert!(alone.hits.iter().any(|other| dense(other) == dense(hit)), "{hit:?}");
    }
}

/// D25: the form of what was found, with all signals.
#[tokio::test]
async fn all_signals_are_in_the_json_of_answers_and_searches() {
    let base = base(Strategy::Hybrid);
    base.add("a.txt", "Parcels to the north.", &[]).await;
    let engine = base.engine().reranker(Arc::new(OverlapReranker::new())).build().unwrap();
    let answer = engine.ask(&anonymous("parcels to the north")).await.unwrap();
    let mut value = serde_json::to_value(&answer.retrieved[0]).unwrap();
    for signal in ["bm25", "cosine"] {
        let number = value[signal].as_f64().unwrap();
        value[signal] = serde_json::json!((number * 1e6).round() / 1e6);
    }
    let expected = serde_json::json!({
        "chunk": answer.retrieved[0].chunk.to_string(),
        "title": "Parcels to the north.",
        "source": "a.txt",
        "bm25": 0.95894,
        "cosine": 1.0,
        "rerank": 1.0,
        "coverage": 1.0,
    });
    assert_eq!(value, expected);
    assert_eq!(serde_json::to_value(&answer).unwrap()["skipped"][0]["stage"], "generate");
    let found = engine.search(&anonymous("parcels to the north")).await.unwrap();
    let found = serde_json::to_value(&found).unwrap();
    assert_eq!(found["hits"][0]["rerank"], 1.0);
    assert_eq!(found["skipped"], serde_json::json!([]));
}

#[derive(Clone, Debug, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Announcer for Heard {
    fn announce(&self, announcement: &Announcement) {
        self.0.lock().unwrap().push(announcement.text.clone());
    }
}

/// FAC-01: the part about retrieval. D9: what the caller sees decides.
#[tokio::test]
async fn auto_takes_what_there_is_and_announces_less_once() {
    let base = Base::embedding(RagSettings::default(), words());
    base.add("open.txt", "Parcels go north.", &[]).await;
    let heard = Heard::default();
    let runtime = Runtime::builder().announcer(heard.clone()).build();
    let engine = base.engine().runtime(runtime.clone()).build().unwrap();
    let found = engine.search(&anonymous("parcels")).await.unwrap();
    assert!(found.hits[0].retrieved.cosine.is_some() && found.hits[0].retrieved.bm25.is_some());
    assert!(heard.0.lock().unwrap().is_empty());

    // Without an embedder, and with one of which the caller sees no vectors.
    let plain = Base::new();
    plain.add("open.txt", "Parcels go north.", &[]).await;
    for builder in [plain.engine(), plain.engine().embedder(words())] {
        let heard = Heard::default();
        let runtime = Runtime::builder().announcer(heard.clone()).build();
        for _ in 0..2 {
            let engine = builder.clone().runtime(runtime.clone()).build().unwrap();
            let found = engine.search(&anonymous("parcels")).await.unwrap();
            assert_eq!(found.hits[0].retrieved.cosine, None);
            assert!(found.hits[0].retrieved.bm25.is_some());
        }
        let heard = heard.0.lock().unwrap();
        assert_eq!(heard.len(), 1, "{heard:?}");
        assert!(heard[0].starts_with("Retrieval is by words alone"), "{heard:?}");
    }
}

/// FAC-02, D9: what was chosen is never replaced by less without a word.
#[tokio::test]
async fn a_strategy_that_cannot_be_is_an_error_or_says_so() {
    let plain = Base::new();
    plain.add("a.txt", "Parcels go north.", &[]).await;
    for strategy in WITH_VECTORS {
        let error = plain.engine().settings(by(strategy)).build().unwrap_err();
        assert_eq!(error.code(), "core.invalid_settings");
        assert!(error.to_string().contains(strategy.as_str()), "{error}");
        let engine = plain.engine().settings(by(strategy)).embedder(words()).build().unwrap();
        let found = engine.search(&anonymous("parcels")).await.unwrap();
        assert_eq!((found.skipped[0].stage, found.skipped[0].reason), ("dense", "no_vectors"));
        assert_eq!(found.hits.len(), usize::from(strategy == Strategy::Hybrid));
    }
}

/// D15
#[tokio::test]
async fn vectors_of_another_embedder_are_never_compared() {
    for strategy in [Strategy::Auto, Strategy::Dense, Strategy::Hybrid] {
        let base = base(strategy);
        base.add("a.txt", "Parcels go north.", &[]).await;
        let other = Arc::new(WordEmbedder::named("other", 64));
        let engine = base.engine().embedder(other).build().unwrap();
        let error = engine.search(&anonymous("parcels")).await.unwrap_err();
        assert_eq!(error.code(), "index.fingerprint_mismatch");
        assert!(error.to_string().contains("kuhaku index reembed"), "{error}");
    }
}

/// An embedder that never gives the vector of a question.
#[derive(Debug)]
struct Hanging(WordEmbedder);

#[async_trait]
impl Embedder for Hanging {
    fn fingerprint(&self) -> &str {
        self.0.fingerprint()
    }

    async fn embed_documents(&self, texts: &[&str]) -> kuhaku_core::Result<Vec<Vec<f32>>> {
        self.0.embed_documents(texts).await
    }

    async fn embed_query(&self, _: &str) -> kuhaku_core::Result<Vec<f32>> {
        std::future::pending().await
    }
}

/// R12
#[tokio::test(start_paused = true)]
async fn a_question_that_cannot_be_embedded_is_answered_by_words_or_is_an_error() {
    let failing = words();
    let hanging: Arc<dyn Embedder> = Arc::new(Hanging(WordEmbedder::new(64)));
    let base = Base::embedding(by(Strategy::Auto), failing.clone());
    base.add("a.txt", "Parcels go north by ship.", &[]).await;
    failing.fail_on("", CoreErrorKind::Unavailable);
    let cases: [(Arc<dyn Embedder>, _, _); 2] = [
        (failing, "embedder_failed", "core.unavailable"),
        (hanging, "embedder_timed_out", "core.timed_out"),
    ];
    for (embedder, reason, code) in cases {
        let with = |strategy| {
            let mut settings = by(strategy);
            settings.embedding_timeout_seconds = 0.2;
            base.engine().settings(settings).embedder(embedder.clone()).build().unwrap()
        };
        let begun = tokio::time::Instant::now();
        for strategy in [Strategy::Auto, Strategy::Hybrid] {
            let answer = with(strategy).ask(&anonymous("Where do parcels go?")).await.unwrap();
            assert_eq!(answer.text, "Parcels go north by ship. [S1]");
            let skipped = (answer.skipped[0].stage, answer.skipped[0].reason);
            assert_eq!(skipped, ("dense", reason), "{strategy}");
        }
        let error = with(Strategy::Dense).ask(&anonymous("Where do parcels go?")).await;
        assert_eq!(error.unwrap_err().code(), code);
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    }
}

/// A custom retriever's hidden chunks reach no model (R4).
#[tokio::test]
async fn models_read_only_what_the_caller_sees() {
    let base = base(Strategy::Hybrid);
    base.add("hidden.txt", "Parcels of gold.", &["board"]).await;
    base.add("open.txt", "Parcels of tin.", &[]).await;
    let (reranker, classifier) =
        (Arc::new(OverlapReranker::new()), Arc::new(MarkerClassifier::new("zzz")));
    let careless = support::Careless(base.index.clone());
    let engine = base
        .engine()
        .retriever(careless)
        .reranker(reranker.clone())
        .classifier(classifier.clone())
        .build()
        .unwrap();
    let found = sources(&engine, &anonymous("parcels")).await;
    assert_eq!(found, ["open.txt"]);
    for read in [reranker.calls(), classifier.calls()].concat().concat() {
        assert!(!read.contains("gold"), "{read}");
    }
}

/// What looks like an injection takes part in no answer, and leaves no place empty.
#[tokio::test]
async fn a_guarded_engine_gives_as_many_chunks_as_one_without() {
    let base = base(Strategy::Hybrid);
    for n in 0..6 {
        base.add(&format!("bad{n}.txt"), &format!("parcels parcels zzz {n}"), &[]).await;
        base.add(&format!("good{n}.txt"), &format!("about parcels of kind {n} and more"), &[])
            .await;
    }
    let engine = base.engine().classifier(Arc::new(MarkerClassifier::new("zzz"))).build().unwrap();
    let found = sources(&engine, &anonymous("parcels")).await;
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|source| source.starts_with("good")), "{found:?}");
}

/// Answers with the number in the question, and uses as many tokens.
#[derive(Debug)]
struct Counting;

#[async_trait]
impl LlmProvider for Counting {
    fn id(&self) -> &str {
        "test:counting"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn chat(&self, request: ChatRequest) -> kuhaku_core::Result<ChatResponse> {
        tokio::task::yield_now().await;
        let asked: String = request.messages.iter().map(|it| format!("{it:?}")).collect();
        let number = asked.split("parcel ").nth(1).unwrap_or_default();
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        let tokens = digits.parse().unwrap_or_default();
        let text = format!("It is {digits}. [S1]");
        Ok(ChatResponse::new("m", text).usage(Usage::new(Some(tokens), Some(1))))
    }

    async fn stream(&self, _: ChatRequest) -> kuhaku_core::Result<ChatStream> {
        let wrong = "only whole replies are asked for here";
        Err(kuhaku_core::Error::new(CoreErrorKind::Unavailable, "stream a reply", wrong))
    }
}

/// FAC-07
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_questions_at_once_are_answered_each_with_its_own_usage() {
    let base = base(Strategy::Hybrid);
    for n in 0..8 {
        base.add(&format!("{n}.txt"), &format!("Here is parcel {n}, the one of shelf {n}."), &[])
            .await;
    }
    let engine = base.engine().model(Arc::new(Counting));
    let engine = engine.reranker(Arc::new(OverlapReranker::new())).build().unwrap();
    let tasks: Vec<_> = (0..64_u64)
        .map(|n| {
            let engine = engine.clone();
            tokio::spawn(async move {
                let question = format!("Where is parcel {n}, the one of shelf {}?", n % 8);
                let answer = engine.ask(&anonymous(&question)).await.unwrap();
                assert_eq!(answer.text, format!("It is {n}. [S1]"));
                assert_eq!(answer.usage, Some(Usage::new(Some(n), Some(1))));
            })
        })
        .collect();
    for task in tasks {
        tokio::time::timeout(Duration::from_secs(60), task).await.unwrap().unwrap();
    }
}

/// A reranker's judgement decides what an answer may rest on (R9).
#[tokio::test]
async fn what_a_reranker_thinks_little_of_is_no_evidence() {
    let base = base(Strategy::Hybrid);
    base.add("a.txt", "Parcels go north.", &[]).await;
    let model = Arc::new(ScriptedLlm::new(["North. [S1]"]));
    let engine = base.engine().model(model).reranker(Arc::new(OverlapReranker::new()));
    let engine = engine.build().unwrap();
    let doubtful = engine.ask(&anonymous("Do the parcels of gulls ever go there?")).await.unwrap();
    assert!(doubtful.abstained, "{doubtful:?}");
    let sure = engine.ask(&anonymous("parcels go north")).await.unwrap();
    assert_eq!(sure.text, "North. [S1]");
}
