//! One stage of a request: its span, its duration, and how it ended.

use std::fmt;
use std::time::{Duration, Instant};

use tracing::{Instrument as _, Span};

use crate::error::{Failure, Kind};
use crate::runtime::Runtime;

/// The histogram of durations, by `stage` and `outcome`.
const DURATION: &str = "kuhaku_stage_duration_seconds";
const OK: &str = "ok";
/// How a stage ended that was dropped before its end.
const CANCELLED: &str = "core.cancelled";

/// A stage of a request, from its begin to its end.
///
/// However it ends, the histogram `kuhaku_stage_duration_seconds` gets its duration, under the
/// outcome `ok`, the code of the error, or `core.cancelled` when it was dropped on the way. In the
/// last two cases its span gets the status of an error, provided that it was made with the empty
/// fields `otel.status_code` and `error.type`.
///
/// ```
/// use kuhaku_core::{Runtime, Stage};
/// use tracing::field::Empty;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> kuhaku_core::Result<()> {
/// let span = tracing::info_span!("kuhaku.weigh", otel.status_code = Empty, error.r#type = Empty);
/// let stage = Stage::begin(&Runtime::system(), "weigh", span);
/// let weighed = stage.run(async { Ok::<_, kuhaku_core::Error>(7) }).await?;
/// # assert_eq!(weighed, 7);
/// # Ok(())
/// # }
/// ```
#[must_use = "a stage that is dropped was cancelled"]
pub struct Stage {
    runtime: Runtime,
    name: &'static str,
    span: Span,
    begun: Instant,
    outcome: &'static str,
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Stage {
    /// Begins a stage. The name becomes the label of its durations: it comes from a fixed vocabulary.
    pub fn begin(runtime: &Runtime, name: &'static str, span: Span) -> Self {
        let runtime = runtime.clone();
        Self { runtime, name, span, begun: Instant::now(), outcome: CANCELLED }
    }

    /// The span of the stage.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// How long the stage has lasted.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Does the whole work of the stage within its span.
    ///
    /// # Errors
    /// Those of the work.
    pub async fn run<T, K: Kind>(
        self,
        work: impl Future<Output = Result<T, Failure<K>>>,
    ) -> Result<T, Failure<K>> {
        let outcome = work.instrument(self.span.clone()).await;
        match &outcome {
            Ok(_) => self.end(),
            Err(error) => self.fail(error.code()),
        }
        outcome
    }

    /// The same for work that cannot fail and waits for nothing. It may record fields.
    pub fn measure<T>(self, work: impl FnOnce(&Span) -> T) -> T {
        let done = self.span.in_scope(|| work(&self.span));
        self.end();
        done
    }

    /// Ends the stage: it did what it should.
    pub fn end(mut self) {
        self.outcome = OK;
    }

    /// Ends the stage with the code of an error.
    pub fn fail(mut self, code: &'static str) {
        self.outcome = code;
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let took = self.begun.elapsed();
        let labels = [("stage", self.name), ("outcome", self.outcome)];
        self.runtime.record(DURATION, &labels, took.as_secs_f64());
        if self.outcome != OK {
            self.span.record("otel.status_code", "ERROR");
            self.span.record("error.type", self.outcome);
        }
        let (stage, outcome) = (self.name, self.outcome);
        let duration_ms = milliseconds(took);
        self.span.in_scope(|| tracing::debug!(stage, outcome, duration_ms, "a stage has ended"));
    }
}

/// To the hundredth.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 1e2
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::error::{Error, ErrorKind};
    use crate::runtime::MetricsSink;

    #[derive(Clone, Debug, Default)]
    struct Measured(Arc<Mutex<Vec<String>>>);

    impl MetricsSink for Measured {
        fn count(&self, _name: &'static str, _label: &str, _by: u64) {}

        fn record(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64) {
            assert!(value >= 0.0);
            let labels = labels.iter().map(|(key, value)| format!(" {key}={value}"));
            self.0.lock().unwrap().push(format!("{name}{}", labels.collect::<String>()));
        }
    }

    /// OBS-03
    #[tokio::test]
    async fn the_duration_of_a_stage_is_recorded_however_it_ends() {
        let measured = Measured::default();
        let runtime = Runtime::builder().metrics(measured.clone()).build();
        let stage = |name| Stage::begin(&runtime, name, Span::none());
        let found: Result<_, Error> = stage("found").run(async { Ok(()) }).await;
        found.unwrap();
        let down = Error::new(ErrorKind::Unavailable, "call", "it is down");
        let failed: Result<(), _> = stage("failed").run(async { Err(down) }).await;
        failed.unwrap_err();
        assert_eq!(stage("measured").measure(|_| 3), 3);
        drop(stage("dropped").run(std::future::pending::<Result<(), Error>>()));
        let expected = [
            "stage=found outcome=ok",
            "stage=failed outcome=core.unavailable",
            "stage=measured outcome=ok",
            "stage=dropped outcome=core.cancelled",
        ]
        .map(|labels| format!("kuhaku_stage_duration_seconds {labels}"));
        assert_eq!(*measured.0.lock().unwrap(), expected);
    }
}
