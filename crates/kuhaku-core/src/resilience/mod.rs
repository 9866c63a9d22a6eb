//! Resilience for every external call: one layer, in one order (D33).
//!
//! ```text
//! deadline → breaker → retry → attempt timeout → metering → call
//! ```
//!
//! The order is built in; there is nothing to stack wrongly. The deadline is outermost, so no wait
//! between attempts outlives it. The breaker stands outside of the retries, so one call is one
//! failure, however often it was tried, and an open circuit is not retried. The attempt timeout is
//! within the retries, so that a slow attempt can be followed by another. Metering is innermost: it
//! sees every attempt, since every attempt is paid for.
//!
//! - [`Resilience`] makes any call: `resilience.call(endpoint, deadline, |attempt| …)`.
//! - [`Resilient`] makes each call of a model through it.
//! - [`Fallback`] asks one model after the other.
//!
//! Right: `Fallback` over models that are each `Resilient`. Wrong: `Resilient` over a `Fallback`,
//! whose endpoint would be several; since such a `Fallback` is resilient already, it passes through.

mod backoff;
mod breaker;
mod fallback;
mod metering;
mod models;
mod policy;
mod resilient;
mod stream;

pub use breaker::BreakerPolicy;
pub(crate) use breaker::Breakers;
pub use fallback::Fallback;
pub use policy::Resilience;
pub use resilient::Resilient;
