//! Tools as targets of an evaluation.

mod corpus;
mod index;
mod names;
mod rag;

pub use corpus::{corpus_batches, empty_index, index_corpus};
pub use index::IndexTarget;
pub use names::DocumentNames;
pub use rag::RagTarget;
