//! The settings of retrieval and answers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kuhaku_index::{Ann, Bm25, Language, Tokenizer};

use crate::output::OutputPolicy;
use crate::retrieval::{EmbeddingProvider, Fuser, Fusion, Strategy, VectorSearch};

kuhaku_core::settings! {
    /// Settings of ingesting, retrieving and answering: section `rag`, variables `KUHAKU_RAG__…`.
    pub struct RagSettings in "rag" {
        /// The folder of the index. Without it the command takes `./kuhaku-data` and the library a
        /// temporary folder that removes itself.
        index: Option<PathBuf> = None;
        /// The language whose words are stemmed. Without it, that of the index; `en` for a new one.
        language: Option<Language> = None;
        /// How words are found in text. Without it, that of the index; `default` for a new one.
        tokenizer: Option<Tokenizer> = None;
        /// The longest chunk, overlap included, in units of `chunk_unit`.
        chunk_size: usize = 500, "from 1 to 100000" => |size| (1..=100_000).contains(size);
        /// How much of a chunk is repeated from the one before it, in units of `chunk_unit`.
        chunk_overlap: usize = 80, "at most 99999" => |overlap| *overlap < 100_000;
        /// What chunks are measured in.
        chunk_unit: String = "characters".into(), "`characters` or `tokens`"
            => |unit| matches!(unit.as_str(), "characters" | "tokens");
        /// Document types by the beginning of a file's name; the longest that fits counts.
        doc_type_prefix_mapping: BTreeMap<String, String> = BTreeMap::new();
        /// The largest document that is taken in, in bytes; 64 MiB without it.
        max_upload_bytes: Option<u64> = None, "at least 1" => |bytes| bytes.is_none_or(|b| b > 0);
        /// How many chunks an answer may rest on.
        top_k: usize = 4, "from 1 to 1000" => |k| (1..=1000).contains(k);
        /// How chunks are found: by words (`sparse`, or `bm25`), by vectors (`dense`), by both
        /// (`hybrid`); `auto` is `hybrid` where there are vectors, else `sparse`.
        retrieval: Strategy = Strategy::Auto;
        /// How the rankings by words and by vectors become one: reciprocal ranks (`rrf`), scores
        /// between the least and the greatest of the list (`minmax`), or between the least possible
        /// and the greatest (`tmm`).
        fusion: Fusion = Fusion::Minmax;
        /// How little the first ranks stand out in `rrf`.
        rrf_k: u32 = 60, "from 1 to 10000" => |k| (1..=10_000).contains(k);
        /// How much the ranking by vectors counts in the fusion.
        dense_weight: f64 = 0.6, "from 0 to 100" => |weight| (0.0..=100.0).contains(weight);
        /// How much the ranking by words counts in the fusion.
        sparse_weight: f64 = 0.4, "from 0 to 100" => |weight| (0.0..=100.0).contains(weight);
        /// How many chunks each of the two rankings has before they are fused, at least.
        fetch_k: usize = 100, "from 1 to 10000" => |n| (1..=10_000).contains(n);
        /// How the nearest vectors are found: all are compared (`exact`), which misses none; by graphs
        /// (`hnsw`), which can miss some and are built in memory by every process that opens the index;
        /// `auto` is a graph for each set of access tags with more than `ann_above` vectors. See
        /// docs/index.md.
        ann: VectorSearch = VectorSearch::Exact;
        /// How many vectors of one set of access tags are compared one by one by `auto`, at most.
        ann_above: usize = 1_000_000;
        /// How much a chunk's relevance counts against its likeness to chunks taken before it
        /// (maximal marginal relevance); 1 is relevance alone. Without it, likeness does not matter.
        mmr_lambda: Option<f64> = None, "from 0 to 1"
            => |lambda| lambda.is_none_or(|it| (0.0..=1.0).contains(&it));
        /// Whether a model judges the best chunks again.
        rerank_enabled: bool = false;
        /// The model that does.
        reranker_model: String = "BAAI/bge-reranker-base".into(), "not empty"
            => |model| !model.trim().is_empty();
        /// How much the reranker counts in the order of the chunks; the rest is for the ranking
        /// before it.
        rerank_alpha: f64 = 1.0, "from 0 to 1" => |alpha| (0.0..=1.0).contains(alpha);
        /// How long the reranker may take, in seconds; after that the order is the one before it.
        rerank_timeout_seconds: f64 = 10.0, "above 0, at most 86400"
            => |s| *s > 0.0 && *s <= 86_400.0;
        /// Where the vectors of passages and questions come from: a model on this machine (`local`, or
        /// `sentence-transformer`), a service (`vertex`, `openai`, `openai_compat`, `ollama`), or
        /// nowhere (`none`). `auto` is `local` where its model is there and can be run, else `none`.
        /// Services are asked where the settings of their language models say, with the same keys.
        embedding_provider: EmbeddingProvider = EmbeddingProvider::Auto;
        /// The model that makes vectors: for `local` a name of `kuhaku models list`, `OWNER/NAME` or a
        /// folder. Without it `intfloat/multilingual-e5-small` for `local`, `gemini-embedding-001` for
        /// `vertex`, `text-embedding-3-small` for `openai`; the others need one.
        embedding_model: Option<String> = None, "not empty"
            => |model| model.as_ref().is_none_or(|it| !it.trim().is_empty()),
            alias "KUHAKU_RAG__VERTEX_EMBEDDING_MODEL";
        /// How many numbers a vector has, for models that offer a choice; else the model's own, and 768
        /// for `vertex`.
        embedding_dimension: Option<u32> = None, "from 1 to 65536"
            => |n| n.is_none_or(|it| (1..=65_536).contains(&it)),
            alias "KUHAKU_RAG__VERTEX_EMBEDDING_DIMENSIONS";
        /// What the model was trained to see before a passage. Without it, what is known of the model.
        embedding_document_prefix: Option<String> = None;
        /// What the model was trained to see before a question. Without it, what is known of the model.
        embedding_query_prefix: Option<String> = None;
        /// How many texts are embedded in one call, and about how many passages are stored together
        /// when documents are embedded.
        embedding_batch: usize = 128, "from 1 to 10000" => |n| (1..=10_000).contains(n);
        /// How often a call of an embedding service is tried, the first time included.
        retry_embedding_max_attempts: u32 = 2, "from 1 to 100" => |n| (1..=100).contains(n);
        /// The longest first wait between these attempts, in seconds. It doubles from wait to wait.
        retry_embedding_backoff_base_seconds: f64 = 0.5, "from 0 to 3600"
            => |s| (0.0..=3600.0).contains(s);
        /// The longest wait between them that a service did not ask for, in seconds.
        retry_embedding_backoff_max_seconds: f64 = 5.0, "from 0 to 3600"
            => |s| (0.0..=3600.0).contains(s);
        /// How long the vector of a question may take, in seconds. After that, `hybrid` goes on with
        /// words alone, and `dense` fails.
        embedding_timeout_seconds: f64 = 10.0, "above 0, at most 86400"
            => |s| *s > 0.0 && *s <= 86_400.0;
        /// The probability from which the classifier of injections holds a chunk back.
        guard_threshold: f64 = 0.5, "from 0 to 1" => |p| (0.0..=1.0).contains(p);
        /// How many chunks are ranked before the best are taken, at least.
        rerank_candidates: usize = 20, "from 1 to 10000" => |n| (1..=10_000).contains(n);
        /// How many chunks of one document come before those of others; 0 for no such limit. Left
        /// places are filled with further chunks of the same documents.
        max_chunks_per_document: usize = 2;
        /// How slowly repetition of a word saturates (BM25).
        bm25_k1: f64 = 1.5, "from 0 to 100" => |k1| (0.0..=100.0).contains(k1);
        /// How much a chunk's length counts (BM25).
        bm25_b: f64 = 0.75, "from 0 to 1" => |b| (0.0..=1.0).contains(b);
        /// How much words of titles and headings count; words of the text count once.
        heading_weight: f64 = 2.0, "from 0 to 100" => |weight| (0.0..=100.0).contains(weight);
        /// How much words of the text count.
        body_weight: f64 = 1.0, "from 0 to 100" => |weight| (0.0..=100.0).contains(weight);
        /// The share of the question's informative words that a chunk must hold to count as
        /// evidence, as its cosine adds to it or takes from it; without evidence there is no answer.
        /// See docs/abstention.md.
        rag_confidence_threshold: f64 = 0.5, "from 0 to 1" => |share| (0.0..=1.0).contains(share);
        /// How much the cosine of a chunk counts beside that share: what `cosine_neutral` is exceeded
        /// by, times this, is added to the share. Without it, what was measured for the embedding
        /// model, and 0 for others. See docs/abstention.md.
        cosine_weight: Option<f64> = None, "from 0 to 100"
            => |weight| weight.is_none_or(|it| (0.0..=100.0).contains(&it));
        /// The cosine that counts neither for nor against a chunk. Without it, what was measured for
        /// the embedding model.
        cosine_neutral: Option<f64> = None, "from -1 to 1"
            => |cosine| cosine.is_none_or(|it| (-1.0..=1.0).contains(&it));
        /// The cosine from which a chunk counts as evidence whatever its words: for questions in
        /// another language than the documents. Without it, words always count.
        cosine_threshold: Option<f64> = None, "from -1 to 1"
            => |cosine| cosine.is_none_or(|it| (-1.0..=1.0).contains(&it));
        /// The reranker's probability from which a chunk counts as evidence; where it was measured,
        /// it decides alone. See docs/abstention.md.
        rerank_threshold: f64 = 0.5, "from 0 to 1" => |p| (0.0..=1.0).contains(p);
        /// The share of a sentence's informative words that a source must hold which it cites; below
        /// it the citation is marked. Its numbers must stand in a source that it cites whatever this
        /// is. See docs/guard.md.
        grounding_threshold: f64 = 0.2, "from 0 to 1" => |share| (0.0..=1.0).contains(share);
        /// What becomes of a model's reply when its check breaks: held back (`strict`), or given all
        /// the same (`permissive`). See docs/guard.md.
        output_guard_policy: OutputPolicy = OutputPolicy::Strict;
        /// The most sentences of an extractive answer.
        extractive_sentences: usize = 3, "from 1 to 20" => |n| (1..=20).contains(n);
        /// How long a question or a search may take in all, in seconds, the model and all its
        /// attempts included.
        request_timeout_seconds: f64 = 300.0, "above 0, at most 86400"
            => |s| *s > 0.0 && *s <= 86_400.0;
    }
    check |settings, problems| {
        if settings.chunk_overlap >= settings.chunk_size {
            problems.add("rag.chunk_overlap", "must be smaller than rag.chunk_size");
        }
        if settings.heading_weight == 0.0 && settings.body_weight == 0.0 {
            problems.add("rag.body_weight", "must be above 0 when rag.heading_weight is 0");
        }
        if settings.retry_embedding_backoff_base_seconds
            > settings.retry_embedding_backoff_max_seconds
        {
            let wrong = "must not be above rag.retry_embedding_backoff_max_seconds";
            problems.add("rag.retry_embedding_backoff_base_seconds", wrong);
        }
        if settings.dense_weight == 0.0 && settings.sparse_weight == 0.0 {
            problems.add("rag.sparse_weight", "must be above 0 when rag.dense_weight is 0");
        }
    }
}

