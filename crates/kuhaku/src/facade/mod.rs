//! The tools with their parts put together.

mod audit;
mod rag;
mod rag_builder;

pub use audit::{AuditSettings, AuditTrail};
pub use rag::Rag;
pub use rag_builder::RagBuilder;
