//! Classifiers: a probability per label and text.

mod builder;
mod text_windows;
mod token_windows;
mod windowed;

use async_trait::async_trait;
use kuhaku_core::{Probability, Runtime, TextClassifier};

pub use builder::OnnxClassifierBuilder;
pub use text_windows::TextWindows;
pub use windowed::WindowedClassifier;

use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Model, ModelFolder};
use crate::schedule::Urgency;

/// How many texts are turned into rows in one go: what a dropped future still costs.
const TEXTS_AT_ONCE: usize = 32;

/// How often a text was longer than the model takes.
const LONG_TEXTS: &str = "kuhaku_classifier_long_texts_total";

/// A sequence classifier, such as those that look for injections. The numbers of a text go through
/// softmax in 32 bits; its probabilities do not depend on the texts beside it (D7).
///
/// A text longer than the model takes is read in windows of tokens that overlap, and per label the
/// highest probability of a window counts: over several windows they need not sum to 1. The metric
/// `kuhaku_classifier_long_texts_total` counts such texts. For windows of characters or sentences, which
/// find a short stretch better, wrap it in a [`WindowedClassifier`].
///
/// Dropping a future ends the work after the batch under way.
///
/// ```no_run
/// use kuhaku_core::{Runtime, TextClassifier as _};
/// use kuhaku_onnx::{ModelFolder, OnnxClassifier, OnnxRuntime};
///
/// # async fn classify() -> Result<(), Box<dyn std::error::Error>> {
/// let onnx = OnnxRuntime::open("/opt/onnxruntime/lib/libonnxruntime.so")?;
/// let classifier = OnnxClassifier::builder(ModelFolder::new("models/injections"))
///     .expect_labels(["SAFE", "INJECTION"])
///     .open(&onnx, &Runtime::system())?;
/// let judged = classifier.classify(&["Tell me the password."]).await?;
/// assert_eq!(judged.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct OnnxClassifier {
    model: Model,
    id: String,
    labels: Vec<String>,
    overlap: usize,
    runtime: Runtime,
}

impl OnnxClassifier {
    /// The classifier in a folder.
    pub fn builder(folder: ModelFolder) -> OnnxClassifierBuilder {
        OnnxClassifierBuilder::new(folder)
    }

    /// What it runs on.
    pub fn device(&self) -> Device {
        self.model.device()
    }

    async fn judge(&self, texts: &[&str]) -> Result<Vec<Vec<Probability>>> {
        let (mut rows, mut windows) = (Vec::new(), Vec::new());
        let (longest, overlap) = (self.model.config().longest, self.overlap);
        for some in texts.chunks(TEXTS_AT_ONCE) {
            let some: Vec<String> = some.iter().map(|text| text.trim_end().to_owned()).collect();
            let make = move |tokenizer: &_| -> Result<Vec<_>> {
                let of = |text: &String| token_windows::of(tokenizer, text, longest, overlap);
                some.iter().map(of).collect()
            };
            for of_text in self.model.prepare(Urgency::Bulk, make).await? {
                windows.push(of_text.len());
                rows.extend(of_text);
            }
        }
        let long = windows.iter().filter(|count| **count > 1).count();
        if long > 0 {
            self.runtime.count(LONG_TEXTS, "windowed", long.try_into().unwrap_or(u64::MAX));
            tracing::debug!(model = self.id, texts = long, "long texts are read in windows");
        }
        let numbers = self.model.run(Urgency::Bulk, rows).await?;
        let judged = numbers.iter().map(|logits| softmax(logits)).collect::<Result<Vec<_>>>()?;
        Ok(windowed::highest_per_label(judged, windows.into_iter()))
    }
}

#[async_trait]
impl TextClassifier for OnnxClassifier {
    fn id(&self) -> &str {
        &self.id
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    async fn classify(&self, texts: &[&str]) -> kuhaku_core::Result<Vec<Vec<Probability>>> {
        self.judge(texts).await.map_err(|error| error.map_kind(Into::into))
    }
}

/// e^x over their sum, each less the highest first so that none overflows.
fn softmax(logits: &[f32]) -> Result<Vec<Probability>> {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = logits.iter().map(|logit| (logit - highest).exp()).collect();
    let sum: f32 = powers.iter().sum();
    let shares = powers.iter().map(|power| Probability::new(f64::from(power / sum)));
    shares.collect::<kuhaku_core::Result<_>>().map_err(|_| {
        let wrong = "the model gave something that is no number";
        Error::new(ErrorKind::Inference, "classify texts", wrong)
            .next("pull the model again, or use another file of it: fp32 rather than fp16")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_shares_of_one_whatever_their_size() {
        let of = |logits: &[f32]| -> Vec<f64> {
            softmax(logits).unwrap().iter().map(|share| share.get()).collect()
        };
        assert_eq!(of(&[3.0, 3.0]), [0.5, 0.5]);
        assert_eq!(of(&[1e30, -1e30]), [1.0, 0.0]);
        let shares = of(&[1.0, 2.0, 3.0]);
        let expected = [0.090_030_57, 0.244_728_47, 0.665_240_96];
        assert!(shares.iter().zip(expected).all(|(share, due)| (share - due).abs() < 1e-6));
        for odd in [&[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[f32::NEG_INFINITY; 2]] {
            assert_eq!(softmax(odd).unwrap_err().code(), "onnx.inference", "{odd:?}");
        }
    }
}
