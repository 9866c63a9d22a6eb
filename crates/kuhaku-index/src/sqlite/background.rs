//! Writing a snapshot beside all other work, on a thread that may block.

use kuhaku_core::{Announcement, Runtime};
use tokio::task::JoinHandle;

use super::schema::Mark;
use crate::fingerprint::Fingerprint;
use crate::inverted::Generation;
use crate::snapshot::{Draft, Pace};

/// What failures are announced under: once per runtime.
const ANNOUNCED: &str = "index.snapshot";

/// A snapshot that is being written. It ends at its next block when this is dropped, and leaves nothing.
#[derive(Debug)]
pub(super) struct Background {
    mark: Mark,
    pace: Pace,
    work: JoinHandle<bool>,
}

impl Drop for Background {
    fn drop(&mut self) {
        self.pace.stop();
    }
}

impl Background {
    /// Begins to write what lives of a generation. It is a copy, since who holds the current one itself
    /// counts as a reader, for whom removed rows must stay.
    pub(super) fn start(
        draft: Draft,
        generation: Generation,
        mark: Mark,
        fingerprint: Fingerprint,
        pace: Pace,
        runtime: Runtime,
    ) -> Self {
        let (shown, paced) = (mark.clone(), pace.clone());
        let work = tokio::task::spawn_blocking(move || {
            let living = generation.without_dead();
            let written = draft.write(&living, shown.as_bytes(), &fingerprint, &paced);
            match &written {
                Err(error) if !paced.is_stopped() => announce(&runtime, error.kind()),
                Ok(false) => tracing::debug!("another snapshot took the place of this one"),
                _ => {}
            }
            written.unwrap_or(false)
        });
        Self { mark, pace, work }
    }

    /// The transaction that it is to show.
    pub(super) fn mark(&self) -> &Mark {
        &self.mark
    }

    pub(super) fn is_finished(&self) -> bool {
        self.work.is_finished()
    }

    /// Waits for its end; what the snapshot in place now shows, if it is this one.
    pub(super) async fn end(mut self) -> Option<Mark> {
        let is_written = (&mut self.work).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "the snapshot is not written");
            false
        });
        is_written.then(|| self.mark.clone())
    }

    /// Ends it and waits until nothing of it is left; or until it is in place, if it was that far.
    pub(super) async fn stop(self) -> Option<Mark> {
        self.pace.stop();
        self.end().await
    }
}

/// Says that there is no new snapshot: to a person, since no batch fails of it.
pub(super) fn announce(runtime: &Runtime, reason: impl std::fmt::Display) {
    tracing::debug!(%reason, "the snapshot is not written");
    runtime.announce(&Announcement::new(
        ANNOUNCED,
        format!(
            "the index is whole, but its snapshot could not be written ({reason}), so that it opens \
             slowly; check that the disk has room"
        ),
    ));
}

#[cfg(test)]
mod tests;