kuhaku_core::settings! {
    /// Settings of the language model: top level, variables `KUHAKU_…`.
    pub struct ModelSettings in "" {
        /// How random the replies of the language model are.
        llm_temperature: f64 = 0.1, "from 0 to 2" => |t| (0.0..=2.0).contains(t);
        /// The longest reply of the language model, in tokens.
        llm_max_tokens: u32 = 1024, "from 1 to 1000000" => |n| (1..=1_000_000).contains(n);
    }
}

/// Names that users of the Python system may have set, and why they are refused (D3).
const DROPPED: [(&str, &str); 14] = [
    ("rag.corpus_dir", "nothing reads it; name folders to `kuhaku ingest`"),
    ("rag.chroma_persist_dir", "the index is a folder of its own; use rag.index"),
    ("rag.chroma_collection", "a folder is a collection; use rag.index"),
    ("rag.chunk_upgrade_threshold", "there is no other store to grow into by itself"),
    ("rag.vram_headroom", "no hardware hint is given"),
    ("rag.embedding_model_version", "nothing computes it; the index keeps a fingerprint"),
    ("rag.prod_prompt_version", "nothing computes it"),
    ("rag.eval_prompt_version", "nothing computes it"),
    ("input_guard_enabled", "the guard is always on"),
    ("rag.input_guard_enabled", "the guard is always on"),
    ("llm_model_version", "nothing computes it"),
    ("guard_model_version", "nothing computes it"),
    ("guard_version", "nothing computes it"),
    ("strict_performance_components", "no part is replaced by a slower one in silence"),
];

