//! Ollama's own API.

mod body;
mod dialect;
mod embeddings;
mod fault;
mod host;
mod reader;
#[cfg(test)]
mod tests;
mod thinking;
mod window;

pub(crate) use dialect::Ollama;
pub(crate) use embeddings::OllamaEmbeddings;
pub(crate) use host::base_url;
