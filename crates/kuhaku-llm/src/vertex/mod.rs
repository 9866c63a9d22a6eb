//! Google Vertex AI over REST.

mod body;
mod dialect;
mod embeddings;
mod fault;
mod place;
mod reader;
#[cfg(test)]
mod tests;

pub(crate) use dialect::Vertex;
pub(crate) use embeddings::VertexEmbeddings;
pub(crate) use place::Place;
