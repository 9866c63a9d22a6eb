//! Fakes, scripted models and conformance suites for the contracts of kuhaku.
//!
//! For the tests of anybody who implements one of the traits. A feature per trait:
//!
//! | feature | what it gives |
//! |---|---|
//! | (always) | [`fixed_runtime`]: a clock that stands still, bytes that repeat |
//! | `llm` | `ScriptedLlm`: a model that follows a script |
//! | `embeddings` | `WordEmbedder`, an embedder without a model, and `EmbeddingServer`, a server of it |
//! | `models` | `OverlapReranker`, `MarkerClassifier`: judges without a model; `MixingEmbedder`, which breaks its contract |
//! | `providers` | `transcript`: a server that follows a script to the byte; `providers`: the suite of `LlmProvider` |
//! | `index` | the conformance suite of `ChunkIndex`, and the suite of R4 |
//! | `sqlite` | the same with the engine on disk |
//! | `rag` | the suite of R4 through the whole pipeline of `kuhaku-rag` |
//! | `scale` | `Scale`: corpora of any size, to measure on |
//! | `planted` | `planted`: values of all kinds that masking must not let through |
//!
//! Never a dependency of anything but tests and benches.

mod clock;
#[cfg(feature = "embeddings")]
mod embeddings;
#[cfg(feature = "index")]
pub mod index;
#[cfg(feature = "llm")]
mod llm;
#[cfg(feature = "models")]
mod models;
#[cfg(feature = "planted")]
mod planted;
#[cfg(feature = "providers")]
pub mod providers;
#[cfg(feature = "rag")]
pub mod rag;
#[cfg(any(feature = "planted", feature = "scale"))]
mod random;
#[cfg(feature = "scale")]
mod scale;
#[cfg(feature = "providers")]
pub mod transcript;

pub use clock::fixed_runtime;
#[cfg(feature = "embeddings")]
pub use embeddings::{EmbeddingServer, WordEmbedder, word_vector};
#[cfg(feature = "llm")]
pub use llm::ScriptedLlm;
#[cfg(feature = "models")]
pub use models::{MarkerClassifier, MixingEmbedder, OverlapReranker};
#[cfg(feature = "planted")]
pub use planted::{Planted, planted};
#[cfg(feature = "scale")]
pub use scale::Scale;
