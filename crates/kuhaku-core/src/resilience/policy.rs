//! The layer itself: deadline, breaker, retries, attempt timeout, metering.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::backoff::Backoff;
use super::breaker::{BreakerPolicy, Permit};
use super::metering::Attempt;
use crate::error::{Error, ErrorKind, Failure, Kind, Status};
use crate::llm::Usage;
use crate::runtime::Runtime;

/// How calls of a kind of service are made. Cheap to clone.
///
/// Unless set otherwise: three attempts; waits of up to 1 s, 2 s, 4 s and so on to 10 s, with full
/// jitter; no attempt timeout; no wait of more than a minute; a breaker with its defaults.
///
/// What is tried again is what failed with [`Status::Temporary`]; nothing else is read. A wait that
/// the failure asks for is kept. When it would outlast the deadline or the longest wait, the call
/// fails at once and says so. Dropping the future ends the call, and no breaker counts it.
///
/// The calls must be safe to repeat: an attempt that timed out may have been carried out.
///
/// ```
/// use kuhaku_core::{Resilience, Runtime};
/// # async fn get(_: u32) -> kuhaku_core::Result<u8> { Ok(7) }
/// # async fn call() -> kuhaku_core::Result<()> {
/// let resilience = Resilience::new(Runtime::system(), "jwks").attempts(5);
/// let keys = resilience.call("https://issuer.example", None, |attempt| get(attempt)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Resilience {
    runtime: Runtime,
    service: &'static str,
    attempts: u32,
    backoff: Backoff,
    longest_wait: Duration,
    attempt_timeout: Option<Duration>,
    breaker: Option<BreakerPolicy>,
}

/// What a call gave, and what its failed attempts cost.
#[derive(Debug)]
pub(super) struct Done<T> {
    pub(super) value: T,
    pub(super) wasted: Usage,
    /// What the value still has to tell the breaker.
    pub(super) permit: Option<Permit>,
}

impl Resilience {
    /// Calls of a kind of service; `service` labels metrics: `llm`, `embedding`, `reranker`,
    /// `vectorstore` and so on. Calls through one runtime share the breakers of its endpoints.
    pub fn new(runtime: Runtime, service: &'static str) -> Self {
        Self {
            runtime,
            service,
            attempts: 3,
            backoff: Backoff {
                base: Duration::from_secs(1),
                longest: Duration::from_secs(10),
                jitter: true,
            },
            longest_wait: Duration::from_secs(60),
            attempt_timeout: None,
            breaker: Some(BreakerPolicy::default()),
        }
    }

    /// How often a call is tried, the first time included; 0 counts as 1.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// The bound on the first wait, which doubles from wait to wait, and the bound on all.
    pub fn backoff(mut self, base: Duration, longest: Duration) -> Self {
        self.backoff = Backoff { base, longest, ..self.backoff };
        self
    }

    /// Waits for the whole of each bound. Callers that failed together then return together, so
    /// this is for tests.
    pub fn without_jitter(mut self) -> Self {
        self.backoff.jitter = false;
        self
    }

    /// The longest wait that a service may ask for; when it asks for more, the call fails at once.
    pub fn longest_wait(mut self, longest: Duration) -> Self {
        self.longest_wait = longest;
        self
    }

