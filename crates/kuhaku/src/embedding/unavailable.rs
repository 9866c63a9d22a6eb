//! An embedder that cannot be had now, in the place of the one that an index was made with.

use async_trait::async_trait;
use kuhaku_core::{Embedder, Error, ErrorKind, Result};

/// Fails whenever it is asked, with the reason why the embedder cannot be had. So that the index can
/// be opened and searched by words, as when a service does not answer.
#[derive(Debug)]
pub(crate) struct Unavailable {
    fingerprint: String,
    wrong: String,
    next: Option<String>,
}

impl Unavailable {
    /// In the place of the embedder with this fingerprint.
    pub(crate) fn new(fingerprint: String, why: &crate::Error) -> Self {
        let wrong = format!("cannot {}: {}", why.tried(), why.wrong());
        Self { fingerprint, wrong, next: why.next_step().map(ToOwned::to_owned) }
    }

    fn error(&self) -> Error {
        let wrong = format!(
            "`{}`, of which the index's vectors are, cannot be had ({})",
            self.fingerprint, self.wrong
        );
        let error = Error::new(ErrorKind::CapabilityUnavailable, "make vectors", wrong);
        match &self.next {
            Some(next) => error.next(next.clone()),
            None => error,
        }
    }
}

#[async_trait]
impl Embedder for Unavailable {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    async fn embed_documents(&self, _texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        Err(self.error())
    }

    async fn embed_query(&self, _text: &str) -> Result<Vec<f32>> {
        Err(self.error())
    }
}