impl RagSettings {
    /// The names that are refused with a reason when they are set (D3).
    pub fn dropped() -> &'static [(&'static str, &'static str)] {
        &DROPPED
    }

    /// The BM25 parameters of these settings.
    pub fn bm25(&self) -> Bm25 {
        let mut bm25 = Bm25::new(self.bm25_k1, self.bm25_b);
        bm25.weights.heading = self.heading_weight;
        bm25.weights.body = self.body_weight;
        bm25
    }

    /// How an index searches vectors by these settings.
    pub fn vector_search(&self) -> Ann {
        match self.ann {
            VectorSearch::Exact => Ann::Exact,
            VectorSearch::Hnsw => Ann::Hnsw,
            VectorSearch::Auto => Ann::Auto { above: self.ann_above },
        }
    }

    /// The fusion of these settings.
    pub fn fuser(&self) -> Fuser {
        Fuser::new(self.fusion).rrf_k(self.rrf_k)
    }
}

#[cfg(test)]
mod tests {
    use kuhaku_core::{Section as _, Sources};

    use super::*;

    fn load(name: &str, value: &str) -> kuhaku_core::Result<RagSettings> {
        RagSettings::load(&Sources::new().env([(name, value)]))
    }

    /// CFG-02
    #[test]
    fn without_an_environment_the_defaults_hold() {
        let rag = RagSettings::load(&Sources::new()).unwrap();
        assert_eq!((rag.chunk_size, rag.chunk_overlap, rag.top_k), (500, 80, 4));
        assert_eq!((rag.max_chunks_per_document, rag.rerank_candidates), (2, 20));
        assert_eq!((rag.bm25_k1, rag.bm25_b), (1.5, 0.75));
        assert_eq!((rag.retrieval, rag.rrf_k, rag.rerank_enabled), (Strategy::Auto, 60, false));
        let model = ModelSettings::load(&Sources::new()).unwrap();
        assert_eq!((model.llm_temperature, model.llm_max_tokens), (0.1, 1024));
    }

