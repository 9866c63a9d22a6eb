//! From files and texts into the index.

mod ingestor;
mod report;
mod tags;
mod text;

pub use ingestor::{IngestOptions, IngestProgress, Ingestor};
pub use report::{DocumentOutcome, DocumentReport, IngestReport, Note};
pub use tags::TagRule;
pub use text::TextDocument;
