//! Rules by which coverage and cosine may decide, and what each of them answers.

use serde::Serialize;

/// The coverage from which a passage is evidence: the default of the product.
const COVERED: f64 = 0.5;
/// How much a cosine may count.
const WEIGHTS: [f64; 10] = [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0];

/// A question: whether the corpus still holds an answer, and what was found.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) answerable: bool,
    /// The gold passage is among what was found.
    pub(super) found: bool,
    /// Coverage and cosine of each passage that was found.
    pub(super) hits: Vec<(f64, f64)>,
    /// Whether the product answers, by its defaults.
    pub(super) answered: bool,
}

/// When a passage is evidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "rule")]
pub(super) enum Rule {
    /// What the product does.
    Product,
    Coverage,
    Cosine {
        at_least: f64,
    },
    /// Coverage, or cosine.
    Either {
        at_least: f64,
    },
    /// Coverage and what the cosine adds to it.
    Sum {
        weight: f64,
        neutral: f64,
    },
}

impl Rule {
    /// Whether a question is answered.
    pub(super) fn answers(self, asked: &Asked) -> bool {
        let evidence = |(coverage, cosine): (f64, f64)| match self {
            Self::Product => asked.answered,
            Self::Coverage => coverage >= COVERED,
            Self::Cosine { at_least } => cosine >= at_least,
            Self::Either { at_least } => coverage >= COVERED || cosine >= at_least,
            Self::Sum { weight, neutral } => coverage + weight * (cosine - neutral) >= COVERED,
        };
        asked.hits.iter().copied().any(evidence)
    }

    /// The rules of each kind, from the least cosine that says something to the greatest, in hundredths.
    pub(super) fn kinds(cosines: (u32, u32)) -> [Vec<Self>; 3] {
        let steps = || (cosines.0..=cosines.1).map(|step| f64::from(step) / 100.0);
        let sums = WEIGHTS
            .iter()
            .flat_map(|weight| steps().map(|neutral| Self::Sum { weight: *weight, neutral }));
        [
            steps().map(|at_least| Self::Cosine { at_least }).collect(),
            steps().map(|at_least| Self::Either { at_least }).collect(),
            sums.collect(),
        ]
    }
}

/// Shares of questions, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Shares {
    /// Of the answerable: answered.
    pub(super) right: f64,
    /// Of the answerable: answered, with the gold passage among what was found.
    pub(super) gold: f64,
    /// Of the others: answered all the same.
    pub(super) wrong: f64,
    pub(super) balanced: f64,
}

/// What a rule answers.
pub(super) fn shares(asked: &[Asked], rule: Rule) -> Shares {
    let share = |of: &dyn Fn(&&Asked) -> bool, which: &dyn Fn(&&Asked) -> bool| {
        let all = asked.iter().filter(of).count();
        asked.iter().filter(of).filter(which).count() as f64 / all as f64
    };
    let answers = |it: &&Asked| rule.answers(it);
    let right = share(&|it| it.answerable, &answers);
    let gold = share(&|it| it.answerable, &|it| answers(it) && it.found);
    let wrong = share(&|it| !it.answerable, &answers);
    Shares { right, gold, wrong, balanced: f64::midpoint(right, 1.0 - wrong) }
}

/// The rule with the best balanced accuracy; of equal ones the first.
pub(super) fn best(asked: &[Asked], rules: &[Rule]) -> Option<Rule> {
    let measured = rules.iter().map(|rule| (*rule, shares(asked, *rule).balanced));
    measured.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(rule, _)| rule)
}

/// Questions that two rules decide differently: those that the first is right on, and the second.
pub(super) fn differ(asked: &[Asked], first: Rule, second: Rule) -> (usize, usize) {
    let right = |rule: Rule, it: &Asked| rule.answers(it) == it.answerable;
    let count = |a: Rule, b: Rule| asked.iter().filter(|it| right(a, it) && !right(b, it)).count();
    (count(first, second), count(second, first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answerable: bool, coverage: f64, cosine: f64) -> Asked {
        Asked { answerable, found: answerable, hits: vec![(coverage, cosine)], answered: true }
    }

    #[test]
    fn each_rule_goes_by_its_signals() {
        let one = asked(true, 0.4, 0.9);
        for (rule, answers) in [
            (Rule::Product, true),
            (Rule::Coverage, false),
            (Rule::Cosine { at_least: 0.9 }, true),
            (Rule::Cosine { at_least: 0.91 }, false),
            (Rule::Either { at_least: 0.9 }, true),
            (Rule::Sum { weight: 2.0, neutral: 0.8 }, true),
            (Rule::Sum { weight: 2.0, neutral: 0.9 }, false),
        ] {
            assert_eq!(rule.answers(&one), answers, "{rule:?}");
        }
        let nothing = Asked { hits: Vec::new(), ..one };
        assert!(!Rule::Cosine { at_least: -1.0 }.answers(&nothing));
    }

    #[test]
    fn the_best_rule_tells_most_apart() {
        let all = [asked(true, 0.4, 0.9), asked(true, 0.6, 0.8), asked(false, 0.4, 0.7)];
        let [cosines, ..] = Rule::kinds((50, 95));
        let best = best(&all, &cosines).unwrap();
        assert_eq!(best, Rule::Cosine { at_least: 0.71 });
        assert_eq!(shares(&all, best).balanced, 1.0);
        assert_eq!(shares(&all, Rule::Coverage).right, 0.5);
        assert_eq!(differ(&all, best, Rule::Coverage), (1, 0));
    }
}
