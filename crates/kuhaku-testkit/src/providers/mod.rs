//! The suite that every [`LlmProvider`](kuhaku_core::LlmProvider) must pass.
//!
//! Implement [`ProviderCase`] for a provider: how it is made, what it must send, and how its
//! service words each kind of reply. [`conformance`] serves those replies, whole and broken, from
//! a [`TranscriptServer`](crate::transcript::TranscriptServer), and says what the provider made of
//! them:
//!
//! ```no_run
//! # use kuhaku_testkit::providers::{ProviderCase, conformance};
//! # async fn suite(case: &dyn ProviderCase) {
//! conformance(case).await.assert_conforms();
//! # }
//! ```
//!
//! It needs a runtime of tokio with time and I/O, and takes some seconds: waits that a service asks
//! for are kept in real time. Several [`Report`]s make a table with [`capability_table`].
//!
//! What holds in every case, whatever it is about: neither the key nor a text of the request or of
//! the reply is in an error, in the provider's `Debug`, or in a log line or span; every error has a
//! next step; nothing follows the end or the failure of a stream; and the case ends.

mod answers;
mod case;
mod endings;
mod failures;
mod hostile;
mod leaks;
mod logs;
mod report;
mod requests;
mod retries;
mod statuses;
mod streamed;
mod suite;
mod timing;
mod trial;

pub use case::{Endpoint, ExpectedRequest, ProviderCase};
pub use logs::Logs;
pub use report::{CaseReport, Outcome, Report, capability_table};
pub use suite::{case_names, conformance, conformance_of};
