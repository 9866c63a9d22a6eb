//! Which model is used when the settings leave it open: candidates, consent, and memory of choices.

mod alarm;
mod candidate;
mod consent;
mod decide;
mod memory;
mod probe;
mod resolver;
mod verdict;

pub use candidate::{Candidate, CandidateSource, Capability, ConsentStep, Readiness};
pub use consent::{Consent, NobodyToAsk, may_ask};
pub use memory::DecisionMemory;
pub use resolver::Resolver;
pub use verdict::{Reason, Resolution};
