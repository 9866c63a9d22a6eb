//! The whole pipeline as a target.

use async_trait::async_trait;
use kuhaku_core::Scope;
use kuhaku_eval::{Outcome, Sample, Target};
use kuhaku_rag::{AskRequest, Mode};

use crate::facade::Rag;
use crate::targets::names::{DocumentNames, distinct};

/// Asks, or only searches, as one caller.
#[derive(Clone, Debug)]
pub struct RagTarget {
    name: String,
    rag: Rag,
    scope: Scope,
    top_k: Option<usize>,
    names: DocumentNames,
    answers: bool,
}

impl RagTarget {
    /// Answers questions; what was retrieved, cited and abstained on is measured with them.
    pub fn answering(rag: Rag, scope: Scope) -> Self {
        let (top_k, names) = (None, DocumentNames::default());
        Self { name: "rag answer".into(), rag, scope, top_k, names, answers: true }
    }

    /// Searches without answering.
    pub fn searching(rag: Rag, scope: Scope) -> Self {
        let (top_k, names) = (None, DocumentNames::default());
        Self { name: "rag search".into(), rag, scope, top_k, names, answers: false }
    }

    /// How many chunks at most; the setting otherwise.
    #[must_use]
    pub fn top_k(mut self, top_k: usize) -> Self {
        self.top_k = Some(top_k);
        self.name = format!("{} top_k={top_k}", self.name);
        self
    }

    /// What the dataset calls the documents.
    #[must_use]
    pub fn names(mut self, names: DocumentNames) -> Self {
        self.names = names;
        self
    }

    fn named<'a>(&self, found: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
        distinct(found.map(|(id, source)| self.names.of(id, source)))
    }
}

#[async_trait]
impl Target for RagTarget {
    fn name(&self) -> &str {
        &self.name
    }

    async fn run(&self, sample: &Sample) -> Outcome {
        let mut request = AskRequest::new(sample.query.as_str(), self.scope.clone());
        if let Some(top_k) = self.top_k {
            request = request.top_k(top_k);
        }
        if !self.answers {
            return match self.rag.search(&request).await {
                Ok(found) => {
                    let hits = found.hits.iter().map(|hit| &hit.retrieved);
                    let hits = hits.map(|hit| (hit.chunk.document().as_str(), &*hit.source));
                    Outcome::retrieved(self.named(hits))
                }
                Err(error) => Outcome::failed(error.code()),
            };
        }
        let answer = match self.rag.ask_with(&request).await {
            Ok(answer) => answer,
            Err(error) => return Outcome::failed(error.code()),
        };
        let hits = answer.retrieved.iter().map(|hit| (hit.chunk.document().as_str(), &*hit.source));
        let mut outcome = Outcome::retrieved(self.named(hits));
        let cited = answer.citations.iter().map(|c| (c.chunk.document().as_str(), &*c.source));
        outcome.cited = Some(self.named(cited));
        outcome.abstained = Some(answer.abstained);
        outcome.text =
            matches!(answer.mode, Mode::Generated | Mode::Extractive).then_some(answer.text);
        outcome.usage = answer.usage.unwrap_or_default();
        outcome
    }
}
