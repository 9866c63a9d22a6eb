//! What a caller asks for.

use kuhaku_core::{Scope, TraceId};
use kuhaku_index::Filter;

/// A question or a search, by somebody.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AskRequest {
    /// The question, as the person wrote it.
    pub question: String,
    /// What the caller may see. There is no default (R5).
    pub scope: Scope,
    /// How many chunks at most; the setting when absent.
    pub top_k: Option<usize>,
    /// Which chunks are eligible. Without a day, documents must hold today.
    pub filter: Filter,
    /// Whether documents that do not hold on the filter's day are eligible all the same.
    pub any_validity: bool,
    /// Who asks, for the audit; empty for nobody in particular. It gives no rights.
    pub identity: String,
    /// The id of the request; a fresh one when absent.
    pub trace_id: Option<TraceId>,
}

impl AskRequest {
    /// A question within a scope.
    pub fn new(question: impl Into<String>, scope: Scope) -> Self {
        Self {
            question: question.into(),
            scope,
            top_k: None,
            filter: Filter::none(),
            any_validity: false,
            identity: String::new(),
            trace_id: None,
        }
    }

    /// Sets how many chunks at most; 0 means the setting.
    #[must_use]
    pub fn top_k(mut self, top_k: usize) -> Self {
        self.top_k = (top_k > 0).then_some(top_k);
        self
    }

    /// Restricts what is eligible.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Makes documents eligible that are not yet, or no longer, in force.
    #[must_use]
    pub fn any_validity(mut self) -> Self {
        self.any_validity = true;
        self
    }

    /// Says who asks, for the audit.
    #[must_use]
    pub fn identity(mut self, identity: impl Into<String>) -> Self {
        self.identity = identity.into();
        self
    }

    /// Sets the id of the request.
    #[must_use]
    pub fn trace_id(mut self, id: TraceId) -> Self {
        self.trace_id = Some(id);
        self
    }
}
