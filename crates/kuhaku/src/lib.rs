//! LLM applications that people can trust.
//!
//! The umbrella over the crates of kuhaku: features choose what is compiled in, and the facade puts
//! the parts together.
//!
//! ```
//! use kuhaku::{Rag, Scope, TextDocument};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> kuhaku::Result<()> {
//! let rag = Rag::builder().open().await?;
//! rag.ingest(TextDocument::new("wifi.md", "# Guests\n\nThe guest network is called Plover."))
//!     .await?;
//! let answer = rag.ask("What is the guest network called?", Scope::anonymous()).await?;
//! assert_eq!(answer.text, "The guest network is called Plover. [S1]");
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! | feature | what it brings | default |
//! |---|---|---|
//! | `rag` | [`Rag`]: documents in, cited answers out | yes |
//! | `sqlite` | indexes that are kept in a folder, without it they are in memory; [`SqliteSink`] | yes |
//! | `extract` | [`Extractor`]: validated fields out of text, and a question for what is missing | yes |
//! | `llm` | language-model providers, and the choice among them | yes |
//! | `vertex` | Google Vertex AI among them | no |
//! | `blocking` | the tools without `async` | no |
//! | `dense` | models on this machine: embedders for vectors, rerankers | no |
//! | `models` | the store of local models: finding, fetching, checking; public datasets with `eval` | no |
//! | `hydrag` | corrective multi-head retrieval (contract only so far) | no |
//! | `eval` | datasets, measures, runs and comparisons; tools as targets | no |
//! | `otlp` | `telemetry`: spans and metrics for a collector of OpenTelemetry, over HTTP | no |
//! | `otlp-grpc` | the same over gRPC | no |
//! | `full` | all of the above | no |
//!
//! # Map
//!
//! [`Rag`] is the facade of answers; [`ModelChoice`] and [`EmbedderChoice`] find its models by the
//! settings; [`ExtractorChoice`] makes an [`Extractor`] by the settings. Each crate is re-exported whole as a module: [`core`], and by feature
//! `ingest`, `index`, `rag`, `extract`, `llm`, `onnx`, `hydrag`, `eval`. What applications need most
//! stands at the top.
//!
//! # Invariants
//!
//! - R2: tools meet here and nowhere else.
//! - R3: opening the facade with its defaults downloads nothing.
//! - R5: every question carries a [`Scope`], which has no default.
//! - R8: every question and search over an index that is kept leaves one record in its audit.
//! - R11: nothing is read, written, sent or printed before it is asked for, and nothing is global.

/// The examples of the README and of the guide are tests.
#[cfg(all(doctest, feature = "llm", feature = "rag", feature = "sqlite"))]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/rag.md")]
mod documents {}

/// The examples of the guide to extraction are tests.
#[cfg(all(doctest, feature = "extract", feature = "llm"))]
#[doc = include_str!("../../../docs/extraction.md")]
mod guide_to_extraction {}

/// The example of the guide to local models is a test.
#[cfg(all(doctest, feature = "models"))]
#[doc = include_str!("../../../docs/models.md")]
mod guide_to_models {}

#[cfg(feature = "sqlite")]
mod audit_sqlite;
#[cfg(all(feature = "blocking", any(feature = "rag", feature = "extract")))]
pub mod blocking;
#[cfg(feature = "llm")]
mod choice;
#[cfg(feature = "rag")]
mod embedding;
mod error;
#[cfg(any(feature = "rag", all(feature = "extract", feature = "llm")))]
mod facade;
mod settings;
#[cfg(all(feature = "eval", any(feature = "rag", feature = "extract")))]
mod targets;
#[cfg(feature = "otlp")]
pub mod telemetry;

#[cfg(feature = "sqlite")]
pub use audit_sqlite::{SqliteAuditReader, SqliteSink, SqliteSinkOptions};
#[cfg(feature = "llm")]
pub use choice::{ChoiceSettings, ModelChoice};
#[cfg(feature = "rag")]
pub use embedding::{EmbedderChoice, EmbedderPlan};
pub use error::{Error, ErrorKind, Result};
#[cfg(all(feature = "extract", feature = "llm"))]
pub use facade::ExtractorChoice;
#[cfg(feature = "rag")]
pub use facade::{AuditFormat, AuditRecords, AuditSettings, AuditTrail, Rag, RagBuilder};
pub use kuhaku_core as core;
pub use kuhaku_core::{
    ACCESS_TAG_INTERNAL, ACCESS_TAG_PUBLIC, ACCESS_TAG_RESTRICTED, AccessTags, AuthContext,
    ChunkId, DocumentId, Embedder, LlmProvider, Reranker, Roles, Runtime, Scope, Section, Sources,
    TextClassifier, TraceId, one_line,
};
#[cfg(feature = "eval")]
pub use kuhaku_eval as eval;
#[cfg(feature = "extract")]
pub use kuhaku_extract as extract;
#[cfg(feature = "extract")]
pub use kuhaku_extract::{
    EvidenceMode, ExtractRequest, Extraction, ExtractionEvent, ExtractionSettings,
    ExtractionStatus, ExtractionStream, Extractor, ExtractorBuilder, Fields, Prior, Router, Rule,
    Schema, SecuritySettings,
};
#[cfg(feature = "hydrag")]
pub use kuhaku_hydrag as hydrag;
#[cfg(feature = "rag")]
pub use kuhaku_index as index;
#[cfg(feature = "rag")]
pub use kuhaku_index::{ChunkIndex, ChunkReader, Filter, IdKey};
#[cfg(feature = "rag")]
pub use kuhaku_ingest as ingest;
#[cfg(feature = "rag")]
pub use kuhaku_ingest::WalkOptions;
#[cfg(feature = "llm")]
pub use kuhaku_llm as llm;
#[cfg(any(feature = "dense", feature = "models"))]
pub use kuhaku_onnx as onnx;
#[cfg(feature = "rag")]
pub use kuhaku_rag as rag;
#[cfg(feature = "rag")]
pub use kuhaku_rag::{
    Answer, AnswerEvent, AnswerStream, AskRequest, Citation, DocumentOutcome, DocumentReport,
    EmbeddingProvider, Found, Grounding, Hit, IngestOptions, IngestProgress, IngestReport,
    Messages, Mode, ModelSettings, OutputPolicy, Prompt, RagSettings, ReembedReport, RemaskReport,
    Retriever, SearchAnswer, Source, Strategy, TagRule, TextDocument, VectorSearch, require_paths,
};
pub use settings::{settings_sections, unknown_settings};
#[cfg(all(feature = "extract", feature = "eval"))]
pub use targets::ExtractionTarget;
#[cfg(all(feature = "rag", feature = "eval"))]
pub use targets::{
    DocumentNames, IndexTarget, RagTarget, corpus_batches, empty_index, index_corpus,
};
