//! From files and texts into the index.

mod ingestor;
mod options;
mod reading;
mod remask;
mod report;
mod sync;
mod tags;
mod text;

pub use ingestor::Ingestor;
pub use options::{IngestOptions, IngestProgress};
pub use remask::RemaskReport;
pub use report::{DocumentOutcome, DocumentReport, IngestReport, Note};
pub use tags::TagRule;
pub use text::TextDocument;
