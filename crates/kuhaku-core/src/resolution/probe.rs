//! Asks all sources at the same time, for a short while.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::alarm::Alarm;
use super::candidate::{Candidate, CandidateSource};

/// What the sources have.
#[derive(Debug, Default)]
pub(super) struct Probed {
    /// In the order of the sources, and of each source's candidates.
    pub(super) candidates: Vec<Candidate>,
    /// The sources that did not answer in time.
    pub(super) silent: Vec<String>,
}

enum Probe<'a> {
    Running(Pin<Box<dyn Future<Output = Vec<Candidate>> + Send + 'a>>),
    Done(Vec<Candidate>),
}

/// Gives what the sources answer within `limit`.
pub(super) async fn probe(sources: &[&Arc<dyn CandidateSource>], limit: Duration) -> Probed {
    let names: Vec<_> = sources.iter().map(|source| source.name().to_owned()).collect();
    let mut probes: Vec<_> = sources.iter().map(|source| Probe::Running(source.probe())).collect();
    let mut alarm: Option<Pin<Box<Alarm>>> = None;
    poll_fn(|context| {
        let mut waiting = false;
        for probe in &mut probes {
            let Probe::Running(future) = probe else { continue };
            match future.as_mut().poll(context) {
                Poll::Ready(found) => *probe = Probe::Done(found),
                Poll::Pending => waiting = true,
            }
        }
        if !waiting {
            return Poll::Ready(());
        }
        // Most sources only look at settings, and then no alarm is needed.
        alarm.get_or_insert_with(|| Box::pin(Alarm::after(limit))).as_mut().poll(context)
    })
    .await;
    let mut probed = Probed::default();
    for (name, probe) in names.into_iter().zip(probes) {
        match probe {
            Probe::Done(found) => probed.candidates.extend(found),
            Probe::Running(_) => probed.silent.push(name),
        }
    }
    probed
}
