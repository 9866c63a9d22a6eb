//! What can be measured.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_core::Usage;
use serde_json::Value;

use crate::case::Sample;

/// Anything that answers a query.
///
/// Samples may run at the same time and in any order, so a target keeps no state between them.
/// Dropping the future cancels the run (R12). The runner takes the time, not the target.
#[async_trait]
pub trait Target: Send + Sync + fmt::Debug {
    /// Names the target with its settings, for reports.
    fn name(&self) -> &str;

    /// Runs one sample. A failure is an outcome too: [`Outcome::failed`].
    async fn run(&self, sample: &Sample) -> Outcome;
}

/// What came of a sample. Absent means that the target does not give this, never that it is empty.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// Document or chunk ids, best first, in the naming of the dataset's grades.
    pub retrieved: Option<Vec<String>>,
    /// The answer.
    pub text: Option<String>,
    /// The ids that the answer cites.
    pub cited: Option<Vec<String>>,
    /// The extracted object.
    pub object: Option<Value>,
    /// Whether the target declined to answer.
    pub abstained: Option<bool>,
    /// Tokens used.
    pub usage: Usage,
    /// The stable code of the error that ended the run; other fields hold what there was by then.
    pub failed: Option<String>,
}

impl Outcome {
    /// Ids that were retrieved, best first.
    pub fn retrieved<T: Into<String>>(ids: impl IntoIterator<Item = T>) -> Self {
        Self::default().from_sources(ids)
    }

    /// An answer.
    pub fn answered(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), abstained: Some(false), ..Self::default() }
    }

    /// An extracted object.
    pub fn extracted(object: Value) -> Self {
        Self { object: Some(object), abstained: Some(false), ..Self::default() }
    }

    /// The target declined to answer.
    pub fn declined() -> Self {
        Self { abstained: Some(true), ..Self::default() }
    }

    /// Adds the ids that were retrieved, best first.
    #[must_use]
    pub fn from_sources<T: Into<String>>(mut self, ids: impl IntoIterator<Item = T>) -> Self {
        self.retrieved = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Adds the ids that the answer cites.
    #[must_use]
    pub fn citing<T: Into<String>>(mut self, ids: impl IntoIterator<Item = T>) -> Self {
        self.cited = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Adds the tokens used.
    #[must_use]
    pub fn using(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// A run that an error with this code ended.
    pub fn failed(code: impl Into<String>) -> Self {
        Self { failed: Some(code.into()), ..Self::default() }
    }
}

#[async_trait]
impl<T: Target + ?Sized> Target for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn run(&self, sample: &Sample) -> Outcome {
        (**self).run(sample).await
    }
}

#[async_trait]
impl<T: Target + ?Sized> Target for Box<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn run(&self, sample: &Sample) -> Outcome {
        (**self).run(sample).await
    }
}
