//! Local models on ONNX Runtime: embedders, rerankers and classifiers.
//!
//! The contracts are [`Embedder`], [`Reranker`] and [`TextClassifier`] of `kuhaku-core`, re-exported
//! here. Whatever takes such a model in kuhaku takes an `Arc<dyn …>` of the contract.
//!
//! Everything begins with [`OnnxRuntime`], the loaded library, and a [`ModelFolder`], the files of a
//! model:
//!
//! ```no_run
//! use kuhaku_core::Runtime;
//! use kuhaku_onnx::{Embedder, ModelFolder, OnnxEmbedder, OnnxRuntime};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let onnx = OnnxRuntime::open("/opt/onnxruntime/lib/libonnxruntime.so")?;
//! let embedder = OnnxEmbedder::builder(ModelFolder::new("models/multilingual-e5-small"))
//!     .open(&onnx, &Runtime::system())?;
//! let vectors = embedder.embed_documents(&["The notice period is three months."]).await?;
//! # Ok(())
//! # }
//! ```
//!
//! | contract | model families |
//! |---|---|
//! | [`Embedder`] | BERT and XLM-R encoders: multilingual-e5, MiniLM, mpnet, bge, gte |
//! | [`Reranker`] | cross-encoders: bge-reranker, MiniLM |
//! | [`TextClassifier`] | sequence classifiers, such as those that look for injections |
//!
//! [`ModelStore`] says which models are on this machine and whether they are what was published; with
//! feature `download` its `puller` fetches them. It needs neither feature `runtime` nor, to open what
//! is there, the network.
//!
//! # Invariants
//!
//! - R2: this crate depends on `kuhaku-core` alone.
//! - R3: neither the runtime library nor a model is fetched without consent, and a model whose
//!   checksum differs is not used.
//! - A vector depends on its text alone, never on its batch (D7).
//! - A text longer than the model takes is windowed by choice or refused, never silently cut.
//! - R12: inference runs on threads of its own; a caller's executor is not blocked.

#[cfg(feature = "runtime")]
mod classifier;
#[cfg(feature = "runtime")]
mod device;
#[cfg(feature = "runtime")]
mod embedder;
mod error;
#[cfg(feature = "runtime")]
mod library;
#[cfg(feature = "runtime")]
mod model;
#[cfg(feature = "runtime")]
mod reranker;
#[cfg(feature = "runtime")]
mod schedule;
#[cfg(feature = "runtime")]
mod settings;
mod store;

#[cfg(feature = "runtime")]
pub use classifier::{OnnxClassifier, OnnxClassifierBuilder, TextWindows, WindowedClassifier};
#[cfg(feature = "runtime")]
pub use device::Device;
#[cfg(feature = "runtime")]
pub use embedder::{Family, LongText, OnnxEmbedder, OnnxEmbedderBuilder, Pooling};
pub use error::{Error, ErrorKind, Result};
pub use kuhaku_core::{Embedder, Probability, Reranker, TextClassifier};
#[cfg(feature = "runtime")]
pub use library::{OnnxRuntime, RUNTIME_LIBRARY};
#[cfg(feature = "runtime")]
pub use model::ModelFolder;
#[cfg(feature = "runtime")]
pub use reranker::{Judged, LongPassage, OnnxReranker, OnnxRerankerBuilder, Ranked};
#[cfg(feature = "runtime")]
pub use settings::OnnxSettings;
pub use store::{
    DEFAULT_EMBEDDER, FileCheck, KnownFile, KnownModel, ModelKind, ModelStatus, ModelStore,
    RUNTIME_NAME, RUNTIME_VERSION, StoreSettings, StoredModel, SumSource, Verdict, known_models,
};
#[cfg(feature = "download")]
pub use store::{PlannedFile, PullPlan, PullProgress, Puller};
