//! The embedder of an index: by the settings or given, the same for good, and missed in the open.

#![cfg(all(feature = "rag", feature = "sqlite", feature = "llm"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kuhaku::core::{Announcement, Announcer};
use kuhaku::{
    AskRequest, Embedder as _, EmbedderChoice, EmbeddingProvider, Rag, RagBuilder, RagSettings,
    Runtime, Scope, SearchAnswer, Section as _, Sources, Strategy, TextDocument,
};
use kuhaku_testkit::{EmbeddingServer, WordEmbedder};

/// What was announced.
#[derive(Clone, Debug, Default)]
struct Heard(Arc<Mutex<Vec<Announcement>>>);

impl Announcer for Heard {
    fn announce(&self, announcement: &Announcement) {
        self.0.lock().unwrap().push(announcement.clone());
    }
}

impl Heard {
    fn texts(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|heard| heard.text.clone()).collect()
    }

    fn has(&self, part: &str) -> bool {
        self.texts().iter().any(|text| text.contains(part))
    }
}

/// Settings that name the models of a server, and no model of this machine.
fn sources(server: &EmbeddingServer, variables: &[(&str, &str)]) -> Sources {
    Sources::new()
        .env([
            ("OLLAMA_HOST", server.url()),
            ("KUHAKU_OPENAI_COMPAT_BASE_URL", &format!("{}/v1", server.url())),
            ("HF_HOME", "/nowhere"),
            ("XDG_CACHE_HOME", "/nowhere"),
            ("KUHAKU_RETRY_ENABLED", "false"),
        ])
        .env([("KUHAKU_RAG__EMBEDDING_MODEL", "words")])
        .env(variables.iter().copied())
}

const OLLAMA: (&str, &str) = ("KUHAKU_RAG__EMBEDDING_PROVIDER", "ollama");

fn builder(folder: &Path, sources: &Sources) -> (RagBuilder, Heard) {
    let heard = Heard::default();
    let runtime = Runtime::builder().announcer(heard.clone()).build();
    (Rag::builder().sources(sources).unwrap().index(folder).runtime(runtime), heard)
}

async fn search(rag: &Rag, question: &str) -> SearchAnswer {
    rag.search(&AskRequest::new(question, Scope::anonymous())).await.unwrap()
}

async fn totals(rag: &Rag) -> (u64, u64) {
    let totals = rag.maintenance().statistics().await.unwrap();
    (totals.chunks, totals.vectors)
}

async fn add(rag: &Rag, name: &str, text: &str) {
    let report = rag.ingest(TextDocument::new(name, text)).await.unwrap();
    assert_eq!(report.error, None);
}

#[tokio::test]
async fn a_service_that_is_named_embeds_documents_and_questions_and_is_announced() {
    let server = EmbeddingServer::start(16).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (provider, kept) in [("ollama", "one"), ("openai_compat", "two")] {
        let sources = sources(&server, &[("KUHAKU_RAG__EMBEDDING_PROVIDER", provider)]);
        let (builder, heard) = builder(&folder.path().join(kept), &sources);
        let before = server.requests().len();
        let rag = builder.open().await.unwrap();
        assert_eq!(server.requests().len(), before, "opening calls nothing");
        let host = server.url().trim_start_matches("http://");
        assert!(heard.has(&format!("passages and questions go to {host}")), "{:?}", heard.texts());
        add(&rag, "parcel.md", "# Parcels\n\nWrite to ada@example.com about parcels.").await;
        assert_eq!(totals(&rag).await, (1, 1));
        let found = search(&rag, "parcels of bob@example.com").await;
        assert!(found.hits[0].retrieved.cosine.is_some() && found.skipped.is_empty());
        let sent: Vec<String> = server.requests()[before..].concat();
        assert_eq!(sent.last().map(String::as_str), Some("parcels of [EMAIL]"));
        assert!(sent.iter().all(|text| !text.contains("example.com")), "R7: {sent:?}");
        rag.close().await;
    }
}

