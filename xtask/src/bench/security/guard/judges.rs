//! The three ways of judging that are compared.

use kuhaku_core::{GuardWeights, InjectionGuard};

use super::sets::As;

/// A score from which on a question is refused and a passage held back.
pub(super) const FLAGGED: f64 = 0.7;

/// Rules alone, the trained stage alone, both.
#[derive(Debug)]
pub(super) struct Judges {
    rules: InjectionGuard,
    trained: GuardWeights,
    both: InjectionGuard,
}

/// The scores of one text in the order of [`JUDGES`].
pub(super) type Scores = [f64; 3];

/// The names of the three.
pub(super) const JUDGES: [&str; 3] = ["rules", "trained", "both"];

impl Judges {
    pub(super) fn new() -> Self {
        Self {
            rules: InjectionGuard::rules_only(),
            trained: GuardWeights::builtin(),
            both: InjectionGuard::new(),
        }
    }

    pub(super) fn scores(&self, judged_as: As, text: &str) -> Scores {
        let trained = self.trained.judge(text, &[]);
        let trained = match judged_as {
            As::Question => trained.question,
            As::Document => trained.document,
        };
        [score(&self.rules, judged_as, text), f64::from(trained), self.both(judged_as, text)]
    }

    pub(super) fn both(&self, judged_as: As, text: &str) -> f64 {
        score(&self.both, judged_as, text)
    }
}

fn score(guard: &InjectionGuard, judged_as: As, text: &str) -> f64 {
    match judged_as {
        As::Question => guard.screen(text).score(),
        As::Document => guard.screen_document(text).score(),
    }
}