    /// Limits each attempt; for a stream, the time until its first event.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = Some(timeout);
        self
    }

    /// Sets when the circuit of an endpoint opens and closes.
    pub fn breaker(mut self, policy: BreakerPolicy) -> Self {
        self.breaker = Some(policy);
        self
    }

    /// Calls the service whatever its state.
    pub fn without_breaker(mut self) -> Self {
        self.breaker = None;
        self
    }

    pub(super) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Makes a call. `attempt` is called for each attempt with its number, from 1. `endpoint` names
    /// the service in errors and selects the breaker; it holds no secret.
    ///
    /// # Errors
    /// The failure of the last attempt, [`Status::Persistent`] if it was tried more than once;
    /// [`ErrorKind::CircuitOpen`] without an attempt; [`ErrorKind::TimedOut`] at the deadline.
    pub async fn call<T, K, F, A>(
        &self,
        endpoint: &str,
        deadline: Option<std::time::Instant>,
        attempt: F,
    ) -> Result<T, Failure<K>>
    where
        K: Kind + From<ErrorKind>,
        F: FnMut(u32) -> A,
        A: Future<Output = Result<T, Failure<K>>>,
    {
        let done = self.run(endpoint, deadline, attempt).await?;
        if let Some(permit) = done.permit {
            permit.succeeded();
        }
        Ok(done.value)
    }

    /// The same for a value that goes on after it was made.
    pub(super) async fn run<T, K, F, A>(
        &self,
        endpoint: &str,
        deadline: Option<std::time::Instant>,
        attempt: F,
    ) -> Result<Done<T>, Failure<K>>
    where
        K: Kind + From<ErrorKind>,
        F: FnMut(u32) -> A,
        A: Future<Output = Result<T, Failure<K>>>,
    {
        let deadline = deadline.map(Instant::from_std);
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(past_deadline(endpoint).map_kind(K::from));
        }
        let permit = match self.breaker {
            Some(policy) => {
                let admitted = self.runtime.breakers().of(endpoint).admit(policy, Instant::now());
                Some(admitted.map_err(|wait| circuit_open(endpoint, wait).map_kind(K::from))?)
            }
            None => None,
        };
        match self.retried(endpoint, deadline, attempt).await {
            Ok((value, wasted)) => Ok(Done { value, wasted, permit }),
            Err(error) => {
                if let Some(permit) = permit.filter(|_| error.is_outage()) {
                    permit.failed(Instant::now());
                }
                Err(error)
            }
        }
    }

    async fn retried<T, K, F, A>(
        &self,
        endpoint: &str,
        deadline: Option<Instant>,
        mut attempt: F,
    ) -> Result<(T, Usage), Failure<K>>
    where
        K: Kind + From<ErrorKind>,
        F: FnMut(u32) -> A,
        A: Future<Output = Result<T, Failure<K>>>,
    {
        let mut wasted = Usage::default();
        let mut number = 1;
        loop {
            let error = match self.limited(endpoint, deadline, attempt(number)).await {
                Ok(value) => {
                    if number > 1 {
                        self.runtime.count("kuhaku_retry_successes_total", self.service, 1);
                    }
                    return Ok((value, wasted));
                }
                Err(error) => error,
            };
            wasted = wasted.plus(error.usage());
            let given_up = |error: Failure<K>| {
                if number > 1 {
                    self.runtime.count("kuhaku_retry_failures_total", self.service, 1);
                }
                if wasted == error.usage() { error } else { error.with_usage(wasted) }
            };
            let over = deadline.is_some_and(|deadline| deadline <= Instant::now());
            if over || error.status() != Status::Temporary {
                return Err(given_up(error));
            }
            if number >= self.attempts {
                let status = if number > 1 { Status::Persistent } else { Status::Temporary };
                return Err(given_up(error.with_status(status)));
            }
            let asked = error.retry_after();
            let wait = self.backoff.wait(number, asked, self.draw());
            if asked.is_some_and(|asked| asked > self.longest_wait) {
                let next = format!("try again in {wait:.1?}, for which this call does not wait");
                return Err(given_up(error.next(next)));
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if let Some(left) = left.filter(|left| *left <= wait) {
                let next = format!(
                    "give the call more time: the next attempt would come in {wait:.1?}, the \
                     deadline is in {left:.1?}"
                );
                return Err(given_up(error.next(next)));
            }
            self.runtime.count("kuhaku_retry_attempts_total", self.service, 1);
            tracing::debug!(
                service = self.service,
                attempt = number,
                code = error.code(),
                wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                "will try again"
            );
            drop(error);
            sleep(wait).await;
            number = number.saturating_add(1);
        }
    }

    /// One attempt: limited, and measured within the limit. One timer does for attempt and deadline,
    /// since no wait between attempts is begun that outlasts the deadline.
    async fn limited<T, K: Kind + From<ErrorKind>>(
        &self,
        endpoint: &str,
        deadline: Option<Instant>,
        attempt: impl Future<Output = Result<T, Failure<K>>>,
    ) -> Result<T, Failure<K>> {
        let metered = async {
            let meter = Attempt::begin(&self.runtime, self.service);
            let outcome = attempt.await;
            meter.ended(outcome.as_ref().err().map_or("ok", Failure::code));
            outcome
        };
        let of_attempt = self.attempt_timeout.map(|limit| (Instant::now() + limit, limit));
        let (end, late) = match (deadline, of_attempt) {
            (None, None) => return metered.await,
            (Some(deadline), None) => (deadline, None),
            (None, Some((end, limit))) => (end, Some(limit)),
            (Some(deadline), Some((end, _))) if deadline <= end => (deadline, None),
            (Some(_), Some((end, limit))) => (end, Some(limit)),
        };
        timeout_at(end, metered).await.unwrap_or_else(|_| {
            let error = match late {
                Some(limit) => past_attempt(endpoint, limit),
                None => past_deadline(endpoint),
            };
            Err(error.map_kind(K::from))
        })
    }

    /// Without random bytes the wait is the longest, which is never wrong.
    fn draw(&self) -> u64 {
        self.runtime.random().map_or(u64::MAX, u64::from_le_bytes)
    }
}

/// The total time is over. This tells of the caller's patience, not of the service.
pub(super) fn past_deadline(endpoint: &str) -> Error {
    let wrong = "its deadline passed before there was a whole reply";
    Error::new(ErrorKind::TimedOut, format!("call {endpoint}"), wrong)
        .next("give the call more time, or ask for less")
        .not_an_outage()
}

fn past_attempt(endpoint: &str, limit: Duration) -> Error {
    let wrong = format!("an attempt took longer than {limit:?}");
    Error::new(ErrorKind::TimedOut, format!("call {endpoint}"), wrong)
        .next("raise the timeout of an attempt, or ask for less")
}

fn circuit_open(endpoint: &str, wait: Duration) -> Error {
    let wrong = if wait.is_zero() {
        "its circuit is half-open, and another call is finding out whether it is up".to_owned()
    } else {
        format!("its circuit is open for another {wait:.1?}, since it was down again and again")
    };
    Error::new(ErrorKind::CircuitOpen, format!("call {endpoint}"), wrong)
        .next("check that the service is up, and try again later")
        .with_retry_after(wait)
}
