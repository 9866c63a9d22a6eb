//! The tools with their parts put together.

mod rag;
mod rag_builder;

pub use rag::Rag;
pub use rag_builder::RagBuilder;
