//! An embedder without a model.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use kuhaku_core::{Embedder, Error, ErrorKind, Result};

use super::words::word_vector;

/// An embedder whose vectors are those of [`word_vector`], made of length 1. It keeps what it was
/// asked, call by call, and fails when it is told to.
///
/// ```
/// use kuhaku_core::Embedder as _;
/// use kuhaku_testkit::WordEmbedder;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let embedder = WordEmbedder::new(32);
/// let vectors = embedder.embed_documents(&["two", "texts"]).await?;
/// assert_eq!((vectors.len(), embedder.calls().len()), (2, 1));
/// # Ok::<(), kuhaku_core::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct WordEmbedder {
    fingerprint: String,
    dimension: usize,
    calls: Mutex<Vec<Vec<String>>>,
    fails: Mutex<Option<(String, ErrorKind)>>,
}

impl WordEmbedder {
    /// An embedder of vectors of this many numbers.
    pub fn new(dimension: usize) -> Self {
        Self::named("words", dimension)
    }

    /// The same under another name, and thus of another fingerprint.
    pub fn named(name: &str, dimension: usize) -> Self {
        Self {
            fingerprint: format!("test:{name};dimension={dimension};l2"),
            dimension,
            calls: Mutex::default(),
            fails: Mutex::default(),
        }
    }

    /// From now on every call with a text that holds this fails in this way. Every call holds "".
    pub fn fail_on(&self, part: &str, kind: ErrorKind) {
        *lock(&self.fails) = Some((part.to_owned(), kind));
    }

    /// From now on no call fails.
    pub fn recover(&self) {
        *lock(&self.fails) = None;
    }

    /// The texts of each call for documents so far, failed ones included, oldest first.
    pub fn calls(&self) -> Vec<Vec<String>> {
        lock(&self.calls).clone()
    }

    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        if let Some((part, kind)) = lock(&self.fails).clone()
            && texts.iter().any(|text| text.contains(&part))
        {
            return Err(
                Error::new(kind, "embed words", "it was told to fail").next("tell it to recover")
            );
        }
        Ok(texts.iter().map(|text| unit(word_vector(text, self.dimension))).collect())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::cast_possible_truncation, reason = "the quotient is at most 1")]
fn unit(vector: Vec<f32>) -> Vec<f32> {
    let square: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    vector.into_iter().map(|x| (f64::from(x) / square.sqrt()) as f32).collect()
}

#[async_trait]
impl Embedder for WordEmbedder {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    async fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        lock(&self.calls).push(texts.iter().map(|text| (*text).to_owned()).collect());
        self.vectors(texts)
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        let vectors = self.vectors(&[text])?;
        Ok(vectors.into_iter().next().unwrap_or_default())
    }
}
