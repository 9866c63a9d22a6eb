//! Holding back chunks that look like injections.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_core::{ChunkId, Probability, TextClassifier};

use crate::error::{Adopt as _, Error, ErrorKind, Result, invalid_input};
use crate::retrieve::{Hit, Retrieval, RetrievalRequest, Retriever, passage};

/// The labels of classifiers that mean an attack, in lower case.
const ATTACKS: [&str; 4] = ["injection", "malicious", "jailbreak", "label_1"];

/// Leaves out what looks like an injection to a classifier. The next best chunks take the places, from
/// as deep as it takes.
///
/// Fails when the classifier does: what was not judged is not given.
#[derive(Clone, Debug)]
pub struct GuardedRetriever {
    base: Arc<dyn Retriever>,
    classifier: Arc<dyn TextClassifier>,
    attacks: Vec<usize>,
    threshold: f64,
}

impl GuardedRetriever {
    /// Holds back from a probability of 0.5 on: that of the labels `INJECTION`, `MALICIOUS`,
    /// `JAILBREAK` and `LABEL_1` together, in any case.
    ///
    /// # Errors
    /// `core.invalid_input` when the classifier has none of these labels: it would hold back nothing.
    pub fn new(
        base: impl Retriever + 'static,
        classifier: Arc<dyn TextClassifier>,
    ) -> Result<Self> {
        let labels = classifier.labels();
        let is_attack = |label: &String| ATTACKS.contains(&label.to_ascii_lowercase().as_str());
        let attacks: Vec<usize> = labels
            .iter()
            .enumerate()
            .filter(|(_, label)| is_attack(label))
            .map(|(at, _)| at)
            .collect();
        if attacks.is_empty() {
            let wrong = format!("`{}` has the labels {}", classifier.id(), labels.join(", "));
            return Err(invalid_input("guard chunks", wrong)
                .next("take a classifier with one of the labels INJECTION, MALICIOUS, JAILBREAK"));
        }
        Ok(Self { base: Arc::new(base), classifier, attacks, threshold: 0.5 })
    }

    /// The probability from which a chunk is held back.
    #[must_use]
    pub fn threshold(mut self, threshold: Probability) -> Self {
        self.threshold = threshold.get();
        self
    }

    /// Whether each of some hits is to be held back.
    async fn judge(&self, hits: &[&Hit]) -> Result<Vec<bool>> {
        let texts: Vec<String> = hits.iter().map(|hit| passage(hit)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let judged = self.classifier.classify(&texts).await.adopt()?;
        if judged.len() != hits.len() {
            return Err(self.broken(format!("{} of {} texts", judged.len(), hits.len())));
        }
        let attack = |row: &Vec<Probability>| {
            let of = |at: &usize| row.get(*at).map(|probability| probability.get());
            let sum: Option<f64> = self.attacks.iter().map(of).sum();
            sum.ok_or_else(|| self.broken(format!("{} labels of a text", row.len())))
        };
        judged.iter().map(|row| Ok(attack(row)? >= self.threshold)).collect()
    }

    fn broken(&self, judged: impl Display) -> Error {
        let wrong = format!("the classifier `{}` judged {judged}", self.classifier.id());
        Error::new(ErrorKind::Retriever, "guard chunks", wrong)
            .next("mend the classifier: it must judge each text by each of its labels")
    }

    /// The first hits that are not held back, up to a limit.
    async fn safe(
        &self,
        hits: Vec<Hit>,
        limit: usize,
        held: &mut HashMap<ChunkId, bool>,
    ) -> Result<Vec<Hit>> {
        let mut safe = Vec::new();
        let mut rest = hits.into_iter();
        loop {
            let next: Vec<Hit> = rest.by_ref().take(limit - safe.len()).collect();
            if next.is_empty() {
                return Ok(safe);
            }
            let new: Vec<&Hit> =
                next.iter().filter(|hit| !held.contains_key(&hit.chunk.id)).collect();
            if !new.is_empty() {
                let judged = self.judge(&new).await?;
                held.extend(new.iter().map(|hit| hit.chunk.id.clone()).zip(judged));
            }
            let is_safe = |hit: &Hit| held.get(&hit.chunk.id) == Some(&false);
            safe.extend(next.into_iter().filter(is_safe));
        }
    }
}

#[async_trait]
impl Retriever for GuardedRetriever {
    async fn retrieve(&self, request: &RetrievalRequest) -> Result<Retrieval> {
        let mut held = HashMap::new();
        let mut limit = request.limit;
        loop {
            let found = self.base.retrieve(&request.at_least(limit)).await?;
            let all = found.hits.len() < limit || limit as u64 >= request.reader.visible_chunks();
            let mut found = found.within(request.reader.as_ref());
            let hits = std::mem::take(&mut found.hits);
            found.hits = self.safe(hits, request.limit, &mut held).await?;
            if all || found.hits.len() >= request.limit {
                found.held_back += held.values().filter(|held| **held).count();
                return Ok(found);
            }
            limit = limit.saturating_mul(2);
        }
    }
}
