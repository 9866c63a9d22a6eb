//! Suites for every `ChunkIndex`: conformance to the contract, and non-interference (R4).
//!
//! Implement [`IndexFactory`] for an engine, run [`conformance`] and [`non_interference`] in a test,
//! and assert that they return `Ok`. The suite of R4 is shown to be able to fail by running it on
//! [`MemoryFactory::broken`] with every [`Fault`](kuhaku_index::Fault) (D5).

mod conformance;
mod engines;
mod history;
mod non_interference;
mod observation;
mod vectors;

use std::fmt;

use async_trait::async_trait;
use kuhaku_core::Failure;
use kuhaku_index::{ChunkIndex, Error, Fingerprint, IdKey};

pub use crate::scale::Scale;
pub use conformance::conformance;
#[cfg(feature = "sqlite")]
pub use engines::SqliteFactory;
pub use engines::{GraphsFactory, MemoryFactory};
pub use non_interference::{NonInterference, Proof, non_interference};

/// An index under test, with whatever keeps it alive.
#[async_trait]
pub trait Subject: Send + Sync {
    /// The index. Each step of a history asks for it, so several handles on one index can take
    /// turns.
    fn index(&self) -> &dyn ChunkIndex;

    /// Every handle on the index: what is read must be the same through each.
    fn handles(&self) -> Vec<&dyn ChunkIndex> {
        vec![self.index()]
    }

    /// Closes the index and opens it again. Engines without persistence do nothing.
    async fn reopen(&mut self) -> Result<(), Error>;
}

/// Makes empty indexes of one engine.
#[async_trait]
pub trait IndexFactory: Send + Sync {
    /// An empty index with this fingerprint and id key.
    async fn make(&self, fingerprint: Fingerprint, key: IdKey) -> Result<Box<dyn Subject>, Error>;
}

/// What an engine does that the contract forbids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The check that found it.
    pub check: String,
    /// What was seen.
    pub seen: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.seen)
    }
}

impl std::error::Error for Violation {}

impl<K> From<Failure<K>> for Violation {
    fn from(error: Failure<K>) -> Self {
        Self { check: "the engine failed".into(), seen: error.to_string() }
    }
}
