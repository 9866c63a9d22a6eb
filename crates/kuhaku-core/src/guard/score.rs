//! From what was found to one number with its reasons.

use std::ops::Range;

use super::normalise::Drift;
use super::rules::{Match, Strength};
use super::screening::{GuardFamily, GuardReason};
use super::zones::{Zone, Zones};

/// What is screened: a question is refused, a passage of a document held back, and documents also
/// tell of attacks, quote them and hold conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    Question,
    Document,
}

/// Texts longer than this, in characters, are a little less trusted.
const LONG: usize = 2_000;

impl Policy {
    /// What one unmistakable match of a family counts. At least 0.7 is enough by itself.
    fn unmistakable(self, family: GuardFamily) -> f64 {
        match (self, family) {
            (_, GuardFamily::InstructionOverride) => 0.9,
            (_, GuardFamily::SpecialToken) => 0.75,
            (Self::Question, GuardFamily::RoleSwitch) => 0.75,
            (Self::Question, _) => 0.8,
            (Self::Document, GuardFamily::RoleSwitch) => 0.35,
            (Self::Document, _) => 0.5,
        }
    }

    /// Whether one unmistakable match of a family is enough.
    pub(super) fn suffices(self, family: GuardFamily) -> bool {
        Zones::default().zone(self.unmistakable(family), None) == Zone::Reject
    }

    /// What a signal counts. Two of them are enough in a question.
    fn signal(self) -> f64 {
        match self {
            Self::Question => 0.4,
            Self::Document => 0.15,
        }
    }

    /// What a signal or more counts further when it was encoded: nobody encodes an ordinary sentence.
    fn encoded(self) -> f64 {
        match self {
            Self::Question => 0.35,
            Self::Document => 0.3,
        }
    }

    /// What each cue counts, and all of them at most: less than any zone.
    fn cues(self) -> (f64, f64) {
        match self {
            Self::Question => (0.07, 0.25),
            Self::Document => (0.03, 0.1),
        }
    }
}

/// What the trained stage says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Learned {
    /// From 0 to 1; from 0.7 on, enough by itself.
    pub(super) score: f64,
    /// The bytes of the given text that look worst.
    pub(super) range: Range<usize>,
}

impl Learned {
    /// The worse of two.
    pub(super) fn or(self, other: Self) -> Self {
        if other.score > self.score { other } else { self }
    }

    /// What it says where a rule contradicts it.
    pub(super) fn doubted(self) -> Self {
        Self { score: self.score.min(DOUBTED), ..self }
    }
}

/// The most that the trained stage is believed where a rule saw why the text is harmless: not enough by
/// itself.
const DOUBTED: f64 = 0.65;

/// The least that the trained stage says and that is a reason.
const LEARNED: f64 = 0.3;

/// What was found, added up.
#[derive(Debug, Default)]
pub(super) struct Score {
    /// From 0 to 1.
    pub(super) value: f64,
    /// The strongest first.
    pub(super) reasons: Vec<GuardReason>,
}

impl Score {
    pub(super) fn of(
        policy: Policy,
        found: &[Match],
        learned: Learned,
        drift: Drift,
        text: &str,
    ) -> Self {
        let mut score = Self::default();
        for family in GuardFamily::ALL {
            score.add_family(policy, family, found);
        }
        score.add_cues(policy, found);
        let encoded = found.iter().find(|it| it.encoded && it.strength > Strength::Cue);
        if let Some(encoded) = encoded {
            score.add("encoded", policy.encoded(), Some(encoded.range.clone()));
        }
        if drift.inside_words > 0 {
            score.add("invisible_characters", 0.1, None);
        }
        if drift.mixed_words > 0 {
            score.add("mixed_scripts", 0.1, None);
        }
        if policy == Policy::Question && text.chars().nth(LONG).is_some() {
            score.add("length", 0.05, None);
        }
        let rules = score.reasons.iter().map(|reason| reason.weight).sum::<f64>();
        // The trained stage has taken into account what the rules found.
        score.value = rules.max(learned.score).clamp(0.0, 1.0);
        if learned.score >= LEARNED {
            score.add(GuardFamily::Learned.as_str(), learned.score, Some(learned.range));
        }
        score.reasons.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        score
    }

    /// A family counts once by an unmistakable match, else by its signals: those of different rules in
    /// different places, two at most.
    fn add_family(&mut self, policy: Policy, family: GuardFamily, found: &[Match]) {
        let of = |strength| {
            found.iter().filter(move |it| it.family == family && it.strength == strength)
        };
        if let Some(first) = of(Strength::Unmistakable).next() {
            let weight = policy.unmistakable(family);
            return self.add(family.as_str(), weight, Some(first.range.clone()));
        }
        let Some(first) = of(Strength::Signal).next() else { return };
        self.add(family.as_str(), policy.signal(), Some(first.range.clone()));
        let apart = |it: &&Match| it.rule != first.rule && !overlap(&it.range, &first.range);
        if let Some(second) = of(Strength::Signal).find(apart) {
            self.add(family.as_str(), policy.signal(), Some(second.range.clone()));
        }
    }

    fn add_cues(&mut self, policy: Policy, found: &[Match]) {
        let (each, at_most) = policy.cues();
        let mut rules: Vec<_> = found.iter().filter(|it| it.strength == Strength::Cue).collect();
        rules.sort_by_key(|cue| (cue.rule, cue.range.start));
        rules.dedup_by_key(|cue| cue.rule);
        if let Some(first) = rules.iter().min_by_key(|cue| cue.range.start) {
            let weight = rules.iter().map(|_| each).sum::<f64>().min(at_most);
            self.add("wording", weight, Some(first.range.clone()));
        }
    }

    fn add(&mut self, name: &'static str, weight: f64, range: Option<Range<usize>>) {
        self.reasons.push(GuardReason { name, weight, range });
    }
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}
