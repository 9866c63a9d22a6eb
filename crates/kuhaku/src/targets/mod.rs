//! Tools as targets of an evaluation.

#[cfg(feature = "rag")]
mod corpus;
#[cfg(feature = "extract")]
mod extraction;
#[cfg(feature = "rag")]
mod index;
#[cfg(feature = "rag")]
mod names;
#[cfg(feature = "rag")]
mod rag;

#[cfg(feature = "rag")]
pub use corpus::{corpus_batches, empty_index, index_corpus};
#[cfg(feature = "extract")]
pub use extraction::ExtractionTarget;
#[cfg(feature = "rag")]
pub use index::IndexTarget;
#[cfg(feature = "rag")]
pub use names::DocumentNames;
#[cfg(feature = "rag")]
pub use rag::RagTarget;
