//! Targets made of closures and of recorded runs.

use std::fmt;
use std::future::Future;

use async_trait::async_trait;

use crate::case::Sample;
use crate::datasets::TrecRun;
use crate::target::{Outcome, Target};

/// A target that a closure answers.
///
/// ```
/// use kuhaku_eval::{Outcome, target_fn};
/// let target = target_fn("echo", |sample| Outcome::answered(sample.query.clone()));
/// ```
pub fn target_fn<F>(name: impl Into<String>, answer: F) -> impl Target
where
    F: Fn(&Sample) -> Outcome + Send + Sync,
{
    Closure { name: name.into(), answer }
}

/// A target that an async closure answers. The sample is its own, so that the future borrows
/// nothing.
///
/// ```
/// use kuhaku_eval::{Outcome, async_target_fn};
/// let target = async_target_fn("echo", async |sample| Outcome::answered(sample.query));
/// ```
pub fn async_target_fn<F, R>(name: impl Into<String>, answer: F) -> impl Target
where
    F: Fn(Sample) -> R + Send + Sync,
    R: Future<Output = Outcome> + Send,
{
    AsyncClosure { name: name.into(), answer }
}

struct Closure<F> {
    name: String,
    answer: F,
}

struct AsyncClosure<F> {
    name: String,
    answer: F,
}

impl<F> fmt::Debug for Closure<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closure").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for AsyncClosure<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncClosure").field("name", &self.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl<F: Fn(&Sample) -> Outcome + Send + Sync> Target for Closure<F> {
    fn name(&self) -> &str {
        &self.name
    }

    async fn run(&self, sample: &Sample) -> Outcome {
        (self.answer)(sample)
    }
}

#[async_trait]
impl<F, R> Target for AsyncClosure<F>
where
    F: Fn(Sample) -> R + Send + Sync,
    R: Future<Output = Outcome> + Send,
{
    fn name(&self) -> &str {
        &self.name
    }

    async fn run(&self, sample: &Sample) -> Outcome {
        (self.answer)(sample.clone()).await
    }
}

/// What another system retrieved, played back: a sample gets the ranking that the run has for its
/// id, an empty one when it has none.
#[derive(Clone, Debug)]
pub struct RecordedTarget {
    name: String,
    run: TrecRun,
}

impl RecordedTarget {
    /// A run under a name.
    pub fn new(name: impl Into<String>, run: TrecRun) -> Self {
        Self { name: name.into(), run }
    }
}

#[async_trait]
impl Target for RecordedTarget {
    fn name(&self) -> &str {
        &self.name
    }

    async fn run(&self, sample: &Sample) -> Outcome {
        Outcome::retrieved(self.run.ranking(&sample.id).map(str::to_owned))
    }
}
