//! No dead setting (R13): each one, when changed, changes something that can be seen.

#![cfg(all(feature = "rag", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
#[cfg(feature = "llm")]
use kuhaku::Section as _;
use kuhaku::{AskRequest, Embedder, Rag, Scope, Sources, TextDocument};
use kuhaku_testkit::ScriptedLlm;

/// For every setting, a value that is not its default. A setting without a row fails the test.
const OTHER_VALUES: [(&str, &str); 20] = [
    ("KUHAKU_LLM_TEMPERATURE", "0.7"),
    ("KUHAKU_LLM_MAX_TOKENS", "99"),
    ("KUHAKU_RAG__INDEX", "(a temporary folder)"),
    ("KUHAKU_RAG__LANGUAGE", "none"),
    ("KUHAKU_RAG__TOKENIZER", "simple"),
    ("KUHAKU_RAG__CHUNK_SIZE", "90"),
    ("KUHAKU_RAG__CHUNK_OVERLAP", "0"),
    ("KUHAKU_RAG__CHUNK_UNIT", "tokens"),
    ("KUHAKU_RAG__DOC_TYPE_PREFIX_MAPPING", r#"{"rules":"regulation"}"#),
    ("KUHAKU_RAG__MAX_UPLOAD_BYTES", "200"),
    ("KUHAKU_RAG__TOP_K", "1"),
    ("KUHAKU_RAG__RERANK_CANDIDATES", "4"),
    ("KUHAKU_RAG__MAX_CHUNKS_PER_DOCUMENT", "0"),
    ("KUHAKU_RAG__BM25_K1", "0.4"),
    ("KUHAKU_RAG__BM25_B", "0.1"),
    ("KUHAKU_RAG__HEADING_WEIGHT", "5"),
    ("KUHAKU_RAG__BODY_WEIGHT", "0.3"),
    ("KUHAKU_RAG__RAG_CONFIDENCE_THRESHOLD", "1"),
    ("KUHAKU_RAG__EXTRACTIVE_SENTENCES", "1"),
    ("KUHAKU_RAG__REQUEST_TIMEOUT_SECONDS", "20"),
];

/// Settings of vectors and of what judges, of which nothing is seen where there is neither: those of
/// `tests/embedding.rs`, those of `kuhaku-rag`'s `tests/settings.rs` and `tests/output.rs`, and those of
/// the next test.
const OF_MODELS: [&str; 30] = [
    "ann",
    "ann_above",
    "cosine_weight",
    "cosine_neutral",
    "embedding_provider",
    "embedding_model",
    "embedding_dimension",
    "embedding_document_prefix",
    "embedding_query_prefix",
    "embedding_batch",
    "retry_embedding_max_attempts",
    "retry_embedding_backoff_base_seconds",
    "retry_embedding_backoff_max_seconds",
    "rerank_enabled",
    "reranker_model",
    "retrieval",
    "fusion",
    "rrf_k",
    "dense_weight",
    "sparse_weight",
    "fetch_k",
    "mmr_lambda",
    "rerank_alpha",
    "rerank_timeout_seconds",
    "embedding_timeout_seconds",
    "guard_threshold",
    "grounding_threshold",
    "output_guard_policy",
    "cosine_threshold",
    "rerank_threshold",
];

/// Everything that can be seen of a fixed sequence of calls under these settings.
async fn observe(sources: &Sources) -> String {
    let mut seen = String::new();
    let model = Arc::new(ScriptedLlm::new(["It is weighed. [S1]"]));
    let open = |builder: kuhaku::Result<kuhaku::RagBuilder>| async move {
        builder.unwrap().id_key(kuhaku::IdKey::from_bytes([7; 32])).open().await.unwrap()
    };
    let rag = open(Rag::builder().sources(sources)).await;
    let paragraph =
        |n: usize| format!("Rule {n} on parcels: parcels are weighed and stamped twice.");
    let rules: Vec<String> = (0..40).map(paragraph).collect();
    let rules = format!("# Parcels\n\n{}", rules.join("\n\n"));
    let notes =
        "# Weighing\n\nA parcel that runs late is stamped at the gate. Parcels go by rail.\n";
    for (name, text) in [("rules.md", rules.as_str()), ("notes.md", notes)] {
        let report = rag.ingest(TextDocument::new(name, text)).await.unwrap();
        writeln!(seen, "{name}: {:?} {}", report.outcome, report.chunks).unwrap();
    }
    for document in rag.maintenance().documents().await.unwrap() {
        writeln!(seen, "{} is a {}", document.source, document.doc_type).unwrap();
    }
    writeln!(seen, "temporary: {}", rag.is_temporary()).unwrap();
    let request = |text: &str| AskRequest::new(text, Scope::anonymous());
    for query in ["weighed parcels", "running rails", "parcels stamped at a gate by the moon"] {
        for hit in rag.search(&request(query)).await.unwrap().hits {
            let found = hit.retrieved;
            writeln!(seen, "{query}: {} {:?} {}", found.chunk, found.bm25, found.coverage).unwrap();
        }
        let answer = rag.ask_with(&request(query)).await.unwrap();
        writeln!(seen, "{query}: {:?} {}", answer.mode, answer.text).unwrap();
    }
    drop(rag);
    // A model sees the settings of its own.
    let builder = Rag::builder().sources(sources).unwrap().temporary().model(model.clone());
    let rag = open(Ok(builder)).await;
    rag.ingest(TextDocument::new("a.txt", "Parcels are weighed.")).await.unwrap();
    rag.ask("Are parcels weighed?", Scope::anonymous()).await.unwrap();
    for request in model.requests() {
        writeln!(seen, "{:?} {:?}", request.temperature, request.max_output_tokens).unwrap();
        let left = request.deadline.unwrap().saturating_duration_since(Instant::now());
        writeln!(seen, "more than a minute: {}", left > Duration::from_secs(60)).unwrap();
    }
    seen
}

/// CFG-09
#[tokio::test]
async fn each_setting_changes_something_that_can_be_seen() {
    let default = observe(&Sources::new()).await;
    assert_eq!(default, observe(&Sources::new()).await, "the sequence itself is repeatable");
    #[cfg(feature = "llm")]
    let of_models: Vec<&str> =
        [kuhaku::llm::LlmSettings::fields(), kuhaku::ChoiceSettings::fields()]
            .concat()
            .iter()
            .map(|field| field.name)
            .collect();
    for (section, fields) in kuhaku::settings_sections() {
        for field in fields {
            if field.name.starts_with("audit_") && section.is_empty() {
                continue; // Seen in the files of an audit: `tests/audit.rs`.
            }
            if section == "rag" && OF_MODELS.contains(&field.name) {
                continue;
            }
            if section.starts_with("extraction") {
                continue; // Seen in extractions: `tests/extraction/settings.rs`.
            }
            if section == "onnx" || section == "models" {
                continue; // Seen in models and in their store: `tests` of `kuhaku-onnx`.
            }
            #[cfg(feature = "llm")]
            if of_models.contains(&field.name) {
                continue; // Seen in choices and calls: `tests/choice.rs`, `kuhaku-llm`.
            }
            let section = if section.is_empty() { String::new() } else { format!("{section}__") };
            let name = format!("KUHAKU_{section}{}", field.name).to_uppercase();
            let row = OTHER_VALUES.iter().find(|(other, _)| *other == name);
            let value = row.unwrap_or_else(|| panic!("{name} has no row in OTHER_VALUES")).1;
            let folder = tempfile::tempdir().unwrap();
            let value = if value.starts_with('(') {
                folder.path().join("index").display().to_string()
            } else {
                value.to_string()
            };
            let changed = observe(&Sources::new().env([(name.as_str(), value)])).await;
            assert_ne!(changed, default, "{name} has no effect");
        }
    }
}

/// Passages that are near each other in numbers that questions do not go by: where a graph misses many.
#[derive(Debug)]
struct Scattered;

impl Scattered {
    /// A direction of the text's own, whose first numbers count as much as is said.
    fn vector(text: &str, first: f32) -> Vec<f32> {
        let mut state = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..32).map(|at| next() * if at < 4 { first } else { 1.0 }).collect()
    }
}

