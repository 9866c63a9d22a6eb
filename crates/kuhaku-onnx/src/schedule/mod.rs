//! Which rows go together, when, and on which thread.

mod job;
mod plan;
mod pool;

pub(crate) use plan::{Grouping, batches};
pub(crate) use pool::{Pool, Urgency};