    /// CFG-04
    #[test]
    fn the_environment_sets_them_and_a_wrong_value_is_named() {
        assert_eq!(load("kuhaku_rag__top_k", "8").unwrap().top_k, 8);
        let mapped = load("KUHAKU_RAG__DOC_TYPE_PREFIX_MAPPING", r#"{"log_":"x"}"#).unwrap();
        assert_eq!(mapped.doc_type_prefix_mapping.get("log_").map(String::as_str), Some("x"));
        let turkish = load("KUHAKU_RAG__LANGUAGE", "tr").unwrap();
        assert_eq!(turkish.language, Some(Language::Tr));
        for (name, value) in [("TOP_K", "x"), ("DOC_TYPE_PREFIX_MAPPING", "bad"), ("LANGUAGE", "q")]
        {
            let error = load(&format!("KUHAKU_RAG__{name}"), value).unwrap_err();
            assert!(error.wrong().contains(&name.to_lowercase()), "{error}");
        }
    }

    /// D3
    #[test]
    fn a_dropped_name_is_refused_with_its_reason() {
        let sources = Sources::new().env([("KUHAKU_RAG__CHROMA_COLLECTION", "kb")]);
        let mut problems = kuhaku_core::Problems::default();
        sources.refuse(RagSettings::dropped(), &mut problems);
        let error = problems.into_result().unwrap_err();
        assert!(error.wrong().contains("rag.chroma_collection is not a setting: a folder is"));
    }

    /// CFG-05
    #[test]
    fn one_error_names_every_bad_field() {
        let sources = Sources::new().env([
            ("KUHAKU_RAG__TOP_K", "0"),
            ("KUHAKU_RAG__CHUNK_OVERLAP", "900"),
            ("KUHAKU_RAG__BM25_B", "NaN"),
        ]);
        let error = RagSettings::load(&sources).unwrap_err();
        for name in ["rag.top_k", "rag.chunk_overlap", "rag.bm25_b"] {
            assert!(error.wrong().contains(name), "{error}");
        }
        let negative = Sources::new().env([("KUHAKU_LLM_MAX_TOKENS", "-5")]);
        assert!(ModelSettings::load(&negative).unwrap_err().wrong().contains("llm_max_tokens"));
    }
}
