//! Retrieval-augmented answers within the rights of the asker.
//!
//! Two paths: an [`Ingestor`] takes documents to an index, a [`RagEngine`] takes a question to an
//! answer. Both work over any `ChunkIndex`; the umbrella crate `kuhaku` puts them together as `Rag`.
//!
//! ```
//! use std::sync::Arc;
//!
//! use kuhaku_core::{Masker, PiiMasker, Scope};
//! use kuhaku_index::{ChunkIndex, IdKey, MemoryIndex};
//! use kuhaku_rag::{AskRequest, Ingestor, RagEngine, RagSettings, TextDocument};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = RagSettings::default();
//! let masker: Arc<dyn Masker> = Arc::new(PiiMasker::new());
//! let fingerprint = Ingestor::fingerprint(&settings, &masker)?;
//! let index: Arc<dyn ChunkIndex> =
//!     Arc::new(MemoryIndex::new(fingerprint, IdKey::from_bytes([7; 32])));
//!
//! let ingestor = Ingestor::new(index.clone(), masker, settings, None)?;
//! ingestor.text(TextDocument::new("wifi.md", "The guest network is called Plover.")).await?;
//!
//! let engine = RagEngine::builder(index).build()?;
//! let question = AskRequest::new("What is the guest network called?", Scope::anonymous());
//! let answer = engine.ask(&question).await?;
//! assert_eq!(answer.text, "The guest network is called Plover. [S1]");
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | for | take |
//! |---|---|
//! | documents into an index | [`Ingestor`], [`TextDocument`], [`IngestOptions`], [`TagRule`] |
//! | what became of them | [`IngestReport`], [`DocumentReport`], [`DocumentOutcome`] |
//! | questions and searches | [`RagEngine`], [`AskRequest`] |
//! | what comes back | [`Answer`], [`Mode`], [`SearchAnswer`], [`Source`], [`Citation`] |
//! | the same piece by piece | [`AnswerStream`], [`AnswerEvent`] |
//! | ways to find chunks | [`SparseRetriever`], [`DenseRetriever`], [`HybridRetriever`] |
//! | stages behind them | [`RerankRetriever`], [`MmrRetriever`], [`DiverseRetriever`], [`GuardedRetriever`] |
//! | one ranking of several | [`Fuser`], [`Fusion`], [`Ranking`] |
//! | another way to find chunks | [`Retriever`], [`RetrievalRequest`], [`Retrieval`], [`Hit`] |
//! | the application's words | [`Prompt`], [`Messages`] |
//! | what is checked of a reply | [`Grounding`], [`OutputPolicy`] |
//! | settings | [`RagSettings`], [`ModelSettings`] |
//!
//! How a question becomes an answer: masked, screened, read within the scope, retrieved, checked
//! against the scope again, by choice reranked, made diverse and guarded, weighed by absolute signals
//! (the share of the question that a chunk holds, its cosine, its reranker's probability), written by a
//! model from fenced sources or put together from their sentences; a model's reply passes the output guard;
//! citations verified, masked once more.
//!
//! # Invariants
//!
//! - R4, R5: all reads of one request go through one reader, made with the request's scope; whatever a
//!   custom retriever returns is checked against it again.
//! - R6: questions, titles and texts enter a prompt through a fence alone, their tags disarmed.
//! - R7: masking, the injection guard and the output guard have no switch; no piece of an answer leaves before it has
//!   passed what the whole passes.
//! - R8: with an audit log, every question and search leaves one record, however it ends.
//! - R12: `request_timeout_seconds` ends a request; dropping one ends the call of its model.
//! - R9: raw signals stand on every hit; abstention is decided on absolute signals, never on fused
//!   scores.
//! - Ingesting a document again never widens who may see it by accident ([`TagRule`]).

mod answer;
mod audited;
mod builder;
mod citation;
mod diversity;
mod engine;
mod error;
mod evidence;
mod extract;
mod generate;
mod ingest;
mod limit;
mod location;
mod messages;
mod named;
mod observed;
mod output;
mod pieces;
mod prompt;
mod question;
mod record;
mod redactions;
mod request;
mod retrieval;
mod retrieve;
mod settings;
mod streaming;
mod withheld;

pub use answer::{
    Answer, Citation, Found, Mode, Retrieved, SearchAnswer, Skipped, Source, Timings,
};
pub use builder::RagEngineBuilder;
pub use engine::RagEngine;
pub use error::{Error, ErrorKind, Result};
pub use ingest::{
    DocumentOutcome, DocumentReport, IngestOptions, IngestProgress, IngestReport, Ingestor, Note,
    ReembedReport, Refused, RemaskReport, TagRule, TextDocument,
};
pub use location::require_paths;
pub use messages::Messages;
pub use output::{Grounding, OutputPolicy};
pub use prompt::Prompt;
pub use request::AskRequest;
pub use retrieval::{
    DenseRetriever, DiverseRetriever, EmbeddingProvider, Fuser, Fusion, GuardedRetriever,
    HybridRetriever, MmrRetriever, Ranking, RerankRetriever, SparseRetriever, Strategy,
    VectorSearch,
};
pub use retrieve::{Hit, Retrieval, RetrievalRequest, Retriever};
pub use settings::{ModelSettings, RagSettings};
pub use streaming::{AnswerEvent, AnswerStream};
