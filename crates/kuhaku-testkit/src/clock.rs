//! Parts of a runtime that do not change between runs.

use kuhaku_core::{Clock, Entropy, Result, Runtime, Timestamp};

/// A runtime whose clock stands still and whose "random" bytes repeat, so that two runs give the
/// same output to the last byte.
///
/// ```
/// let runtime = kuhaku_testkit::fixed_runtime("2026-03-01T12:00:00Z".parse()?);
/// assert_eq!(runtime.today().to_string(), "2026-03-01");
/// assert_eq!(runtime.trace_id()?, runtime.trace_id()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fixed_runtime(now: Timestamp) -> Runtime {
    Runtime::builder().clock(Stopped(now)).entropy(Repeating).build()
}

#[derive(Debug)]
struct Stopped(Timestamp);

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        self.0
    }
}

#[derive(Debug)]
struct Repeating;

impl Entropy for Repeating {
    fn fill(&self, buffer: &mut [u8]) -> Result<()> {
        buffer.fill(0x5a);
        Ok(())
    }
}