#[tokio::test]
async fn an_index_keeps_its_embedder_and_another_one_is_refused() {
    let server = EmbeddingServer::start(16).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let (first, _) = builder(&place, &sources(&server, &[OLLAMA]));
    let rag = first.open().await.unwrap();
    add(&rag, "a.md", "# One\n\nfirst words").await;
    rag.close().await;

    let other = sources(&server, &[OLLAMA, ("KUHAKU_RAG__EMBEDDING_MODEL", "other")]);
    let (other, _) = builder(&place, &other);
    let error = other.open().await.unwrap_err();
    assert_eq!(error.code(), "index.fingerprint_mismatch");
    assert!(error.next_step().unwrap().contains("kuhaku index reembed"), "{error}");

    let given = Arc::new(WordEmbedder::new(16));
    let error = Rag::builder().index(&place).embedder(given.clone()).open().await.unwrap_err();
    assert_eq!(error.code(), "index.fingerprint_mismatch");

    // Words need no embedder, and the other one is taken on by saying so.
    let rag = Rag::builder().index(&place).without_embedder().open().await.unwrap();
    assert_eq!(search(&rag, "first words").await.hits.len(), 1);
    let report = rag.reembed(Some(given.clone()), &mut ()).await.unwrap();
    assert_eq!((report.embedded, report.to.as_deref()), (1, Some(given.fingerprint())));
    rag.close().await;
    let rag = Rag::builder().index(&place).embedder(given).open().await.unwrap();
    assert!(search(&rag, "first words").await.hits[0].retrieved.cosine.is_some());
    rag.close().await;
}

/// W-51: from words to both on the same folder.
#[tokio::test]
async fn an_index_without_vectors_is_searched_by_words_until_it_is_embedded() {
    let server = EmbeddingServer::start(16).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let rag = Rag::builder().index(&place).open().await.unwrap();
    add(&rag, "a.md", "# One\n\nfirst words").await;
    rag.close().await;

    let (named, heard) = builder(&place, &sources(&server, &[OLLAMA]));
    let rag = named.open().await.unwrap();
    assert!(heard.has("kuhaku index reembed"), "{:?}", heard.texts());
    add(&rag, "b.md", "# Two\n\nsecond words").await;
    assert_eq!((totals(&rag).await, server.requests().len()), ((2, 0), 0));
    assert_eq!(search(&rag, "second words").await.hits.len(), 2);
    rag.close().await;

    // What is asked for is not replaced by less.
    for strategy in ["dense", "hybrid"] {
        let wanted = sources(&server, &[OLLAMA, ("KUHAKU_RAG__RETRIEVAL", strategy)]);
        let (wanted, _) = builder(&place, &wanted);
        let error = wanted.open().await.unwrap_err();
        assert_eq!(error.code(), "core.capability_unavailable");
        assert!(error.next_step().unwrap().contains("kuhaku index reembed"), "{error}");
    }

    let rag = Rag::builder().index(&place).without_embedder().open().await.unwrap();
    let choice = EmbedderChoice::from_sources(&sources(&server, &[OLLAMA]), Runtime::system());
    let embedder = choice.unwrap().choose().await.unwrap();
    assert_eq!(rag.reembed(embedder, &mut ()).await.unwrap().embedded, 2);
    rag.close().await;
    let (named, _) = builder(&place, &sources(&server, &[OLLAMA]));
    let rag = named.open().await.unwrap();
    assert!(search(&rag, "second words").await.hits[0].retrieved.cosine.is_some());
    rag.close().await;
}

