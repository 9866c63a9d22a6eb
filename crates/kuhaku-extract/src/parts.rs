//! What an extractor is made of.

use std::sync::{Arc, OnceLock};

use kuhaku_core::{InjectionGuard, LlmProvider, Masker, PiiMasker, Runtime};

use crate::audit_file::Audit;
use crate::pipeline::Pipeline;
use crate::reply::ReplyLimits;
use crate::schema::{Coercion, Schema};
use crate::settings::{ExtractionSettings, SecuritySettings};

/// The parts of an extractor.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    pub(crate) schema: Schema,
    /// Never empty: the one to prefer, then the fallbacks in order.
    pub(crate) models: Vec<Arc<dyn LlmProvider>>,
    pub(crate) settings: ExtractionSettings,
    pub(crate) security: SecuritySettings,
    pub(crate) coercion: Coercion,
    pub(crate) pipeline: Pipeline,
    pub(crate) framing: String,
    pub(crate) runtime: Runtime,
    pub(crate) masking: Masking,
    pub(crate) guard: Guarding,
    pub(crate) audit: Audit,
    pub(crate) reply_limits: ReplyLimits,
}

/// A masker that is made when it is first needed: its patterns take a while.
#[derive(Clone, Debug, Default)]
pub(crate) struct Masking(Arc<OnceLock<Arc<dyn Masker>>>);

impl Masking {
    pub(crate) fn with(masker: Arc<dyn Masker>) -> Self {
        let cell = OnceLock::new();
        let _ = cell.set(masker);
        Self(Arc::new(cell))
    }

    pub(crate) fn get(&self) -> &dyn Masker {
        self.0.get_or_init(|| Arc::new(PiiMasker::new()))
    }
}

/// The same for the guard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guarding(Arc<OnceLock<InjectionGuard>>);

impl Guarding {
    pub(crate) fn get(&self) -> &InjectionGuard {
        self.0.get_or_init(InjectionGuard::new)
    }
}
