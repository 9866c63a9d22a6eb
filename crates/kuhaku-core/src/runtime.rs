//! The handle that carries what other designs keep in globals: clock, random bytes, metrics,
//! announcements (D31, R11).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use jiff::civil::Date;

use crate::error::{Error, ErrorKind, Result};
use crate::ids::TraceId;

/// Tells the time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The current instant.
    fn now(&self) -> Timestamp;
}

/// Gives random bytes that nobody can guess.
pub trait Entropy: Send + Sync + fmt::Debug {
    /// Fills the buffer.
    ///
    /// # Errors
    /// [`ErrorKind::Entropy`] when the source fails; predictable bytes are never given instead.
    fn fill(&self, buffer: &mut [u8]) -> Result<()>;
}

/// Receives counters and durations. The default drops them.
pub trait MetricsSink: Send + Sync + fmt::Debug {
    /// Adds to a counter. Label values come from fixed vocabularies, never from content (R7).
    fn count(&self, name: &'static str, label: &str, by: u64);

    /// Adds a measurement to a histogram: a duration in seconds, a number of tokens. Label values
    /// come from fixed vocabularies and settings, never from content (R7).
    fn record(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64) {
        let _ = (name, labels, value);
    }
}

/// Receives what a person should hear once, for example that a better mode is not available.
/// The default drops it; the `kuhaku` command prints it.
pub trait Announcer: Send + Sync + fmt::Debug {
    /// Takes one announcement.
    fn announce(&self, announcement: &Announcement);
}

/// Something a person should know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Announcement {
    /// Equal keys are announced once per [`Runtime`].
    pub key: String,
    /// One sentence, without a trailing newline.
    pub text: String,
    /// Whether it should stand out: something was decided that a person may want otherwise.
    pub prominent: bool,
}

impl Announcement {
    /// An announcement under a key.
    pub fn new(key: impl Into<String>, text: impl Into<String>) -> Self {
        Self { key: key.into(), text: text.into(), prominent: false }
    }

    /// Makes it stand out.
    #[must_use]
    pub fn prominent(mut self) -> Self {
        self.prominent = true;
        self
    }
}

#[derive(Debug)]
struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

#[derive(Debug)]
struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, buffer: &mut [u8]) -> Result<()> {
        getrandom::fill(buffer).map_err(|source| {
            Error::new(ErrorKind::Entropy, "draw random bytes", "the operating system gave none")
                .next("check that the system's random source is available in this environment")
                .caused_by(source)
        })
    }
}

#[derive(Debug)]
struct Silent;

impl MetricsSink for Silent {
    fn count(&self, _name: &'static str, _label: &str, _by: u64) {}
}

impl Announcer for Silent {
    fn announce(&self, _announcement: &Announcement) {}
}

#[derive(Debug)]
struct Parts {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    metrics: Arc<dyn MetricsSink>,
    announcer: Arc<dyn Announcer>,
    announced: Mutex<BTreeSet<String>>,
    #[cfg(feature = "http")]
    breakers: crate::resilience::Breakers,
}

/// What the parts of one application share. Cheap to clone; clones are the same handle.
///
/// ```
/// use kuhaku_core::Runtime;
/// let runtime = Runtime::system();
/// assert_eq!(runtime.trace_id()?.as_str().len(), 12);
/// # Ok::<(), kuhaku_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Runtime(Arc<Parts>);

impl Runtime {
    /// The system's clock and random bytes; metrics and announcements are dropped.
    pub fn system() -> Self {
        Self::builder().build()
    }

    /// Starts from [`Runtime::system`] and replaces parts.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder {
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            metrics: Arc::new(Silent),
            announcer: Arc::new(Silent),
        }
    }

    /// The current instant.
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// The current date in UTC.
    pub fn today(&self) -> Date {
        self.now().to_zoned(jiff::tz::TimeZone::UTC).date()
    }

    /// `N` bytes that nobody can guess.
    ///
    /// # Errors
    /// [`ErrorKind::Entropy`] when the source fails.
    pub fn random<const N: usize>(&self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.0.entropy.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// A fresh trace id.
    ///
    /// # Errors
    /// [`ErrorKind::Entropy`] when the source of random bytes fails.
    pub fn trace_id(&self) -> Result<TraceId> {
        Ok(TraceId::from_bytes(self.random()?))
    }

    /// Adds to a counter of the metrics sink.
    pub fn count(&self, name: &'static str, label: &str, by: u64) {
        self.0.metrics.count(name, label, by);
    }

    /// Adds a measurement to a histogram of the metrics sink.
    pub fn record(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64) {
        self.0.metrics.record(name, labels, value);
    }

    /// The circuit breakers, which everything with this handle shares.
    #[cfg(feature = "http")]
    pub(crate) fn breakers(&self) -> &crate::resilience::Breakers {
        &self.0.breakers
    }

    /// Announces something unless its key was announced through this handle before.
    pub fn announce(&self, announcement: &Announcement) {
        let fresh = {
            let mut announced = self.0.announced.lock().unwrap_or_else(PoisonError::into_inner);
            announced.insert(announcement.key.clone())
        };
        if fresh {
            self.0.announcer.announce(announcement);
        }
    }
}

/// Makes a [`Runtime`] of chosen parts.
#[derive(Clone, Debug)]
#[must_use]
pub struct RuntimeBuilder {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    metrics: Arc<dyn MetricsSink>,
    announcer: Arc<dyn Announcer>,
}

impl RuntimeBuilder {
    /// Uses another clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Uses another source of random bytes. It must be unpredictable outside tests: fences,
    /// canaries and id keys are drawn from it.
    pub fn entropy(mut self, entropy: impl Entropy + 'static) -> Self {
        self.entropy = Arc::new(entropy);
        self
    }

    /// Sends counters somewhere.
    pub fn metrics(mut self, metrics: impl MetricsSink + 'static) -> Self {
        self.metrics = Arc::new(metrics);
        self
    }

    /// Hears announcements.
    pub fn announcer(mut self, announcer: impl Announcer + 'static) -> Self {
        self.announcer = Arc::new(announcer);
        self
    }

    /// The finished handle.
    pub fn build(self) -> Runtime {
        let Self { clock, entropy, metrics, announcer } = self;
        Runtime(Arc::new(Parts {
            clock,
            entropy,
            metrics,
            announcer,
            announced: Mutex::default(),
            #[cfg(feature = "http")]
            breakers: crate::resilience::Breakers::default(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Clone)]
    struct Heard(Arc<Mutex<Vec<String>>>);

    impl Announcer for Heard {
        fn announce(&self, announcement: &Announcement) {
            self.0.lock().unwrap().push(announcement.text.clone());
        }
    }

    /// RES-01: the part about announcements.
    #[test]
    fn an_announcement_is_made_once_per_handle() {
        let heard = Heard::default();
        let runtime = Runtime::builder().announcer(heard.clone()).build();
        for _ in 0..3 {
            runtime.clone().announce(&Announcement::new("mode", "keyword search only"));
        }
        assert_eq!(*heard.0.lock().unwrap(), ["keyword search only"]);
    }
}
