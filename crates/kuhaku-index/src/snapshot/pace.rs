//! Whether to go on with a snapshot that is being written.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asked before each block. Clones are of the same snapshot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    stopped: Arc<AtomicBool>,
    /// A disk that is slow or full.
    #[cfg(test)]
    disk: Option<Disk>,
}

/// What stands for the disk in tests; is told whether the snapshot was stopped.
#[cfg(test)]
#[derive(Clone)]
pub(crate) struct Disk(Arc<Write>);

#[cfg(test)]
type Write = dyn Fn(&AtomicBool) -> io::Result<()> + Send + Sync;

#[cfg(test)]
impl Disk {
    pub(crate) fn new(
        write: impl Fn(&AtomicBool) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(write))
    }
}

#[cfg(test)]
impl std::fmt::Debug for Disk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Disk").finish_non_exhaustive()
    }
}

impl Pace {
    #[cfg(test)]
    pub(crate) fn on(disk: Option<Disk>) -> Self {
        Self { disk, ..Self::default() }
    }

    /// Ends the work before its next block.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// An error when the work shall end.
    pub(crate) fn step(&self) -> io::Result<()> {
        #[cfg(test)]
        if let Some(Disk(write)) = &self.disk {
            write(&self.stopped)?;
        }
        if self.is_stopped() { Err(io::Error::other("the snapshot is not wanted")) } else { Ok(()) }
    }
}
