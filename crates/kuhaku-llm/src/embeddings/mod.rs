//! Embeddings over HTTP.

mod dialect;
mod embedder;
mod vectors;

pub(crate) use dialect::{EmbeddingDialect, Purpose};
pub(crate) use embedder::HttpEmbedder;
pub(crate) use vectors::vector;
