//! Where cases come from.

mod bad_line;
mod beir;
mod csv;
mod csv_record;
mod dataset;
mod golden;
mod lines;
mod trec;

pub use bad_line::BadLine;
pub use beir::{BeirCorpus, BeirDocument, BeirFolder};
pub use dataset::Dataset;
pub use golden::Loaded;
pub use trec::{Qrels, TrecRun, read_qrels};
