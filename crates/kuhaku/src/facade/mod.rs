//! The tools with their parts put together.

mod audit;
mod audit_store;
mod rag;
mod rag_builder;

pub use audit::{AuditSettings, AuditTrail};
pub use audit_store::{AuditFormat, AuditRecords};
pub use rag::Rag;
pub use rag_builder::RagBuilder;
