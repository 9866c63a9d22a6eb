//! An embedder whose vectors come from words, in this process and behind a server.

mod embedder;
mod server;
mod words;

pub use embedder::WordEmbedder;
pub use server::EmbeddingServer;
pub use words::word_vector;