#[async_trait]
impl Embedder for Scattered {
    fn fingerprint(&self) -> &str {
        "test:scattered;dimension=32"
    }

    async fn embed_documents(&self, texts: &[&str]) -> kuhaku::core::Result<Vec<Vec<f32>>> {
        Ok(texts.iter().map(|text| Self::vector(text, 20.0)).collect())
    }

    async fn embed_query(&self, text: &str) -> kuhaku::core::Result<Vec<f32>> {
        Ok(Self::vector(text, 0.0))
    }
}

/// R13, D8: a graph misses some that are near, and that is how it is seen to be there.
#[tokio::test]
async fn a_graph_is_searched_where_the_settings_want_one_and_only_there() {
    let folder = tempfile::tempdir().unwrap();
    let open = async |names: &[(&str, &str)]| {
        let fixed = [
            ("RETRIEVAL", "dense"),
            ("TOP_K", "20"),
            ("CHUNK_SIZE", "40"),
            ("CHUNK_OVERLAP", "0"),
            ("MAX_CHUNKS_PER_DOCUMENT", "0"),
        ];
        let names = fixed.iter().chain(names);
        let names = names.map(|(name, value)| (format!("KUHAKU_RAG__{name}"), *value));
        let builder = Rag::builder().sources(&Sources::new().env(names)).unwrap();
        let builder = builder.index(folder.path().join("index")).embedder(Arc::new(Scattered));
        builder.open().await.unwrap()
    };
    let rag = open(&[]).await;
    let passages: Vec<String> = (0..1_500).map(|n| format!("Passage {n} is about {n}.")).collect();
    let report = rag.ingest(TextDocument::new("all.txt", passages.join("\n\n"))).await.unwrap();
    assert_eq!(report.chunks, 1_500);
    rag.close().await;
    let mut seen = Vec::new();
    for names in [
        &[][..],
        &[("ANN", "auto")],
        &[("ANN", "hnsw")],
        &[("ANN", "auto"), ("ANN_ABOVE", "1499")],
        &[("ANN", "auto"), ("ANN_ABOVE", "1500")],
    ] {
        let rag = open(names).await;
        let mut found = Vec::new();
        for number in 0..25 {
            let request = AskRequest::new(format!("Question {number}?"), Scope::anonymous());
            let answer = rag.search(&request).await.unwrap();
            found.extend(answer.hits.into_iter().map(|hit| (number, hit.retrieved.chunk)));
        }
        rag.close().await;
        seen.push(found);
    }
    let [exact, many, graph, above, at] = seen.try_into().unwrap();
    assert_eq!((exact.len(), graph.len()), (500, 500));
    assert!(exact == many && exact == at, "no graph is wanted");
    assert!(graph == above, "it is the same graph");
    let missed = exact.iter().filter(|found| !graph.contains(found)).count();
    assert!(missed > 0);
}

/// CFG-01
#[cfg(feature = "llm")]
#[test]
fn models_retries_the_breaker_and_the_audit_have_their_published_defaults() {
    let none = Sources::new();
    let model = kuhaku::ModelSettings::load(&none).unwrap();
    assert_eq!((model.llm_temperature, model.llm_max_tokens), (0.1, 1024));
    let llm = kuhaku::llm::LlmSettings::load(&none).unwrap();
    assert_eq!((llm.llm_provider.as_str(), llm.llm_timeout_seconds), ("auto", 120));
    assert_eq!((llm.retry_enabled, llm.retry_llm_max_attempts), (true, 3));
    let waits = (llm.retry_llm_backoff_base_seconds, llm.retry_llm_backoff_max_seconds);
    assert_eq!(waits, (1.0, 10.0));
    assert!(llm.circuit_breaker_enabled);
    assert_eq!(llm.circuit_breaker_failure_threshold, 5);
    assert_eq!(llm.circuit_breaker_reset_timeout_seconds, 60.0);
    assert_eq!(llm.circuit_breaker_success_threshold, 1);
    assert!(kuhaku::AuditSettings::load(&none).unwrap().audit_enabled);
}
