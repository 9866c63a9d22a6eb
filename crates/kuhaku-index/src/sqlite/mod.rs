//! The durable engine: one SQLite file.

mod options;

pub use options::{FingerprintParts, OpenOptions};
