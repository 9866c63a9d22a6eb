//! Embedders: texts to vectors of length 1.

mod builder;
mod family;
mod fingerprint;
mod long_text;
mod vector;

use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_core::{Embedder, Runtime};

pub use builder::OnnxEmbedderBuilder;
pub use family::{Family, Pooling};
pub use long_text::LongText;

use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Model, ModelFolder, Row, TextTokenizer};
use crate::schedule::{Grouping, Urgency};
use long_text::Reading;
use vector::of_windows;

/// How much is turned into tokens at a time: enough for batches of like length, little enough that
/// a query waits a moment behind it.
const TEXTS_AT_A_TIME: usize = 1024;
const BYTES_AT_A_TIME: usize = 256 << 10;

const TOO_LONG: ErrorKind = ErrorKind::Core(kuhaku_core::ErrorKind::ContextTooLong);

/// How often a text was longer than the model takes, by what became of it.
const LONG_TEXTS: &str = "kuhaku_embedding_long_texts_total";

/// A local embedder.
///
/// Vectors are `f32` of length 1, of [`dimension`](Self::dimension) numbers. A vector depends on its
/// text alone, to the last bit on one machine: how rows may share a batch is measured with the model
/// itself before the first call with several texts, and a model whose numbers depend on the batch (dynamic
/// int8) gets a text per batch (D7). White space at the end of a text is left out; an empty text
/// has the vector of its prefix. A text that is longer than the model takes is refused or read in
/// windows ([`LongText`]), never cut.
///
/// Work is done on the embedder's own threads. Queries go before documents, callers take turns by
/// the batch, and when a caller drops its future no further batch of it begins.
///
/// ```no_run
/// use kuhaku_core::{Embedder, Runtime};
/// use kuhaku_onnx::{ModelFolder, OnnxEmbedder, OnnxRuntime};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let onnx = OnnxRuntime::open("/opt/onnxruntime/lib/libonnxruntime.so")?;
/// let embedder = OnnxEmbedder::builder(ModelFolder::new("models/multilingual-e5-small"))
///     .open(&onnx, &Runtime::system())?;
/// let query = embedder.embed_query("how do I return a parcel?").await?;
/// assert_eq!(query.len(), embedder.dimension());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct OnnxEmbedder {
    model: Model,
    runtime: Runtime,
    fingerprint: String,
    longest: usize,
    query: Arc<Reading>,
    document: Arc<Reading>,
}

impl OnnxEmbedder {
    /// The embedder in a folder.
    pub fn builder(folder: ModelFolder) -> OnnxEmbedderBuilder {
        OnnxEmbedderBuilder::new(folder)
    }

    /// How many numbers a vector has.
    pub fn dimension(&self) -> usize {
        self.model.width()
    }

    /// The longest text with its prefix and special tokens, in tokens.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// What it runs on.
    pub fn device(&self) -> Device {
        self.model.device()
    }

    /// The tokens of a document with its prefix and special ones; a text with more than
    /// [`longest`](Self::longest) is a long one. Done on the caller's thread: for chunkers that
    /// count tokens, and for comparisons with other implementations.
    ///
    /// # Errors
    /// [`ErrorKind::Inference`] when the tokenizer fails on it.
    pub fn tokens(&self, text: &str) -> Result<Vec<u32>> {
        self.document.tokens(self.model.tokenizer(), text)
    }

    /// Whether texts share batches. Measures it when that has not been done.
    ///
    /// # Errors
    /// As for embedding.
    pub async fn is_batch_invariant(&self) -> Result<bool> {
        Ok(self.model.grouping().await? != Grouping::Alone)
    }

    async fn embed(
        &self,
        texts: &[&str],
        reading: &Arc<Reading>,
        urgency: Urgency,
    ) -> Result<Vec<Vec<f32>>> {
        let mut vectors = Vec::with_capacity(texts.len());
        let mut rest = texts;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(portion(rest));
            rest = later;
            let owned: Vec<String> = now.iter().map(|text| (*text).to_owned()).collect();
            let (numbers, weights) = self.numbers(owned, reading, urgency, vectors.len()).await?;
            let mut numbers = numbers.into_iter();
            for weights in weights {
                vectors.push(of_windows(numbers.by_ref().take(weights.len()), &weights)?);
            }
        }
        Ok(vectors)
    }

    /// What the model gives for the windows of some texts, and per text the weights of its windows.
    /// `before` texts of the call were embedded before.
    async fn numbers(
        &self,
        texts: Vec<String>,
        reading: &Arc<Reading>,
        urgency: Urgency,
        before: usize,
    ) -> Result<(Vec<Vec<f32>>, Vec<Vec<usize>>)> {
        let reading = Arc::clone(reading);
        let read = move |tokenizer: &TextTokenizer| -> Result<(Vec<Row>, Vec<Vec<usize>>)> {
            let (mut rows, mut weights) = (Vec::new(), Vec::new());
            for (place, text) in texts.iter().enumerate() {
                let windows = reading.windows(tokenizer, text);
                let windows = windows.map_err(|error| at(before + place + 1, error))?;
                rows.extend(windows.rows);
                weights.push(windows.weights);
            }
            Ok((rows, weights))
        };
        let numbers = self.model.prepare_and_run(urgency, read).await;
        match &numbers {
            Ok((_, weights)) => {
                let windowed = weights.iter().filter(|weights| weights.len() > 1).count();
                self.count_long(windowed, "windowed");
            }
            Err(error) if *error.kind() == TOO_LONG => self.count_long(1, "refused"),
            Err(_) => {}
        }
        numbers
    }

    fn count_long(&self, texts: usize, outcome: &str) {
        if texts > 0 {
            self.runtime.count(LONG_TEXTS, outcome, texts.try_into().unwrap_or(u64::MAX));
        }
    }
}

/// A failure with one text, named by its place in the call.
fn at(place: usize, error: Error) -> Error {
    let next = error.next_step().unwrap_or_default().to_owned();
    let wrong = error.wrong().to_owned();
    Error::new(*error.kind(), format!("embed text {place} of this call"), wrong)
        .next(next)
        .caused_by(error)
}

/// How many of the texts are worked on at a time: at least one.
fn portion(texts: &[&str]) -> usize {
    let mut bytes = 0;
    let fits = texts.iter().take(TEXTS_AT_A_TIME).take_while(|text| {
        bytes += text.len();
        bytes <= BYTES_AT_A_TIME
    });
    fits.count().max(1)
}

#[async_trait]
impl Embedder for OnnxEmbedder {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    async fn embed_documents(&self, texts: &[&str]) -> kuhaku_core::Result<Vec<Vec<f32>>> {
        let vectors = self.embed(texts, &self.document, Urgency::Bulk).await;
        vectors.map_err(|error| error.map_kind(Into::into))
    }

    async fn embed_query(&self, text: &str) -> kuhaku_core::Result<Vec<f32>> {
        let vectors = self.embed(&[text], &self.query, Urgency::Interactive).await;
        let vector = vectors.map(|vectors| vectors.into_iter().next().unwrap_or_default());
        vector.map_err(|error| error.map_kind(Into::into))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_portion_is_bounded_by_count_and_by_bytes_but_never_empty() {
        assert_eq!(portion(&vec!["a"; 5000]), TEXTS_AT_A_TIME);
        let long = "a".repeat(BYTES_AT_A_TIME / 2);
        assert_eq!(portion(&[&long[..]; 5]), 2);
        assert_eq!(portion(&[&"a".repeat(1 << 20)[..], "b"]), 1);
    }
}
