//! How a model is opened.

use std::thread::available_parallelism;

use crate::device::Device;

/// How many tokens a batch takes unless it is set: small enough that a query waits well under a
/// second behind it, large enough that bigger ones are no faster on a processor.
const BATCH_TOKENS: usize = 2048;

/// The runtime starts as many threads as it is told to; settings allow no more than these.
const MOST_THREADS: usize = 1024;

/// How a model is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) device: Device,
    /// How many batches run at a time. Each session has the model's weights in memory.
    pub(crate) sessions: usize,
    /// Threads of all sessions together; 0 for one per core.
    pub(crate) threads: usize,
    /// The most tokens in a batch, those that fill rows up included.
    pub(crate) batch_tokens: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { device: Device::Auto, sessions: 1, threads: 0, batch_tokens: BATCH_TOKENS }
    }
}

impl Options {
    pub(super) fn threads_per_session(&self) -> usize {
        let cores = || available_parallelism().map_or(1, usize::from);
        let threads = if self.threads == 0 { cores() } else { self.threads };
        (threads.min(MOST_THREADS) / self.sessions.max(1)).max(1)
    }
}
