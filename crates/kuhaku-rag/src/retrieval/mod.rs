//! Ways to find chunks, and the stages behind them.

mod dense;
mod diverse;
mod fusion;
mod guarded;
mod hybrid;
mod mmr;
mod rerank;
mod resolved;
mod sparse;
mod stages;
mod strategy;

pub use dense::DenseRetriever;
pub use diverse::DiverseRetriever;
pub use fusion::{Fuser, Fusion, Ranking};
pub use guarded::GuardedRetriever;
pub use hybrid::HybridRetriever;
pub use mmr::MmrRetriever;
pub use rerank::RerankRetriever;
pub(crate) use resolved::retriever;
pub use sparse::SparseRetriever;
pub(crate) use stages::behind;
pub use strategy::{EmbeddingProvider, Strategy, VectorSearch};
