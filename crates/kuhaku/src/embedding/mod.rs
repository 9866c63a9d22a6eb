//! Which embedder makes vectors: from the settings to an embedder.

mod choice;
#[cfg(feature = "dense")]
mod local;
mod plan;
#[cfg(feature = "llm")]
mod service;
mod unavailable;

pub use choice::EmbedderChoice;
#[cfg(feature = "dense")]
pub(crate) use local::LocalModels;
pub use plan::EmbedderPlan;
pub(crate) use unavailable::Unavailable;
