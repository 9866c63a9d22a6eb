//! Cross-encoders: a query and a passage together through one model.

mod builder;
mod pairs;

use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_core::{Probability, Reranker, Runtime};

pub use builder::OnnxRerankerBuilder;
pub use pairs::LongPassage;

use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Model, ModelFolder, Row};
use crate::schedule::Urgency;
use pairs::Pairs;

/// How many pairs are made in one go: what a dropped future still costs.
const PAIRS_AT_ONCE: usize = 32;

/// How often a passage was longer than the model takes, by what became of it.
const LONG_PASSAGES: &str = "kuhaku_rerank_long_passages_total";

/// A cross-encoder: bge-reranker, ms-marco-MiniLM and their kin, with one number per pair. That
/// number goes through the logistic function in 32 bits; the score of a pair does not depend on the
/// pairs beside it (D7).
///
/// Only passages are shortened, as [`LongPassage`] says, and never in silence:
/// [`judge`](Self::judge) tells how many, and so does the metric
/// `kuhaku_rerank_long_passages_total` with the label `windowed` or `cut`.
///
/// Dropping a future ends the work after the batch under way; for a deadline, drop it then.
///
/// ```no_run
/// use kuhaku_core::Runtime;
/// use kuhaku_onnx::{ModelFolder, OnnxReranker, OnnxRuntime};
///
/// # async fn rank() -> kuhaku_onnx::Result<()> {
/// let onnx = OnnxRuntime::open("/opt/onnxruntime/lib/libonnxruntime.so")?;
/// let folder = ModelFolder::new("models/bge-reranker-base");
/// let reranker = OnnxReranker::builder(folder).open(&onnx, &Runtime::system())?;
/// let passages = ["The cat sat on the mat.", "Notice is three months."];
/// let ranking = reranker.rank("How long is the notice period?", &passages).await?;
/// assert_eq!(ranking.first().map(|best| best.passage), Some(1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct OnnxReranker {
    model: Model,
    id: String,
    long: LongPassage,
    runtime: Runtime,
}

/// What a reranker found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Judged {
    /// One per passage, in the order of the passages.
    pub probabilities: Vec<Probability>,
    /// How many passages were read in several windows.
    pub windowed: usize,
    /// How many passages were cut at the end.
    pub cut: usize,
}

/// A place in a ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ranked {
    /// The passage, by its place among those that were given, from 0.
    pub passage: usize,
    /// How well it answers the query.
    pub probability: Probability,
}

impl OnnxReranker {
    /// The cross-encoder in a folder.
    pub fn builder(folder: ModelFolder) -> OnnxRerankerBuilder {
        OnnxRerankerBuilder::new(folder)
    }

    /// What it runs on.
    pub fn device(&self) -> Device {
        self.model.device()
    }

    /// The probability that each passage answers the query, and what was shortened.
    ///
    /// # Errors
    /// [`kuhaku_core::ErrorKind::ContextTooLong`] when the query leaves a passage less than a quarter
    /// of the model's length; [`ErrorKind::Inference`], [`ErrorKind::OutOfMemory`].
    pub async fn judge(&self, query: &str, passages: &[&str]) -> Result<Judged> {
        let mut pairs = Pairs::default();
        let shared: Arc<str> = query.trim_end().into();
        let (longest, long) = (self.model.config().longest, self.long);
        for some in passages.chunks(PAIRS_AT_ONCE) {
            let query = Arc::clone(&shared);
            let some: Vec<String> = some.iter().map(|text| text.trim_end().to_owned()).collect();
            let make = move |tokenizer: &_| Pairs::of(tokenizer, &query, &some, longest, long);
            pairs.extend(self.model.prepare(Urgency::Interactive, make).await?);
        }
        let Pairs { rows, rows_per_passage, windowed, cut } = pairs;
        self.report(windowed, cut);
        let scores = self.scores(rows).await?;
        let mut scores = scores.into_iter();
        let best = |count: &usize| scores.by_ref().take(*count).reduce(higher);
        let best: Vec<Probability> = rows_per_passage.iter().filter_map(best).collect();
        if best.len() != passages.len() {
            return Err(odd("the model gave fewer numbers than there are passages"));
        }
        Ok(Judged { probabilities: best, windowed, cut })
    }

    /// The passages from the best to the worst; equal ones keep the order in which they were given.
    ///
    /// # Errors
    /// As for [`judge`](Self::judge).
    pub async fn rank(&self, query: &str, passages: &[&str]) -> Result<Vec<Ranked>> {
        let judged = self.judge(query, passages).await?;
        let places = judged.probabilities.into_iter().enumerate();
        let mut ranking: Vec<Ranked> =
            places.map(|(passage, probability)| Ranked { passage, probability }).collect();
        ranking.sort_by(|a, b| b.probability.get().total_cmp(&a.probability.get()));
        Ok(ranking)
    }

    async fn scores(&self, rows: Vec<Row>) -> Result<Vec<Probability>> {
        let logits = self.model.run(Urgency::Interactive, rows).await?;
        logits.iter().map(|row| row.first().copied().map_or_else(none, logistic)).collect()
    }

    fn report(&self, windowed: usize, cut: usize) {
        for (label, passages) in [("windowed", windowed), ("cut", cut)] {
            if passages > 0 {
                self.runtime.count(LONG_PASSAGES, label, passages.try_into().unwrap_or(u64::MAX));
                tracing::debug!(model = self.id, passages, shortened = label, "long passages");
            }
        }
    }
}

#[async_trait]
impl Reranker for OnnxReranker {
    fn id(&self) -> &str {
        &self.id
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> kuhaku_core::Result<Vec<Probability>> {
        let judged = self.judge(query, texts).await.map_err(|error| error.map_kind(Into::into))?;
        Ok(judged.probabilities)
    }
}

fn higher(one: Probability, other: Probability) -> Probability {
    if other > one { other } else { one }
}

/// 1 / (1 + e^-x), in the precision of the model.
fn logistic(logit: f32) -> Result<Probability> {
    let no_number = || odd("the model gave something that is no number");
    if !logit.is_finite() {
        return Err(no_number());
    }
    Probability::new(f64::from(1.0 / (1.0 + (-logit).exp()))).map_err(|_| no_number())
}

fn none() -> Result<Probability> {
    Err(odd("the model gave no number for a pair"))
}

fn odd(wrong: &'static str) -> Error {
    Error::new(ErrorKind::Inference, "judge passages", wrong)
        .next("pull the model again, or use another file of it: fp32 rather than fp16")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_probabilities_and_what_is_no_number_an_error() {
        let of = |logit: f32| logistic(logit).unwrap().get();
        assert_eq!(of(0.0), 0.5);
        assert_eq!((of(200.0), of(-200.0)), (1.0, 0.0));
        assert!((of(1.0) - 0.731_058_6).abs() < 1e-6);
        assert!(of(2.0) > of(1.9));
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(logistic(odd).unwrap_err().code(), "onnx.inference", "{odd}");
        }
    }
}
