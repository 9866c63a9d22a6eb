//! The tools without `async`: handles that own a runtime of their own (D31).
//!
//! Not for use inside an async runtime: calls would block its threads, and the runtime panics when
//! that is tried.

#[cfg(feature = "extract")]
mod extractor;
#[cfg(feature = "rag")]
mod rag;

use kuhaku_core::Failure;
use tokio::runtime::{Builder, Runtime};

#[cfg(feature = "extract")]
pub use self::extractor::{ExtractionEvents, Extractor};
#[cfg(feature = "rag")]
pub use self::rag::{AnswerEvents, Rag};
use crate::error::{ErrorKind, Result};

/// A runtime for one handle and its clones.
fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().map_err(|source| {
        Failure::new(ErrorKind::System, "start a runtime", "the operating system refused")
            .next("check how many threads and files this process may open")
            .caused_by(source)
            .into()
    })
}
