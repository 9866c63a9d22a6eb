//! Models that judge by words, and an embedder that breaks its contract.

mod classifier;
mod mixing;
mod reranker;

pub use classifier::MarkerClassifier;
pub use mixing::MixingEmbedder;
pub use reranker::OverlapReranker;

use std::sync::{Mutex, MutexGuard, PoisonError};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