#[tokio::test]
async fn while_the_service_is_down_words_are_searched_and_the_answer_says_so() {
    let server = EmbeddingServer::start(16).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let named = sources(&server, &[OLLAMA]);
    let (first, _) = builder(&place, &named);
    let rag = first.open().await.unwrap();
    add(&rag, "a.md", "# One\n\nfirst words").await;
    server.down(true);
    let found = search(&rag, "first words").await;
    assert_eq!(found.hits.len(), 1);
    let skipped: Vec<_> = found.skipped.iter().map(|it| (it.stage, it.reason)).collect();
    assert_eq!(skipped, [("dense", "embedder_failed")]);
    let error = rag.ingest(TextDocument::new("b.md", "# Two\n\nmore")).await.unwrap_err();
    assert!(error.tried().contains("b.md"), "{error}");
    assert_eq!(totals(&rag).await, (1, 1));
    rag.close().await;

    let dense = sources(&server, &[OLLAMA, ("KUHAKU_RAG__RETRIEVAL", "dense")]);
    let rag = builder(&place, &dense).0.open().await.unwrap();
    let asked = AskRequest::new("first words", Scope::anonymous());
    assert!(rag.search(&asked).await.is_err());
    rag.close().await;
}

/// FAC-01
#[tokio::test]
async fn with_nothing_set_words_are_searched_and_that_is_announced_once() {
    let server = EmbeddingServer::start(16).unwrap();
    let nothing = sources(&server, &[]);
    let folder = tempfile::tempdir().unwrap();
    let (builder, heard) = builder(&folder.path().join("index"), &nothing);
    let rag = builder.open().await.unwrap();
    add(&rag, "wifi.md", "The guest network is called Plover.").await;
    for _ in 0..2 {
        let answer =
            rag.ask("What is the guest network called?", Scope::anonymous()).await.unwrap();
        assert_eq!(answer.text, "The guest network is called Plover. [S1]");
    }
    let by_words = heard.texts().iter().filter(|text| text.contains("by words")).count();
    assert_eq!((by_words, server.requests().len()), (1, 0), "{:?}", heard.texts());
    rag.close().await;
}

/// FAC-01: explicit choices are kept.
#[tokio::test]
async fn vectors_that_are_asked_for_are_not_replaced_by_words() {
    let server = EmbeddingServer::start(16).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for strategy in ["dense", "hybrid"] {
        let wanted = sources(
            &server,
            &[
                ("KUHAKU_RAG__RETRIEVAL", strategy),
                ("KUHAKU_RAG__EMBEDDING_MODEL", "multilingual-e5-small"),
            ],
        );
        let (builder, _) = builder(&folder.path().join(strategy), &wanted);
        let error = builder.open().await.unwrap_err();
        if cfg!(feature = "dense") {
            assert_eq!(error.code(), "onnx.not_pulled");
            let next = "run `kuhaku models pull multilingual-e5-small`";
            assert_eq!(error.next_step(), Some(next));
        } else {
            assert_eq!(error.code(), "kuhaku.feature_missing");
            assert!(error.to_string().contains("`dense`"), "{error}");
        }
    }
    // A program that reads no sources is told as much.
    let mut settings = RagSettings::default();
    settings.retrieval = Strategy::Hybrid;
    let error = Rag::builder().settings(settings).open().await.unwrap_err();
    assert!(error.next_step().is_some(), "{error}");
}

/// RK-60: what is stored says what it is; how it is searched is a setting, and search by words needs no
/// model.
#[tokio::test]
async fn an_index_that_is_opened_again_is_whole_and_searched_as_the_settings_say() {
    let server = EmbeddingServer::start(16).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let rag = builder(&place, &sources(&server, &[OLLAMA])).0.open().await.unwrap();
    add(&rag, "dog.md", "Dogs like long walks.").await;
    add(&rag, "cat.md", "Cats sleep all day.").await;
    rag.close().await;
    let asked = server.requests().len();

    let words = [OLLAMA, ("KUHAKU_RAG__RETRIEVAL", "bm25"), ("KUHAKU_RAG__TOP_K", "1")];
    let rag = builder(&place, &sources(&server, &words)).0.open().await.unwrap();
    assert_eq!(totals(&rag).await, (2, 2));
    let found = search(&rag, "dog walk").await;
    assert_eq!(found.hits.len(), 1);
    assert!(found.hits[0].text.contains("Dogs") && found.hits[0].retrieved.cosine.is_none());
    assert_eq!(server.requests().len(), asked, "no model is asked");
    rag.close().await;

    let vectors = [OLLAMA, ("KUHAKU_RAG__RETRIEVAL", "dense"), ("KUHAKU_RAG__TOP_K", "1")];
    let rag = builder(&place, &sources(&server, &vectors)).0.open().await.unwrap();
    let found = search(&rag, "Dogs walks").await;
    assert!(found.hits[0].text.contains("Dogs") && found.hits[0].retrieved.bm25.is_none());
    assert_eq!(server.requests().len(), asked + 1);
    rag.close().await;
}

