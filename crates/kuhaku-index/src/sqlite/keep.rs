//! When the snapshot is read and written.

use std::path::Path;
use std::sync::Arc;

use super::background::{Background, announce};
use super::failure::disk;
use super::lock::WriteLock;
use super::schema::{Earlier, Mark, Meta};
use super::writer::{aside, failed};
use super::{SqliteIndex, private, schema};
use crate::contract::ChunkIndex as _;
use crate::error::{ErrorKind, Result};
use crate::fault::{Fault, Seeded};
use crate::inverted::Generation;
use crate::snapshot::{self, Draft, Opened, Pace};

/// A snapshot is written anew when more documents than this share have come or gone since: reading
/// those from the database takes as long as reading the snapshot itself.
const SHARE: usize = 64;

/// The same while the index is open: a large ingest writes one each time that it has doubled the index.
const SHARE_WHILE_OPEN: usize = 2;

/// Fewer changes are no reason to write one while the index is open.
const FEW: i64 = 4_096;

/// Reads the snapshot of an index, unless it cannot be brought up to date.
pub(super) async fn kept(
    folder: &Path,
    meta: Meta,
    seeded: Seeded,
) -> Result<Option<(Generation, Mark)>> {
    let folder = folder.to_owned();
    let opened = aside("open the index", move || {
        let Meta { fingerprint, commit, snapshots, .. } = meta;
        snapshot::sweep(&folder);
        snapshot::open(&folder, &fingerprint, |mark| {
            mark == commit.as_bytes() || snapshots.iter().any(|known| mark == known.as_bytes())
        })
        .current(seeded.has(Fault::StaleSnapshot).then_some(commit.as_bytes()))
    })
    .await?;
    let reason = match opened {
        Opened::Whole(generation, mark) => {
            return Ok(Some((generation, Mark::from_bytes(mark))));
        }
        Opened::Missing => return Ok(None),
        Opened::Foreign => "it is of another version or another state",
        Opened::Damaged => "it is damaged",
    };
    tracing::info!(reason, "the snapshot is not used; the index is read from the database");
    Ok(None)
}

/// What a handle that writes knows of snapshots.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// What the one shows that this handle has read or written, if it has.
    pub(super) shown: Option<Mark>,
    /// What the one was to show that this handle began last while it was open, unless it is known to
    /// be in its place: one that fails is not begun again with each batch.
    begun: Option<Mark>,
    /// The one that is being written, at most.
    running: Option<Background>,
    /// For those to come.
    #[cfg(test)]
    pub(super) disk: Option<snapshot::Disk>,
}

impl Kept {
    pub(super) fn new(shown: Option<Mark>) -> Self {
        Self { shown, ..Self::default() }
    }

    /// Notes what the snapshot in place shows, if it is a new one.
    fn take(&mut self, shown: Option<Mark>) {
        if shown.is_some() {
            self.shown = shown;
            self.begun = None;
        }
    }

    /// Ends the one that is being written, and waits until nothing of it is left.
    pub(super) async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            let shown = running.stop().await;
            self.take(shown);
        }
    }

    /// Whether nothing is being written.
    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.running.as_ref().is_none_or(Background::is_finished)
    }

    fn pace(&self) -> Pace {
        #[cfg(test)]
        return Pace::on(self.disk.clone());
        #[cfg(not(test))]
        Pace::default()
    }
}

impl SqliteIndex {
    /// Whether so many documents have come or gone since a snapshot that it is worth another one.
    fn is_old(&self, snapshot: Option<&Mark>, share: usize, few: i64) -> bool {
        let documents: usize = self.live.generation().size();
        let shown = self.shown();
        let limit = i64::try_from(documents / share).unwrap_or(i64::MAX).max(few);
        match snapshot {
            Some(mark) if *mark == shown => false,
            // The numbers of a history that was replaced may be anywhere.
            Some(mark) => !(0..=limit).contains(&shown.number().saturating_sub(mark.number())),
            None => documents > 0 && shown.number() >= few,
        }
    }

