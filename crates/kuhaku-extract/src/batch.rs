//! Many texts at once.

use std::fmt;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream;

use crate::error::{Error, Result};
use crate::extractor::Extractor;
use crate::request::ExtractRequest;
use crate::result::Extraction;

type Observe = Arc<dyn Fn(&BatchProgress) + Send + Sync>;

/// How far a batch has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchProgress {
    /// Texts that this run has done, in whatever way they ended.
    pub done: usize,
    /// Texts that an earlier run had done.
    pub skipped: usize,
    /// Those among both that are complete.
    pub complete: usize,
    /// Those among both that ended in an error.
    pub errors: usize,
    /// How many there are, when that is known.
    pub total: Option<usize>,
}

/// Extracts from many texts, several at once; made by [`Extractor::batch`].
///
/// Results come in the order of the texts. A text that fails has its error as its result and stops no
/// other. Dropping the work ends the calls of the models.
///
/// ```
/// # async fn all(extractor: kuhaku_extract::Extractor) {
/// let batch = extractor.batch().concurrency(8).progress(|at| eprintln!("{} done", at.done));
/// for outcome in batch.run(["tea please", "3 boxes of coffee"]).await {
///     if let Ok(result) = outcome {
///         println!("{}", result.status);
///     }
/// }
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Batch {
    pub(crate) extractor: Extractor,
    pub(crate) concurrency: usize,
    observe: Option<Observe>,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("concurrency", &self.concurrency).finish_non_exhaustive()
    }
}

impl Extractor {
    /// Work on many texts.
    pub fn batch(&self) -> Batch {
        let concurrency = self.core.settings.batch_concurrency;
        Batch { extractor: self.clone(), concurrency, observe: None }
    }
}

impl Batch {
    /// Sets how many texts are worked on at once, at least one.
    pub fn concurrency(mut self, texts: usize) -> Self {
        self.concurrency = texts.max(1);
        self
    }

    /// Hears how far it has come, after each text.
    pub fn progress(mut self, observe: impl Fn(&BatchProgress) + Send + Sync + 'static) -> Self {
        self.observe = Some(Arc::new(observe));
        self
    }

    /// Extracts from all of them.
    pub async fn run<I>(&self, requests: I) -> Vec<Result<Extraction>>
    where
        I: IntoIterator,
        I::Item: Into<ExtractRequest>,
    {
        let requests: Vec<ExtractRequest> = requests.into_iter().map(Into::into).collect();
        let mut progress =
            BatchProgress { total: Some(requests.len()), ..BatchProgress::default() };
        let extractor = &self.extractor;
        let work = requests.into_iter().map(|request| extractor.extract(request));
        let mut outcomes = stream::iter(work).buffered(self.concurrency);
        let mut all = Vec::new();
        while let Some(outcome) = outcomes.next().await {
            self.note(&mut progress, outcome.as_ref());
            all.push(outcome);
        }
        all
    }

    /// One text is done.
    pub(crate) fn note(&self, progress: &mut BatchProgress, outcome: Result<&Extraction, &Error>) {
        progress.done += 1;
        match outcome {
            Ok(result) => progress.complete += usize::from(result.is_complete()),
            Err(_) => progress.errors += 1,
        }
        self.tell(progress);
    }

    pub(crate) fn tell(&self, progress: &BatchProgress) {
        if let Some(observe) = &self.observe {
            observe(progress);
        }
    }
}
