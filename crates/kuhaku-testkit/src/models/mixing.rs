//! An embedder that breaks D7.

use async_trait::async_trait;
use kuhaku_core::{Embedder, Result};

use crate::embeddings::word_vector;

/// An embedder whose vectors depend on their batch, as those of dynamically quantised models do: half
/// of the mean of the batch is added to each. For suites that must notice.
#[derive(Clone, Copy, Debug)]
pub struct MixingEmbedder {
    dimension: usize,
}

impl MixingEmbedder {
    /// An embedder of vectors of this many numbers.
    pub fn new(dimension: usize) -> Self {
        Self { dimension }
    }
}

#[async_trait]
impl Embedder for MixingEmbedder {
    fn fingerprint(&self) -> &str {
        "test:mixing"
    }

    async fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let vectors: Vec<_> = texts.iter().map(|text| word_vector(text, self.dimension)).collect();
        let mut mean = vec![0.0_f32; self.dimension];
        for vector in &vectors {
            for (sum, number) in mean.iter_mut().zip(vector) {
                *sum += number / vectors.len() as f32;
            }
        }
        let mix = |vector: Vec<f32>| {
            vector.iter().zip(&mean).map(|(number, mean)| number + 0.5 * mean).collect()
        };
        Ok(vectors.into_iter().map(mix).collect())
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        Ok(word_vector(text, self.dimension))
    }
}
