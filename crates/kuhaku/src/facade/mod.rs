//! The tools with their parts put together.

#[cfg(feature = "rag")]
mod audit;
#[cfg(feature = "rag")]
mod audit_store;
#[cfg(feature = "rag")]
mod embedder;
#[cfg(all(feature = "extract", feature = "llm"))]
mod extractor_choice;
#[cfg(feature = "rag")]
mod rag;
#[cfg(feature = "rag")]
mod rag_builder;

#[cfg(feature = "rag")]
pub use audit::{AuditSettings, AuditTrail};
#[cfg(feature = "rag")]
pub use audit_store::{AuditFormat, AuditRecords};
#[cfg(all(feature = "extract", feature = "llm"))]
pub use extractor_choice::ExtractorChoice;
#[cfg(feature = "rag")]
pub use rag::Rag;
#[cfg(feature = "rag")]
pub use rag_builder::RagBuilder;
