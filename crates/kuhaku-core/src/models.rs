//! The contracts of models that score or embed texts.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Error, ErrorKind, Result};

/// Turns texts into vectors of one length.
#[async_trait]
pub trait Embedder: Send + Sync + fmt::Debug {
    /// Names everything that shapes a vector: model, dimension, pooling, prefixes, normalisation.
    /// Vectors of different fingerprints are never compared (D15).
    fn fingerprint(&self) -> &str;

    /// One vector per text, in the order of the texts. A vector depends on its text alone, never
    /// on its batch (D7).
    async fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;

    /// The vector of a query.
    async fn embed_query(&self, text: &str) -> Result<Vec<f32>>;
}

/// Judges how well texts answer a query.
#[async_trait]
pub trait Reranker: Send + Sync + fmt::Debug {
    /// Names the model.
    fn id(&self) -> &str;

    /// One probability per text, in the order of the texts.
    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<Probability>>;
}

/// Sorts texts into classes.
#[async_trait]
pub trait TextClassifier: Send + Sync + fmt::Debug {
    /// Names the model.
    fn id(&self) -> &str;

    /// The labels, in the order in which [`Self::classify`] gives their probabilities.
    fn labels(&self) -> &[String];

    /// Per text one probability per label, in the order of the texts.
    async fn classify(&self, texts: &[&str]) -> Result<Vec<Vec<Probability>>>;
}

macro_rules! forward {
    ($pointer:ident) => {
        #[async_trait]
        impl<E: Embedder + ?Sized> Embedder for $pointer<E> {
            fn fingerprint(&self) -> &str {
                (**self).fingerprint()
            }

            async fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
                (**self).embed_documents(texts).await
            }

            async fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
                (**self).embed_query(text).await
            }
        }

        #[async_trait]
        impl<R: Reranker + ?Sized> Reranker for $pointer<R> {
            fn id(&self) -> &str {
                (**self).id()
            }

            async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<Probability>> {
                (**self).rerank(query, texts).await
            }
        }

        #[async_trait]
        impl<C: TextClassifier + ?Sized> TextClassifier for $pointer<C> {
            fn id(&self) -> &str {
                (**self).id()
            }

            fn labels(&self) -> &[String] {
                (**self).labels()
            }

            async fn classify(&self, texts: &[&str]) -> Result<Vec<Vec<Probability>>> {
                (**self).classify(texts).await
            }
        }
    };
}
forward!(Arc);
forward!(Box);

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, serde::Serialize)]
pub struct Probability(f64);

impl Probability {
    /// Certainly not.
    pub const ZERO: Self = Self(0.0);
    /// Certainly.
    pub const ONE: Self = Self(1.0);

    /// A probability from a number.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] outside 0 to 1, or not a number.
    pub fn new(value: f64) -> Result<Self> {
        if (0.0..=1.0).contains(&value) {
            return Ok(Self(value));
        }
        Err(Error::new(
            ErrorKind::InvalidInput,
            "use a probability",
            format!("{value} is not from 0 to 1"),
        )
        .next("give a number from 0 to 1"))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}
