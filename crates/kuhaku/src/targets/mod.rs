//! Tools as targets of an evaluation.

mod index;
mod names;
mod rag;

pub use index::IndexTarget;
pub use names::DocumentNames;
pub use rag::RagTarget;
