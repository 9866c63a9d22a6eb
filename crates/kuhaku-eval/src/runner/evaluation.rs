//! Running a target over a dataset.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesOrdered, StreamExt};

use super::file::RunFile;
use super::record::{Row, Run, RunHeader};
use crate::case::Case;
use crate::datasets::Dataset;
use crate::error::{Error, ErrorKind, Result};
use crate::measures::Scorer;
use crate::report::Summary;
use crate::target::Target;

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Samples that are done, those of a resumed file included.
    pub done: usize,
    /// Samples of the dataset.
    pub total: usize,
    /// Samples of those done that failed.
    pub failed: usize,
}

enum Output {
    Memory,
    New(PathBuf),
    Resumed(PathBuf),
}

type Listener<'a> = Box<dyn Fn(Progress) + Send + Sync + 'a>;

/// Runs targets over a dataset and scores what they give.
///
/// ```
/// use kuhaku_eval::{Case, Dataset, Evaluation, Expected, Measure, Outcome, Sample, Scorer, target_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> kuhaku_eval::Result<()> {
/// let expected = Expected::default().relevant(["leave"]);
/// let set = Dataset::new("mine", [Case::new(Sample::new("q1", "days off?"), expected)])?;
/// let target = target_fn("always-leave", |_| Outcome::retrieved(["leave"]));
/// let run = Evaluation::new(&set, Scorer::new(Measure::list("mrr")?)).run(&target).await?;
/// assert_eq!(run.rows[0].score("mrr".parse()?), Some(1.0));
/// # Ok(())
/// # }
/// ```
pub struct Evaluation<'a> {
    dataset: &'a Dataset,
    scorer: Scorer,
    concurrency: NonZeroUsize,
    seed: u64,
    settings: Vec<(String, String)>,
    output: Output,
    keep_answers: bool,
    listener: Option<Listener<'a>>,
}

impl fmt::Debug for Evaluation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluation")
            .field("dataset", &self.dataset.name())
            .field("scorer", &self.scorer)
            .field("concurrency", &self.concurrency)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

impl<'a> Evaluation<'a> {
    /// One sample at a time, seed 0, kept in memory alone.
    pub fn new(dataset: &'a Dataset, scorer: Scorer) -> Self {
        Self {
            dataset,
            scorer,
            concurrency: NonZeroUsize::MIN,
            seed: 0,
            settings: Vec::new(),
            output: Output::Memory,
            keep_answers: false,
            listener: None,
        }
    }

    /// How many samples are in flight at most. All are driven by the task that awaits the run; a
    /// target that computes for long should move that to threads of its own.
    #[must_use]
    pub fn concurrency(mut self, samples: NonZeroUsize) -> Self {
        self.concurrency = samples;
        self
    }

    /// Sets the seed of intervals; it stands in the run.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Notes a setting of the target in the run. Runs with other settings are not resumed.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// Writes the run to a new file.
    #[must_use]
    pub fn write_to(mut self, path: impl Into<PathBuf>) -> Self {
        self.output = Output::New(path.into());
        self
    }

    /// Goes on with the run in a file, or starts it if there is none. Rows that are there are not
    /// run again, failed ones included.
    #[must_use]
    pub fn resume(mut self, path: impl Into<PathBuf>) -> Self {
        self.output = Output::Resumed(path.into());
        self
    }

    /// Keeps answers and objects in the rows. Without it a run holds ids and numbers only.
    #[must_use]
    pub fn keep_answers(mut self) -> Self {
        self.keep_answers = true;
        self
    }

    /// Calls back after each sample, in the order of the dataset.
    #[must_use]
    pub fn on_progress(mut self, listener: impl Fn(Progress) + Send + Sync + 'a) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Runs. A sample that fails is scored as empty and counted, and the run goes on. Rows come in
    /// the order of the dataset, whatever the concurrency. Dropping the future ends the run; a file
    /// can then be resumed.
    ///
    /// # Errors
    /// [`ErrorKind::RunExists`] when the new file is there already, [`ErrorKind::RunLocked`] when
    /// another process writes it, [`ErrorKind::Mismatch`] when the file to resume is another run,
    /// [`ErrorKind::InvalidRun`] when it is none, [`ErrorKind::Unwritable`] when writing fails.
    pub async fn run(&self, target: &dyn Target) -> Result<Run> {
        let mut header = RunHeader::new(target.name(), self.dataset, &self.scorer);
        header.seed = self.seed;
        header.settings = self.settings.iter().cloned().collect();
        let (mut file, rows, finished) = match &self.output {
            Output::Memory => (None, Vec::new(), false),
            Output::New(path) => (Some(RunFile::create(path, &header)?), Vec::new(), false),
            Output::Resumed(path) => {
                let (file, rows, finished) = RunFile::resume(path, &header)?;
                self.check_rows(&rows, finished)?;
                (Some(file), rows, finished)
            }
        };
        let mut run = Run { header, rows };
        let mut failed = run.rows.iter().filter(|row| row.failed.is_some()).count();
        let mut left = self.dataset.cases().iter().skip(run.rows.len());
        let mut in_flight = FuturesOrdered::new();
        loop {
            while in_flight.len() < self.concurrency.get()
                && let Some(case) = left.next()
            {
                in_flight.push_back(self.one(target, case));
            }
            let Some(row) = in_flight.next().await else { break };
            if let Some(file) = &mut file {
                file.row(&row)?;
            }
            failed += usize::from(row.failed.is_some());
            run.rows.push(row);
            if let Some(listener) = &self.listener {
                listener(Progress { done: run.rows.len(), total: run.header.cases, failed });
            }
        }
        if let Some(file) = file.as_mut().filter(|_| !finished) {
            file.finish(&Summary::new(&run))?;
        }
        Ok(run)
    }

    fn one<'b>(&'b self, target: &'b dyn Target, case: &'b Case) -> BoxFuture<'b, Row> {
        Box::pin(async move {
            let started = Instant::now();
            let outcome = target.run(&case.sample).await;
            let latency_ms = started.elapsed().as_secs_f64() * 1_000.0;
            let mut row = Row::new(case, outcome, &self.scorer, latency_ms);
            if !self.keep_answers {
                row.text = None;
                row.object = None;
            }
            row
        })
    }

    fn check_rows(&self, rows: &[Row], finished: bool) -> Result<()> {
        let cases = self.dataset.cases();
        let same = rows.iter().zip(cases).all(|(row, case)| row.id == case.sample.id);
        if same && rows.len() <= cases.len() && (!finished || rows.len() == cases.len()) {
            return Ok(());
        }
        let wrong = "its rows are not those of the dataset's cases in order";
        Err(Error::new(ErrorKind::InvalidRun, "resume a run", wrong).next("write to another file"))
    }
}
