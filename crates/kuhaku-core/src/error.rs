//! The error pattern that every crate shares: kind, status, what was tried, what is wrong, one next
//! step (R14).

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use crate::llm::Usage;

/// Whether doing the same again may help. The retry layer reads this and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The same call fails again until something is changed.
    Permanent,
    /// The same call may succeed later.
    Temporary,
    /// Was temporary, was retried, and still fails.
    Persistent,
}

/// What kinds of failure a crate knows. Implemented by each crate's `ErrorKind`.
pub trait Kind: fmt::Debug + Clone + Send + Sync + 'static {
    /// A stable identifier in `snake_case`, prefixed by the crate's short name (`index.locked`).
    /// Codes never change meaning; programs may match on them.
    fn code(&self) -> &'static str;

    /// The status that failures of this kind have unless one is set.
    fn status(&self) -> Status {
        Status::Permanent
    }

    /// Whether failures of this kind mean that a service is down: unreachable, silent or broken.
    /// Circuit breakers count these, and only while they are not permanent.
    fn is_outage(&self) -> bool {
        false
    }
}

type Source = Box<dyn StdError + Send + Sync + 'static>;

/// A failure of kind `K`. Each crate names its own: `type Error = Failure<ErrorKind>`.
///
/// The parts hold no raw content (R7): codes, counts, ids, and excerpts that are masked and capped.
///
/// ```
/// use kuhaku_core::{Failure, Kind};
///
/// #[derive(Clone, Debug)]
/// enum ErrorKind {
///     Locked,
/// }
/// impl Kind for ErrorKind {
///     fn code(&self) -> &'static str {
///         "store.locked"
///     }
/// }
/// let error = Failure::new(ErrorKind::Locked, "open the store", "another process writes to it")
///     .next("wait for it to end, or stop it");
/// assert_eq!(error.code(), "store.locked");
/// assert_eq!(
///     error.to_string(),
///     "cannot open the store: another process writes to it; next: wait for it to end, or stop it",
/// );
/// ```
pub struct Failure<K> {
    kind: K,
    status: Status,
    tried: Cow<'static, str>,
    wrong: Cow<'static, str>,
    next: Option<Cow<'static, str>>,
    source: Option<Source>,
    details: Option<Box<Details>>,
}

/// What few failures have.
#[derive(Clone, Copy, Debug, Default)]
struct Details {
    retry_after: Option<Duration>,
    usage: Usage,
    no_outage: bool,
}

impl<K: Kind> Failure<K> {
    /// A failure: `tried` completes the sentence "cannot …", `wrong` says why.
    pub fn new(
        kind: K,
        tried: impl Into<Cow<'static, str>>,
        wrong: impl Into<Cow<'static, str>>,
    ) -> Self {
        let status = kind.status();
        let (tried, wrong) = (tried.into(), wrong.into());
        Self { kind, status, tried, wrong, next: None, source: None, details: None }
    }

    /// Adds the one step that the reader should take next.
    #[must_use]
    pub fn next(mut self, step: impl Into<Cow<'static, str>>) -> Self {
        self.next = Some(step.into());
        self
    }

    /// Adds the underlying error, for the source chain.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Source>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Overrides the status that the kind implies.
    #[must_use]
    pub fn with_status(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    /// Adds how long the service asks callers to wait before the next attempt.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.details().retry_after = Some(wait);
        self
    }

    /// Adds what the failed call used all the same.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.details().usage = usage;
        self
    }

    /// Says that this failure tells nothing of the state of the service, whatever its kind implies.
    #[must_use]
    pub fn not_an_outage(mut self) -> Self {
        self.details().no_outage = true;
        self
    }

    fn details(&mut self) -> &mut Details {
        self.details.get_or_insert_default()
    }

    /// The kind, to match on.
    pub fn kind(&self) -> &K {
        &self.kind
    }

    /// The stable code of the kind.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Whether doing the same again may help.
    pub fn status(&self) -> Status {
        self.status
    }

    /// How long the service asks callers to wait before the next attempt, if it does.
    pub fn retry_after(&self) -> Option<Duration> {
        self.details.as_ref().and_then(|details| details.retry_after)
    }

    /// What the failed call used, as far as the service said.
    pub fn usage(&self) -> Usage {
        self.details.as_ref().map(|details| details.usage).unwrap_or_default()
    }

    /// Whether this failure means that the service is down. Circuit breakers read this and nothing
    /// else.
    pub fn is_outage(&self) -> bool {
        let denied = self.details.as_ref().is_some_and(|details| details.no_outage);
        self.kind.is_outage() && self.status != Status::Permanent && !denied
    }

    /// What was tried; completes "cannot …".
    pub fn tried(&self) -> &str {
        &self.tried
    }

    /// What is wrong.
    pub fn wrong(&self) -> &str {
        &self.wrong
    }

    /// The one next step, if there is one.
    pub fn next_step(&self) -> Option<&str> {
        self.next.as_deref()
    }

    /// The same failure under another crate's kind; text, status and source are kept.
    pub fn map_kind<L: Kind>(self, map: impl FnOnce(K) -> L) -> Failure<L> {
        Failure {
            kind: map(self.kind),
            status: self.status,
            tried: self.tried,
            wrong: self.wrong,
            next: self.next,
            source: self.source,
            details: self.details,
        }
    }
}

