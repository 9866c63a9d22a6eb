//! What the guard reports.

use std::fmt;
use std::ops::Range;

use super::rules::{Match, Strength};
use super::score::{Policy, Score};
use super::zones::{Zone, Zones};

/// Which kind of attack a finding belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GuardFamily {
    /// Tells the model to drop what it was told.
    InstructionOverride,
    /// Tells the model to be somebody else.
    PersonaOverride,
    /// Plays another speaker of the conversation.
    RoleSwitch,
    /// Control tokens of a chat format.
    SpecialToken,
    /// Asks for the instructions themselves.
    PromptLeak,
    /// Resembles attacks that the trained stage has seen.
    Learned,
}

impl GuardFamily {
    /// The families that rules find.
    pub(super) const ALL: [Self; 5] = [
        Self::InstructionOverride,
        Self::PersonaOverride,
        Self::RoleSwitch,
        Self::SpecialToken,
        Self::PromptLeak,
    ];

    /// The stable name, as it stands in reports and audit records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InstructionOverride => "instruction_override",
            Self::PersonaOverride => "persona_override",
            Self::RoleSwitch => "role_switch",
            Self::SpecialToken => "special_token",
            Self::PromptLeak => "prompt_leak",
            Self::Learned => "learned",
        }
    }
}

impl fmt::Display for GuardFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One place where a text looks like an attack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of attack.
    pub family: GuardFamily,
    /// The bytes of the given text that look like it.
    pub range: Range<usize>,
    /// Whether it is enough by itself, for what the text was screened as.
    pub suffices: bool,
}

/// Something that a score is made of.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GuardReason {
    /// The stable name: that of a [`GuardFamily`], or `wording`, `encoded`, `invisible_characters`,
    /// `mixed_scripts`, `length`.
    pub name: &'static str,
    /// What it adds to the score; for `learned`, the least that the score is.
    pub weight: f64,
    /// The bytes of the given text that it is about, if it is about a place.
    pub range: Option<Range<usize>>,
}

/// The most reasons that are listed.
const REASONS: usize = 5;

/// What the guard found in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screening {
    findings: Vec<Finding>,
    blocked: Option<GuardFamily>,
    score: f64,
    reasons: Vec<GuardReason>,
    drift: usize,
}

impl Screening {
    /// Orders the findings and joins those of one family that overlap.
    pub(super) fn new(policy: Policy, found: &[Match], score: Score, drift: usize) -> Self {
        let Score { value, mut reasons } = score;
        let mut blocked = None;
        if Zones::default().zone(value, None) == Zone::Reject {
            let strongest = found.iter().map(|it| it.strength).max();
            let first = found.iter().filter(|it| Some(it.strength) == strongest);
            let first = first.filter(|it| it.strength > Strength::Cue).map(|it| it.family).min();
            blocked = Some(first.unwrap_or(GuardFamily::Learned));
        }
        reasons.truncate(REASONS);
        Self { findings: findings(policy, found), blocked, score: value, reasons, drift }
    }

    /// The findings in the order of the families, then of their place. A finding need not be enough for
    /// a refusal.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The family for which a question is refused, or a passage held back, if its score is in the
    /// highest of the default [`Zones`].
    pub fn blocked(&self) -> Option<GuardFamily> {
        self.blocked
    }

    /// True when nothing was found.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.blocked.is_none()
    }

    /// How much the text looks like an attack, from 0 to 1.
    pub fn score(&self) -> f64 {
        self.score
    }

    /// What the score is made of: at most five, the strongest first.
    pub fn reasons(&self) -> &[GuardReason] {
        &self.reasons
    }

    /// The zone of the score.
    pub fn zone(&self, zones: &Zones) -> Zone {
        zones.zone(self.score, None)
    }

    /// How many characters of the text are not what they look like: look-alikes of Latin letters in
    /// Latin words, compatibility forms, characters that draw nothing.
    pub fn drift(&self) -> usize {
        self.drift
    }
}

fn findings(policy: Policy, found: &[Match]) -> Vec<Finding> {
    let strong = found.iter().filter(|it| it.strength > Strength::Cue);
    let finding = |it: &Match| Finding {
        family: it.family,
        range: it.range.clone(),
        suffices: it.strength == Strength::Unmistakable && policy.suffices(it.family),
    };
    let mut all: Vec<Finding> = strong.map(finding).collect();
    all.sort_by_key(|finding| (finding.family, finding.range.start, finding.range.end));
    let mut joined: Vec<Finding> = Vec::with_capacity(all.len());
    for finding in all {
        match joined.last_mut() {
            Some(last) if last.family == finding.family && finding.range.start < last.range.end => {
                last.range.end = last.range.end.max(finding.range.end);
                last.suffices |= finding.suffices;
            }
            _ => joined.push(finding),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_ordered_by_family_and_overlaps_are_joined() {
        let found = |family, range| Match {
            family,
            strength: Strength::Unmistakable,
            rule: (false, 0),
            range,
            encoded: false,
        };
        let finding = |family, range| Finding { family, range, suffices: true };
        let joined = findings(
            Policy::Question,
            &[
                found(GuardFamily::PromptLeak, 0..4),
                found(GuardFamily::InstructionOverride, 8..12),
                found(GuardFamily::InstructionOverride, 10..20),
                found(GuardFamily::InstructionOverride, 1..2),
            ],
        );
        assert_eq!(
            joined,
            [
                finding(GuardFamily::InstructionOverride, 1..2),
                finding(GuardFamily::InstructionOverride, 8..20),
                finding(GuardFamily::PromptLeak, 0..4),
            ]
        );
    }
}