    /// Begins a snapshot after a batch, when there is much that the last one lacks, and does not wait
    /// for it. The caller holds the write lock.
    pub(super) async fn keep_while_open(&self, kept: &mut Kept) {
        if let Some(finished) = kept.running.take_if(|running| running.is_finished()) {
            let shown = finished.end().await;
            kept.take(shown);
        }
        let latest = kept.begun.as_ref().or(kept.shown.as_ref());
        if kept.running.is_some() || !self.is_old(latest, SHARE_WHILE_OPEN, FEW) {
            return;
        }
        kept.begun = Some(self.shown());
        match self.begin_snapshot(kept.pace(), Earlier::Stay).await {
            Ok(running) => kept.running = Some(running),
            Err(error) => announce(&self.runtime, error.wrong()),
        }
    }

    /// Leaves a snapshot when the index is closed. What fails costs time when it is opened again,
    /// nothing else.
    pub(super) async fn keep_at_close(&self, kept: &mut Kept) {
        if let Some(running) = kept.running.take() {
            // One that will do is waited for.
            let is_old = self.is_old(Some(running.mark()), SHARE, 0);
            let shown = if is_old { running.stop().await } else { running.end().await };
            kept.take(shown);
        }
        if !self.is_old(kept.shown.as_ref(), SHARE, 0) {
            return;
        }
        // Another writer leaves one itself.
        let Ok(_lock) = WriteLock::acquire(&self.directory) else { return };
        // What another handle has removed since must not come back with what this one still has.
        let begun = match self.follow().await {
            Ok(()) => self.begin_snapshot(kept.pace(), Earlier::Stay).await,
            Err(error) => Err(error),
        };
        match begun {
            Ok(running) => {
                let shown = running.end().await;
                kept.take(shown);
            }
            Err(error) => announce(&self.runtime, error.wrong()),
        }
    }

    /// Writes a snapshot without a trace of what was removed, or removes the one that is there. The
    /// caller holds the write lock.
    pub(super) async fn keep_cleaned(&self, kept: &mut Kept) -> Result<()> {
        const TRIED: &str = "compact the index";
        {
            let _following = self.following.lock().await;
            let before = self.live.generation();
            let base = Arc::clone(&before);
            let cleaned = aside(TRIED, move || base.without_dead()).await?;
            self.pins.retire(&before, Vec::new());
            self.live.publish(cleaned);
        }
        let shown = match self.begin_snapshot(kept.pace(), Earlier::Go).await {
            Ok(running) => running.end().await,
            Err(_) => None,
        };
        if shown.is_none() {
            snapshot::remove(&self.directory).map_err(|error| disk(TRIED, error))?;
        }
        kept.take(shown);
        Ok(())
    }

    /// Begins a snapshot of the current generation. The caller holds the write lock.
    async fn begin_snapshot(&self, pace: Pace, earlier: Earlier) -> Result<Background> {
        let (generation, mark) = {
            let _following = self.following.lock().await;
            (Generation::clone(&self.live.generation()), self.shown())
        };
        let random: [u8; 8] =
            self.runtime.random().map_err(|error| error.map_kind(|_| ErrorKind::Storage))?;
        let own = format!("{}-{:016x}", std::process::id(), u64::from_le_bytes(random));
        let draft = Draft::begin(&self.directory, &own, private::fresh)
            .map_err(|error| disk("write the snapshot of the index", error))?;
        let mut transaction = self.begin().await?;
        schema::note_snapshot(&mut transaction, &mark, earlier).await?;
        transaction.commit().await.map_err(failed)?;
        let (fingerprint, runtime) = (self.fingerprint(), self.runtime.clone());
        Ok(Background::start(draft, generation, mark, fingerprint, pace, runtime))
    }
}