impl<K: fmt::Debug> fmt::Debug for Failure<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure")
            .field("kind", &self.kind)
            .field("status", &self.status)
            .field("tried", &self.tried)
            .field("wrong", &self.wrong)
            .field("next", &self.next)
            .field("source", &self.source)
            .field("details", &self.details)
            .finish()
    }
}

impl<K> fmt::Display for Failure<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}", self.tried, self.wrong)?;
        match &self.next {
            Some(step) => write!(f, "; next: {step}"),
            None => Ok(()),
        }
    }
}

impl<K: fmt::Debug> StdError for Failure<K> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

/// What can go wrong in this crate and behind its contracts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value given by the caller breaks a documented rule.
    InvalidInput,
    /// One or more settings are wrong; the message lists all of them.
    InvalidSettings,
    /// A settings or dotenv file could not be read or parsed.
    SettingsFile,
    /// The operating system gave no random bytes.
    Entropy,
    /// A model or service could not be reached, or failed on its side.
    Unavailable,
    /// A model or service asked to slow down.
    RateLimited,
    /// Credentials are missing or were refused.
    Unauthorized,
    /// A time limit ended the call.
    TimedOut,
    /// The caller gave up.
    Cancelled,
    /// The input is longer than the model takes.
    ContextTooLong,
    /// The model declined to answer.
    Refused,
    /// The model answered with nothing.
    EmptyResponse,
    /// The reply does not have the documented shape.
    MalformedResponse,
    /// The reply is larger than the caller takes.
    ResponseTooLarge,
    /// The service sent the caller elsewhere, and that was not followed.
    Redirected,
    /// The circuit breaker of the endpoint is open; the service was not called.
    CircuitOpen,
    /// Nothing that could do the work is ready to be used.
    CapabilityUnavailable,
    /// A step needs a yes that was not given.
    ConsentRequired,
    /// What was downloaded is not what was expected.
    ChecksumMismatch,
    /// The disk refused to read or write.
    Storage,
}

impl Kind for ErrorKind {
    fn code(&self) -> &'static str {
        match self {
            Self::InvalidInput => "core.invalid_input",
            Self::InvalidSettings => "core.invalid_settings",
            Self::SettingsFile => "core.settings_file",
            Self::Entropy => "core.entropy",
            Self::Unavailable => "core.unavailable",
            Self::RateLimited => "core.rate_limited",
            Self::Unauthorized => "core.unauthorized",
            Self::TimedOut => "core.timed_out",
            Self::Cancelled => "core.cancelled",
            Self::ContextTooLong => "core.context_too_long",
            Self::Refused => "core.refused",
            Self::EmptyResponse => "core.empty_response",
            Self::MalformedResponse => "core.malformed_response",
            Self::ResponseTooLarge => "core.response_too_large",
            Self::Redirected => "core.redirected",
            Self::CircuitOpen => "core.circuit_open",
            Self::CapabilityUnavailable => "core.capability_unavailable",
            Self::ConsentRequired => "core.consent_required",
            Self::ChecksumMismatch => "core.checksum_mismatch",
            Self::Storage => "core.storage",
        }
    }

    fn status(&self) -> Status {
        match self {
            Self::Unavailable | Self::RateLimited | Self::TimedOut => Status::Temporary,
            _ => Status::Permanent,
        }
    }

    fn is_outage(&self) -> bool {
        matches!(self, Self::Unavailable | Self::TimedOut)
    }
}

/// The error of this crate and of the contracts it defines.
pub type Error = Failure<ErrorKind>;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
