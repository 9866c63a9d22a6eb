//! An index under test as an engine of answers wants it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_core::Scope;
use kuhaku_index::{
    ApplyReport, Batch, ChunkIndex, ChunkReader, Fingerprint, IdKey, Maintenance, Result,
};

use crate::index::Subject;

/// The index of a subject, and the subject with it.
pub(super) struct Shared(Box<dyn Subject>);

impl Shared {
    pub(super) fn new(subject: Box<dyn Subject>) -> Self {
        Self(subject)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.index().fmt(f)
    }
}

#[async_trait]
impl ChunkIndex for Shared {
    async fn apply(&self, batch: Batch) -> Result<ApplyReport> {
        self.0.index().apply(batch).await
    }

    async fn reader(&self, scope: &Scope) -> Result<Arc<dyn ChunkReader>> {
        self.0.index().reader(scope).await
    }

    fn fingerprint(&self) -> Fingerprint {
        self.0.index().fingerprint()
    }

    fn id_key(&self) -> IdKey {
        self.0.index().id_key()
    }

    fn maintenance(&self) -> &dyn Maintenance {
        self.0.index().maintenance()
    }
}
