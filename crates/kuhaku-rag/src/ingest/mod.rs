//! From files and texts into the index.

mod embedded;
mod embedding;
mod ingestor;
mod options;
mod reading;
mod reembed;
mod remask;
mod report;
mod storing;
mod sync;
mod tags;
mod text;

pub(crate) use embedded::embedded_text;
pub use ingestor::Ingestor;
pub use options::{IngestOptions, IngestProgress};
pub use reembed::{ReembedReport, Refused};
pub use remask::RemaskReport;
pub use report::{DocumentOutcome, DocumentReport, IngestReport, Note};
pub use tags::TagRule;
pub use text::TextDocument;