/// FAC-02
#[test]
fn an_unknown_way_or_provider_is_refused_with_the_names_that_there_are() {
    let table = [
        ("KUHAKU_RAG__RETRIEVAL", "nope", "auto sparse dense hybrid"),
        ("KUHAKU_RAG__EMBEDDING_PROVIDER", "nope", "auto none local vertex openai"),
    ];
    for (name, value, names) in table {
        let error = Rag::builder().sources(&Sources::new().env([(name, value)])).unwrap_err();
        assert_eq!(error.code(), "core.invalid_settings");
        assert!(error.wrong().contains(names), "{error}");
    }
    let local = Sources::new().env([("KUHAKU_RAG__EMBEDDING_PROVIDER", "sentence-transformer")]);
    let settings = RagSettings::load(&local).unwrap();
    assert_eq!(settings.embedding_provider, EmbeddingProvider::Local);
}

/// R13: each setting of embedding changes what is made or asked.
#[tokio::test]
async fn every_setting_of_embedding_is_read() {
    let server = EmbeddingServer::start(16).unwrap();
    let fingerprint = async |variables: &[(&str, &str)]| {
        let sources = sources(&server, &[&[OLLAMA], variables].concat());
        let choice = EmbedderChoice::from_sources(&sources, Runtime::system()).unwrap();
        choice.choose().await.unwrap().unwrap().fingerprint().to_owned()
    };
    let plain = fingerprint(&[]).await;
    for (name, value) in [
        ("KUHAKU_RAG__EMBEDDING_MODEL", "other"),
        ("KUHAKU_RAG__EMBEDDING_DIMENSION", "8"),
        ("KUHAKU_RAG__EMBEDDING_DOCUMENT_PREFIX", "d: "),
        ("KUHAKU_RAG__EMBEDDING_QUERY_PREFIX", "q: "),
        ("KUHAKU_RAG__EMBEDDING_PROVIDER", "openai_compat"),
    ] {
        assert_ne!(fingerprint(&[(name, value)]).await, plain, "{name}");
    }
    let none = sources(&server, &[("KUHAKU_RAG__EMBEDDING_PROVIDER", "none")]);
    let none = EmbedderChoice::from_sources(&none, Runtime::system()).unwrap();
    assert!(none.choose().await.unwrap().is_none());

    // Attempts: a failing service is asked as often as is set, without waits.
    server.down(true);
    for attempts in ["1", "3"] {
        let sources = sources(
            &server,
            &[
                OLLAMA,
                ("KUHAKU_RETRY_ENABLED", "true"),
                ("KUHAKU_CIRCUIT_BREAKER_ENABLED", "false"),
                ("KUHAKU_RAG__RETRY_EMBEDDING_MAX_ATTEMPTS", attempts),
                ("KUHAKU_RAG__RETRY_EMBEDDING_BACKOFF_BASE_SECONDS", "0"),
                ("KUHAKU_RAG__RETRY_EMBEDDING_BACKOFF_MAX_SECONDS", "0"),
            ],
        );
        let choice = EmbedderChoice::from_sources(&sources, Runtime::system()).unwrap();
        let before = server.requests().len();
        choice.choose().await.unwrap().unwrap().embed_query("x").await.unwrap_err();
        assert_eq!((server.requests().len() - before).to_string(), attempts);
    }
    // Waits: without any it soon gives up; with long ones, or with ever longer ones, it does not.
    for (attempts, base, most, gives_up) in [
        ("20", "0.001", "0.001", true),
        ("2", "3600", "3600", false),
        ("20", "0.001", "3600", false),
    ] {
        let sources = sources(
            &server,
            &[
                OLLAMA,
                ("KUHAKU_RETRY_ENABLED", "true"),
                ("KUHAKU_CIRCUIT_BREAKER_ENABLED", "false"),
                ("KUHAKU_RAG__RETRY_EMBEDDING_MAX_ATTEMPTS", attempts),
                ("KUHAKU_RAG__RETRY_EMBEDDING_BACKOFF_BASE_SECONDS", base),
                ("KUHAKU_RAG__RETRY_EMBEDDING_BACKOFF_MAX_SECONDS", most),
            ],
        );
        let choice = EmbedderChoice::from_sources(&sources, Runtime::system()).unwrap();
        let embedder = choice.choose().await.unwrap().unwrap();
        let asking = tokio::time::timeout(Duration::from_secs(2), embedder.embed_query("x"));
        assert_eq!(asking.await.is_ok(), gives_up, "{attempts} {base} {most}");
    }
    server.down(false);

    // Batches.
    let folder = tempfile::tempdir().unwrap();
    let small = sources(&server, &[OLLAMA, ("KUHAKU_RAG__EMBEDDING_BATCH", "2")]);
    let (builder, _) = builder(&folder.path().join("index"), &small);
    let rag = builder.open().await.unwrap();
    let before = server.requests().len();
    let text: Vec<String> = (0..5).map(|at| format!("word{at} ").repeat(80)).collect();
    add(&rag, "a.txt", &text.join("\n\n")).await;
    assert!(server.requests()[before..].iter().all(|texts| texts.len() <= 2));
    rag.close().await;
}

