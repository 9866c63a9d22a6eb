//! Suites for every `ChunkIndex`: conformance to the contract, and non-interference (R4).
//!
//! Implement [`IndexFactory`] for an engine, run [`conformance`] and [`non_interference`] in a test,
//! and assert that they return `Ok`. The suite of R4 is shown to be able to fail by running it on
//! [`MemoryFactory::broken`] with every [`Fault`] (D5).

mod conformance;
mod history;
mod non_interference;
mod observation;
mod vectors;

use std::fmt;

use async_trait::async_trait;
use kuhaku_index::{ChunkIndex, Error, Fault, Fingerprint, IdKey, MemoryIndex};

pub use crate::scale::Scale;
pub use conformance::conformance;
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

impl From<Error> for Violation {
    fn from(error: Error) -> Self {
        Self { check: "the engine failed".into(), seen: error.to_string() }
    }
}

/// Makes [`MemoryIndex`]es, whole or broken.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryFactory {
    fault: Option<Fault>,
}

impl MemoryFactory {
    /// Whole ones.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ones with a fault.
    pub fn broken(fault: Fault) -> Self {
        Self { fault: Some(fault) }
    }
}

#[async_trait]
impl IndexFactory for MemoryFactory {
    async fn make(&self, fingerprint: Fingerprint, key: IdKey) -> Result<Box<dyn Subject>, Error> {
        Ok(Box::new(match self.fault {
            Some(fault) => MemoryIndex::with_fault(fingerprint, key, fault),
            None => MemoryIndex::new(fingerprint, key),
        }))
    }
}

#[async_trait]
impl Subject for MemoryIndex {
    fn index(&self) -> &dyn ChunkIndex {
        self
    }

    async fn reopen(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
