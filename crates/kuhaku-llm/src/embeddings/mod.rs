//! Embeddings over HTTP.

mod builder;
mod dialect;
mod embedder;
mod vectors;

pub use builder::EmbedderBuilder;
pub(crate) use dialect::{EmbeddingDialect, Purpose};
pub(crate) use vectors::vector;
