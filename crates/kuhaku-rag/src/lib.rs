//! Retrieval-augmented answers within the rights of the asker.
mod answer;
mod citation;
mod diversity;
mod engine;
mod error;
mod extract;
mod ingest;
mod location;
mod messages;
mod prompt;
mod question;
mod request;
mod retrieve;
mod settings;

pub use answer::{
    Answer, Citation, Found, Mode, Retrieved, SearchAnswer, Skipped, Source, Timings,
};
pub use engine::{RagEngine, RagEngineBuilder};
pub use error::{Error, ErrorKind, Result};
pub use ingest::{
    DocumentOutcome, DocumentReport, IngestOptions, IngestProgress, IngestReport, Ingestor, Note,
    TagRule, TextDocument,
};
pub use location::require_paths;
pub use messages::Messages;
pub use prompt::Prompt;
pub use request::AskRequest;
pub use retrieve::{Hit, RetrievalRequest, Retriever, SparseRetriever};
pub use settings::{ModelSettings, RagSettings};
