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
    /// Whether threads spin for their next piece of work.
    pub(crate) spinning: bool,
    /// The most tokens in a batch, those that fill rows up included.
    pub(crate) batch_tokens: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            device: Device::Auto,
            sessions: 1,
            threads: 0,
            spinning: true,
            batch_tokens: BATCH_TOKENS,
        }
    }
}

impl Options {
    pub(super) fn threads_per_session(&self) -> usize {
        let cores = || available_parallelism().map_or(1, usize::from);
        let threads = if self.threads == 0 { cores() } else { self.threads };
        (threads.min(MOST_THREADS) / self.sessions.max(1)).max(1)
    }
}

/// The setters that the builders of all models have, over a field `options`.
macro_rules! option_setters {
    () => {
        /// What it runs on; by default [`Device::Auto`](crate::Device::Auto), the best that there is.
        pub fn device(mut self, device: $crate::Device) -> Self {
            self.options.device = device;
            self
        }

        /// How many batches run at a time, from 1; by default 1, since one batch uses all threads.
        /// Each has the weights in memory.
        pub fn sessions(mut self, sessions: usize) -> Self {
            self.options.sessions = sessions;
            self
        }

        /// Threads of all sessions together; 0, the default, for one per core.
        pub fn threads(mut self, threads: usize) -> Self {
            self.options.threads = threads;
            self
        }

        /// Whether threads spin while they wait for their next piece of a batch; they do by default.
        /// Without it a query takes up to twice as long, and other tasks on the same cores wait less.
        pub fn spinning(mut self, spinning: bool) -> Self {
            self.options.spinning = spinning;
            self
        }

        /// The most tokens in a batch, those that fill rows up included; by default 2048. Less needs
        /// less memory.
        pub fn batch_tokens(mut self, tokens: usize) -> Self {
            self.options.batch_tokens = tokens;
            self
        }
    };
}
pub(crate) use option_setters;
