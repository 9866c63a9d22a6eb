//! Running targets, and the files that runs are kept in.

mod evaluation;
mod file;
mod record;

pub use evaluation::{Evaluation, Progress};
pub use record::{RUN_VERSION, Row, Run, RunHeader};
