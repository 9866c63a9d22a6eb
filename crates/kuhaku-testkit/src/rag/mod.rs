//! R4 through the whole pipeline of `kuhaku-rag`, over any engine and with any models.
//!
//! Random histories, callers and settings of everything that orders chunks: by words, by vectors and
//! by both, fused, judged again, diversified, guarded. What a caller gets must be the same, to the
//! last bit, as from an index that never held what it may not see; and so must the requests that the
//! models get (D4).
//!
//! Run [`pipeline_non_interference`] in a test and assert that [`PipelineProof::differ`] is 0. That the
//! same cases can fail is shown with [`MemoryFactory::broken`](crate::index::MemoryFactory::broken) or
//! with models that break their contract (D5).

mod engine;
mod history;
mod models;
mod settings;

use std::fmt;
use std::sync::Arc;

use kuhaku_core::Timestamp;
use kuhaku_rag::{AskRequest, RagEngine, RagSettings};

use crate::index::{IndexFactory, Violation};
use crate::random::Random;
use engine::Shared;
use models::Noted;
pub use models::PipelineModels;
use settings::Stages;

/// What a run has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PipelineProof {
    /// Histories compared.
    pub cases: usize,
    /// Of these, those in which the caller found something.
    pub found: usize,
    /// Of these, those in which something was hidden from the caller.
    pub hidden: usize,
    /// Of these, those that break R4.
    pub differ: usize,
    /// The first of these: what was seen, and what is due.
    pub first: Option<String>,
}

impl fmt::Display for PipelineProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cases, found, hidden, differ, first: _ } = self;
        write!(f, "{cases} cases: {found} find something, {hidden} hide something, {differ} differ")
    }
}

/// Asks an engine after random histories, and one after what is left of them within the caller's
/// scope, and counts the cases in which something differs.
///
/// # Errors
/// The engine or a model failed.
pub async fn pipeline_non_interference(
    factory: &dyn IndexFactory,
    models: &PipelineModels,
    cases: usize,
) -> Result<PipelineProof, Violation> {
    let mut proof = PipelineProof { cases, ..PipelineProof::default() };
    for case in 0..cases {
        let mut random = Random::new((case as u64).wrapping_mul(0x1000_0001).wrapping_add(7));
        let history = history::history(&mut random)?;
        let scope = history::scope(&mut random);
        let asked = Asked {
            settings: settings::settings(&mut random),
            stages: Stages::random(&mut random),
            requests: [(); 2]
                .map(|()| AskRequest::new(history::words(&mut random, 3), scope.clone())),
        };
        let whole = history::index(factory, &history, models, None).await?;
        let whole = asked.observed(Shared::new(whole), models).await?;
        let absent = history::index(factory, &history, models, Some(&scope)).await?;
        let absent = asked.observed(Shared::new(absent), models).await?;
        proof.found += usize::from(whole.iter().any(|seen| seen.contains("\"chunk\"")));
        proof.hidden += usize::from(history.iter().any(|step| step.hides(&scope)));
        if let Some((seen, due)) = whole.iter().zip(&absent).find(|(whole, absent)| whole != absent)
        {
            proof.differ += 1;
            proof.first.get_or_insert_with(|| format!("case {case}: {seen} instead of {due}"));
        }
    }
    Ok(proof)
}

/// An answer as JSON without what differs between equal requests (D24).
///
/// # Errors
/// It is no JSON object.
pub fn comparable(answer: &impl serde::Serialize) -> serde_json::Result<String> {
    let fields: serde_json::Map<_, _> = serde_json::from_value(serde_json::to_value(answer)?)?;
    let kept = |name: &str| name != "trace_id" && !name.ends_with("_ms");
    let fields: serde_json::Map<_, _> = fields.into_iter().filter(|(name, _)| kept(name)).collect();
    serde_json::to_string_pretty(&fields)
}

/// What is asked, and of what.
struct Asked {
    settings: RagSettings,
    stages: Stages,
    requests: [AskRequest; 2],
}

impl Asked {
    /// All that a caller gets, and what the models were asked for it.
    async fn observed(
        &self,
        index: Shared,
        models: &PipelineModels,
    ) -> Result<Vec<String>, Violation> {
        let now = "2026-06-15T12:00:00Z".parse::<Timestamp>().map_err(failed)?;
        let reranker = Arc::new(Noted::new(models.reranker.clone()));
        let classifier = Arc::new(Noted::new(models.classifier.clone()));
        let mut engine = RagEngine::builder(Arc::new(index))
            .settings(self.settings.clone())
            .embedder(models.embedder.clone())
            .runtime(crate::fixed_runtime(now));
        if self.stages.rerank {
            engine = engine.reranker(reranker.clone());
        }
        if self.stages.guard {
            engine = engine.classifier(classifier.clone());
        }
        let engine = engine.build()?;
        let mut seen = Vec::new();
        for request in &self.requests {
            seen.push(comparable(&engine.search(request).await?).map_err(failed)?);
            seen.push(comparable(&engine.ask(request).await?).map_err(failed)?);
        }
        seen.push(format!("{:?} {:?}", reranker.calls(), classifier.calls()));
        Ok(seen)
    }
}

fn failed(error: impl fmt::Display) -> Violation {
    Violation { check: "the suite failed".into(), seen: error.to_string() }
}