#[tokio::test]
async fn a_program_without_sources_takes_the_service_that_its_settings_name() {
    let mut settings = RagSettings::default();
    settings.embedding_provider = EmbeddingProvider::OpenAi;
    let error = Rag::builder().settings(settings).open().await.unwrap_err();
    assert!(error.to_string().contains("OPENAI_API_KEY"), "{error}");
}

/// FAC-02, issue 8: the same parts without `async`.
#[cfg(feature = "blocking")]
#[test]
fn the_blocking_facade_takes_the_same_parts() {
    let embedder = Arc::new(WordEmbedder::new(16));
    let rag = kuhaku::blocking::Rag::open(Rag::builder().embedder(embedder.clone())).unwrap();
    rag.ingest(TextDocument::new("a.md", "# One\n\nfirst words")).unwrap();
    let found = rag.search(&AskRequest::new("first words", Scope::anonymous())).unwrap();
    assert!(found.hits[0].retrieved.cosine.is_some());
    assert_eq!(embedder.calls().len(), 2);
}

/// R13: `rag.rerank_enabled` and `rag.reranker_model`; nothing is fetched for them (R3).
#[tokio::test]
async fn a_reranker_that_is_asked_for_is_there_or_the_error_says_how_to_get_it() {
    let server = EmbeddingServer::start(16).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (model, name) in
        [("", "bge-reranker-base"), ("ms-marco-MiniLM-L6-v2", "ms-marco-MiniLM-L6-v2")]
    {
        let mut wanted = sources(&server, &[("KUHAKU_RAG__RERANK_ENABLED", "true")]);
        if !model.is_empty() {
            wanted = wanted.set("rag.reranker_model", model);
        }
        let (builder, _) = builder(&folder.path().join("index"), &wanted);
        let error = builder.open().await.unwrap_err();
        if cfg!(feature = "dense") {
            let next = format!("run `kuhaku models pull {name}`");
            assert_eq!(error.next_step(), Some(next.as_str()));
        } else {
            assert_eq!(error.code(), "kuhaku.feature_missing");
        }
    }
}
